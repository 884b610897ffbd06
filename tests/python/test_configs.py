"""What a config.json asks for, on stand-ins for PyTorch and transformers; test_estimating.py has the libraries."""

import sys
import tempfile
import unittest
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from roof import configs
from roof.configs import Loaded
from roof.shapes import CACHED
from roof.texts import InputError
from roof.work import SHARE
from stand_ins import Causal, Layer, Linear, Made, Masked, Model, Tensor, Translating, libraries

IDS, OUT_IDS, VALUES, FEATURES = "input_ids", "decoder_input_ids", "pixel_values", "input_features"


class Configs(unittest.TestCase):
    def setUp(self):
        modules = libraries()
        self.torch = modules["torch"]
        for patch in (mock.patch.dict(sys.modules, modules),
                      mock.patch.object(configs, "within_transformers", nullcontext),
                      mock.patch.object(configs, "fake_copy", lambda model, _: model)):
            patch.start()
            self.addCleanup(patch.stop)

    def refused(self, sentence, function, *given):
        with self.assertRaises(InputError) as raised:
            function(*given)
        self.assertEqual(sentence, str(raised.exception))

    def load(self, keys, file="a/config.json", precision="fp32"):
        with mock.patch.object(configs, "read", lambda _: keys):
            return configs.load(Path(file), 1, None, precision)

    def test_a_file_is_an_object_of_at_most_1_mib_and_4096_layers_and_experts(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "c.json")
            self.refused(f"'{file}': No such file or directory", configs.read, file)
            for content in (b"{", b"\xff\xfe", b"[" * 100000, b"{" + b" " * ((1 << 20) - 1) + b"}"):
                file.write_bytes(content)
                self.refused(f"'{file}': it is no JSON object", configs.read, file)
            file.write_bytes(b"[]")
            self.refused(f"'{file}': it is no JSON object of at most 1 MiB", configs.read, file)
            file.write_bytes(b"{" + b" " * ((1 << 20) - 2) + b"}")
            self.assertEqual({}, configs.read(file))
            for key in ("n_layer", "num_experts", "layer" * 13):
                for form in ('{"%s": %d}', '{"vision_config": {"%s": %d}}'):
                    file.write_text(form % (key, 4097))
                    self.refused(f"'{file}': '{key[:60]}' is more than 4096", configs.read, file)
                    file.write_text(form % (key, 4096))
                    configs.read(file)
            file.write_text('\ufeff{"layer_types": ["a"], "vocab_size": 100000}', encoding="utf-8")
            self.assertEqual({"layer_types": ["a"], "vocab_size": 100000}, configs.read(file))

    def test_a_model_is_that_of_its_architecture_or_the_first_head_of_its_type(self):
        for keys, of in (({}, Masked), ({"architectures": None}, Masked), ({"is_decoder": True}, Causal),
                         ({"is_decoder": False}, Masked), ({"model_type": "bare"}, Model),
                         ({"is_encoder_decoder": True, "is_decoder": True}, Translating),
                         ({"architectures": ["Gone", "helper", "Model"]}, Model)):
            keys = {"model_type": "made", **keys}
            made = self.load({**keys, "quantization_config": {}}, precision="bf16")
            self.assertEqual((of, "float16", keys), (type(made.model), self.torch.usual, vars(made.model.config)))
            self.assertEqual([("bfloat16", "roof"), "eval", "tied"], made.model.steps)
        for file, name in (("a/config.json", "a"), ("a/made.json", "made"), ("config.json", "config")):
            made = self.load({"model_type": "made"}, file)
            self.assertEqual((name, 1024, (1, 1024), []), (made.name, made.tokens, made.call[IDS].shape, made.remarks))
        stored = {"quantization_config": {"quant_method": "fp8"}}
        for keys in (stored, {"text_config": stored}, {"compression_config": stored["quantization_config"]}):
            self.assertIn("0 weights are stored in 8 bits", self.load({"model_type": "made", **keys}).remarks[0])
        self.assertEqual(["transformers has no Gone: this is Masked"],
                         self.load({"model_type": "made", "architectures": ["Gone"]}).remarks)

    def test_what_cannot_be_loaded_is_one_sentence(self):
        kind, no = "k" * 61, "transformers 5.0.1 has no"
        for keys, sentence in (
                ({}, "the file has no 'model_type'"), ({"model_type": 1}, "the file has no 'model_type'"),
                ({"model_type": kind}, f"{no} model type '{kind[:60]}'"),
                ({"model_type": "x", "auto_map": {}},
                 f"{no} model type 'x'; its code lies beside its weights and is not run"),
                ({"model_type": "lone"}, f"{no} model of type 'lone', only its configuration"),
                ({"model_type": "made", "architectures": 1},
                 "'a/config.json': TypeError: 'int' object is not iterable")):
            self.refused(sentence, self.load, keys)
            self.assertEqual("float16", self.torch.usual)
        self.refused("precision int8: a model of PyTorch computes in fp64, fp32, tf32, bf16, fp16; a "
                     "quantization_config says how weights are stored", self.load, {}, "c.json", "int8")
        with mock.patch.dict(sys.modules, libraries("4.57.1")):
            self.refused("transformers 4.57.1 is installed: an estimate needs 5.0 or newer", self.load, {})
        for name, said in (("torch", "torch"), ("transformers", "transformers"), (None, "torch")):
            with mock.patch("builtins.__import__", side_effect=ImportError(name=name)):
                self.refused(f"{said} is not installed for this Python: apt-get install python3-{said}, or pip install "
                             '"measured-roof[estimate]"', self.load, {})
        for error, sentence in ((ValueError("\n  one \n two"), "ValueError: one"), (KeyError(), "KeyError"),
                                (OSError("x" * 301), "OSError: " + "x" * 300)):
            self.assertEqual(sentence, configs.sentence(error))

    def test_inputs_have_the_extents_that_a_configuration_states(self):
        def text(input_ids=None, attention_mask=None): ...
        def pair(input_ids=None, decoder_input_ids=None): ...
        def image(pixel_values=None, labels=None): ...
        def video(pixel_values_videos, bbox): ...
        def features(input_features, decoder_input_ids=None): ...
        def sound(input_values, **rest): ...
        def towers(attention_mask=None, input_ids=None, pixel_values=None, input_features=None): ...
        def needed(input_ids, pixel_values, bbox): ...

        parts, square = {"vision_config": Made(image_size=30), "text_config": Made(n_positions=77)}, [3, 224, 224]
        both = {"is_encoder_decoder": True}
        for forward, keys, expected in (
                (text, {}, {IDS: [1024]}), (text, {"n_positions": 1}, {IDS: [1]}), (text, parts, {IDS: [77]}),
                (text, {"n_positions": 1025}, {IDS: [1024]}), (text, {"n_positions": -1}, {IDS: [1024]}),
                (text, {"n_positions": "many"}, {IDS: [1024]}), (towers, parts, {IDS: [77]}),
                (text, {"max_position_embeddings": 0, "n_positions": 16}, {IDS: [16]}), (text, both, {IDS: [1024]}),
                (pair, both, {IDS: [1024], OUT_IDS: [1024]}), (pair, {}, {IDS: [1024]}), (image, {}, {VALUES: square}),
                (image, {"image_size": 32, "num_channels": 1}, {VALUES: [1, 32, 32]}),
                (image, {"image_size": [9, 48, 64], "in_chans": 4}, {VALUES: [4, 48, 64]}),
                (image, {"image_size": {"height": 30, "width": 40}}, {VALUES: [3, 30, 40]}),
                (image, {"num_frames": 8}, {VALUES: [8, *square]}),
                (image, {"tubelet_size": [2, 16, 16]}, {VALUES: [16, *square]}),
                (video, {"frames_per_clip": 64, "img_size": 8}, {"pixel_values_videos": [64, 3, 8, 8]}),
                (features, {}, {FEATURES: [1024, 80]}), (features, {"model_type": "a_encoder"}, {FEATURES: [80, 1024]}),
                (features, {"max_source_positions": 1500, "feature_size": 9}, {FEATURES: [3000, 9]}),
                (features, {"model_type": "whisper", **both}, {FEATURES: [80, 1024], OUT_IDS: [1024]}),
                (sound, {}, {"input_values": [160000]}), (sound, {"audio_channels": 2}, {"input_values": [2, 160000]}),
                (sound, {"downsampling_ratios": [8]}, {"input_values": [1, 160000]}),
                (sound, {"frequency_stride": 10, "max_length": 900, "num_mel_bins": 128}, {"input_values": [900, 128]}),
                (needed, {}, {IDS: [1024], VALUES: square})):
            self.of(forward, keys, expected, True)
        for forward, keys, expected in (
                (text, parts, {IDS: [77]}), (towers, parts, {IDS: [77], VALUES: [3, 30, 30], FEATURES: [1024, 80]}),
                (towers, {"audio_config": Made()}, {IDS: [1024], VALUES: square, FEATURES: [1024, 80]}),
                (towers, {}, {IDS: [1024]})):
            self.of(forward, keys, expected, False)
        for forward, keys, tokens, sentence in (
                (text, {"n_positions": 16}, 17, "tokens: made has 16 positions, fewer than 17 tokens"),
                (text, {}, (1 << 24) + 1, "tokens: made has 16777216 positions, fewer than 16777217 tokens"),
                (image, {}, 5, "tokens: made reads pixel_values, not tokens"),
                (lambda bbox: 0, {}, None, "Model reads 'bbox', whose extents are not known here: call "
                                           "roof.estimate(model, inputs) in Python")):
            self.refused(sentence, configs.inputs_of, Loaded("made", model=Model(forward)), Made(**keys), 2, tokens)
        for keys, tokens in (({"n_positions": 16}, 16), ({}, 1 << 24), ({}, 1)):
            inputs = configs.inputs_of(Loaded("made", model=Model(text)), Made(**keys), 2, tokens)
            self.assertEqual((2, tokens), inputs[IDS].shape)

    def of(self, forward, keys, expected, generates):
        made = Loaded("made", model=Model(forward, generates))
        inputs = configs.inputs_of(made, Made(**keys), 2, None)
        dtypes = {name: "int64" if name in (IDS, OUT_IDS) else "float16" for name in expected}
        self.assertEqual({name: (dtypes[name], (2, *extents)) for name, extents in expected.items()},
                         {name: (one.dtype, one.shape) for name, one in inputs.items()}, keys)
        self.assertEqual([*(expected[name][0] for name in (IDS, OUT_IDS) if name in expected), 0][0], made.tokens, keys)

    def test_a_phase_is_called_as_the_model_takes_it(self):
        def refuses(model, inputs, phase):
            self.refused(f"phase {phase}: Model generates no tokens from these inputs",
                         configs.call_of, model, inputs, phase)

        def called(model, inputs, phase):
            call, read = configs.call_of(model, inputs, phase)
            self.assertEqual([], model.calls)
            call()
            return model.calls[0], read

        x, ids, one = Tensor(3, 4), Tensor(3, 2, dtype="int64"), {IDS: Tensor(3, 1, dtype="int64")}
        inputs, uses, any_ = {IDS: ids}, SimpleNamespace(use_cache=True), lambda *_, **__: 0
        for given, words in ((x, (x,)), ((x, ids), (x, ids)), ([x], (x,))):
            self.assertEqual(words, called(Model(any_), given, "train")[0])
            refuses(Model(any_), given, "prefill")
        for model, given, phase, more in (
                (Model(lambda input_ids: 0), inputs, "train", {}),
                (Model(any_, config=uses), one, "decode", {"use_cache": True}),
                (Model(any_, config=Made(text_config=uses)), one, "decode", {"use_cache": True}),
                (Model(lambda input_ids, use_cache: 0), inputs, "forward", {"use_cache": False}),
                (Model(lambda input_ids, use_cache: 0), inputs, "prefill", {"use_cache": True}),
                (Model(lambda logits_to_keep, **_: 0, config=uses), inputs, "prefill",
                 {"use_cache": True, "logits_to_keep": 1})):
            self.assertEqual(({**given, **more}, given), called(model, given, phase))
        for model, given in ((Model(lambda input_ids: 0), inputs), (Model(any_, config=Made()), inputs),
                             (Model(any_, config=uses), {VALUES: x}),
                             (Model(lambda **_: SimpleNamespace(), config=uses), inputs)):
            refuses(model, given, "decode")

    def test_decode_fills_the_caches_with_all_tokens_but_the_last(self):
        cache, states, given = Tensor(3, 1, 8), Tensor(3, 5), {IDS: Tensor(3, 4, dtype="int64")}
        read = {"encoder_outputs": {"last_hidden_state": states}}
        for names, out, more in (([IDS], {}, {}), ([IDS, OUT_IDS], {"encoder_last_hidden_state": states}, read)):
            model = Model(lambda input_ids=None, mems=None, **_: SimpleNamespace(cache=None, state=cache, **out),
                          config=SimpleNamespace(use_cache=True))
            call, step = configs.call_of(model, dict.fromkeys(names, given[IDS]), "decode")
            call()
            first, last = model.calls[0].pop(names[-1]), step[names[-1]]
            self.assertEqual([(3, 3), 0, (3, 1), 3], [first.shape, first.first, last.shape, last.first])
            self.assertEqual({names[-1]: last, "mems": cache, **more}, step)
            self.assertEqual([{**(given if more else {}), "use_cache": True}, {**step, "use_cache": True}], model.calls)
            self.assertEqual([True, bool(more), False], [hasattr(one, CACHED) for one in (cache, states, last)])

    def test_weights_are_stored_as_their_file_says(self):
        def groups(*weights, method="compressed-tensors"):
            return {"quant_method": method, "config_groups": {k: {"weights": one} for k, one in enumerate(weights)}}

        # Scales in fp16, zero points as wide as weights; those of bitsandbytes in fp32, or 8 bits and fp32 for 256.
        four = {"quant_method": "bitsandbytes", "load_in_4bit": True}
        for given, stored in (
                ({"quant_method": "awq", "bits": 4}, (4, 128, 20)), ({"quant_method": "of tomorrow", "bits": 4}, None),
                ({"quant_method": "awq", "w_bit": 4, "q_group_size": 64}, (4, 64, 20)), ({"quant_method": "awq"}, None),
                ({"quant_method": "gptq", "bits": 3, "group_size": -1}, (3, 0, 19)), ({}, None),
                ({"quant_method": "auto_round", "bits": 2, "group_size": 32}, (2, 32, 18)),
                ({"quant_method": "FP8", "weight_block_size": [128, 64]}, (8, 8192, 32)),
                ({"quant_method": "fbgemm_fp8"}, (8, 0, 32)), ({"quant_method": "mxfp4"}, (4, 32, 8, "experts")),
                ({"quant_method": "bitsandbytes"}, (8, 0, 32)), (four, (4, 64, 32)), ({"load_in_4bit": True}, (4, 64, 32)),
                ({"load_in_8bit": True}, (8, 0, 32)), ({"load_in_8bit": False}, None),
                ({**four, "bnb_4bit_use_double_quant": True}, (4, 64, 8.125)), (groups({"num_bits": 8}), (8, 0, 16)),
                (groups({"num_bits": 4, "group_size": 32, "symmetric": False}), (4, 32, 20)),
                (groups({"num_bits": 8, "block_structure": [128, 64], "symmetric": True}), (8, 8192, 16)),
                (groups({}), None), (groups(None), None), (groups({"num_bits": 4}, {"num_bits": 8}), None),
                ({"quant_method": "compressed-tensors"}, None), (groups({"num_bits": 4}, method="quark"), None)):
            found = configs.stored_as(given)
            self.assertEqual(stored and (*stored, "")[:4], found and tuple(found), given)
        for name, skip, named in (("a.gate", "gate", True), ("a.gate_proj", "gate", False), ("a.b.c", "a.b", True),
                                  ("lm_head", "re:.*head", True), ("lm_head", "re:head", False)):
            self.assertEqual(named, configs.is_named(name, skip))

    def test_weights_of_linear_layers_and_experts_are_marked_but_not_the_last_layer(self):
        def marked(given, has_head):
            layers = {"up": Linear((64, 128), (64,)), "table": Layer((100, 128)), "head": Linear((100, 64)),
                      "experts": Layer((8, 64, 128), (8, 64))}
            head = {"get_output_embeddings": lambda: layers["head"]} if has_head else {}
            made = Loaded("made", model=SimpleNamespace(named_modules=layers.items, **head))
            configs.quantize(made, given)
            shares = {name: [getattr(one, SHARE, 1) for one in layer.tensors] for name, layer in layers.items()}
            self.assertEqual([1] * 3, [shares[name][-1] for name in ("up", "table", "experts")])
            return [16 * shares[name][0] for name in ("up", "experts", "head")], made.remarks

        skips = {"ignore": ["experts"], "modules_to_not_convert": None, "llm_int8_skip_modules": ["head"]}
        said = ("{} weights are stored in {} bits and scales ({}), and so their bytes count; products count as of full "
                "weights")
        for given, has_head, bits, remark in (
                ({}, False, [16, 16, 16], []),
                ({"quant_method": "of tomorrow"}, True, [16, 16, 16],
                 ["the quantization_config of method 'of tomorrow' is not known: weights count as computed"]),
                # A scale of 32 bits for each row of 128, or of 64.
                ({"quant_method": "fp8"}, False, [8.25, 8.25, 8.5], [said.format(80128, 8, "fp8")]),
                ({"quant_method": "fp8"}, True, [8.25, 8.25, 16], [said.format(73728, 8, "fp8")]),
                ({"quant_method": "mxfp4"}, True, [16, 4.25, 16], [said.format(65536, 4, "mxfp4")]),
                ({"quant_method": "awq", "bits": 4, "group_size": 32, **skips}, False, [4.625, 16, 16],
                 [said.format(8192, 4, "awq")])):
            self.assertEqual((bits, remark), marked(given, has_head), given)


if __name__ == "__main__":
    unittest.main()
