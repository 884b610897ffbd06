"""Models on shapes alone: counts that PyTorch and transformers gave (data/estimates.json), published sizes, and formulas by hand."""

import contextlib
import importlib
import io
import json
import os
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace

from roof.commands import estimate as command
from roof.estimating import Estimated, estimate
from roof.texts import InputError
from roof.work import Work

RECORDED = json.loads((Path(__file__).parent / "data" / "estimates.json").read_text("utf-8"))


def lacking(*names):
    """Why these libraries cannot be imported; empty if they can. Some fail only when their parts are loaded."""
    for name in names:
        try:
            importlib.import_module(name)
        except Exception as error:  # a broken installation raises whatever it likes
            return f"{name}: {type(error).__name__}"
    return ""


NO_TORCH = lacking("torch")
NO_TRANSFORMERS = NO_TORCH or lacking("transformers.models.llama.modeling_llama")


def of_config(keys, **options):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "made.json"
        file.write_text(json.dumps(keys), encoding="utf-8")
        return estimate(file, **options)


class Written(unittest.TestCase):
    """Without PyTorch."""

    def test_the_program_reads_what_was_counted(self):
        counts = SimpleNamespace(work={("forward", "up", "linear"): Work(32768, 32768, 5632, 66048), ("forward", "up", ""): Work(256, 0, 1024, 1024),
                                       ("forward", "at", "attention"): Work(16384, 16384, 2048, 33792, attention=16384, masked=7168),
                                       ("backward", "up", "linear"): Work(65536, 65536, 12288, 140000)}, outputs={"up": [2, 4, 32]},
                                 kinds={"up": "linear"}, parameters={"up": 2048}, left_out={"tower": 7}, stored=4096.0, inputs=64.0, kept=3000.0,
                                 caches=0.0, working=500.0, forward_working=200.0, largest=150.0)
        point = {"model": "made", "batch": "2", "precision": "bf16", "optimizer": "adamw", "tokens": "4", "phase": "train"}
        made = Estimated(point, counts, [], ["h100"])
        self.assertEqual((2048, 114688, 49152, 107520), (made.parameters, made.flops, made.forward_flops, made.executed_flops))
        if not os.environ.get("ROOF_PROGRAM"):
            self.skipTest("ROOF_PROGRAM names no program")
        document = made.document()
        self.assertEqual(2048, document["parameters"])
        self.assertEqual(49152, document["flops"]["forward"])
        self.assertEqual(49152 - 7168, document["flops"]["executed_forward"])
        self.assertEqual(65536, document["flops"]["backward"])
        self.assertIn("tower (7 parameters)", document["remarks"])
        self.assertEqual(["up", "up", "at"], [layer["name"] for layer in document["layers"]])
        self.assertGreater(document["machines"][0]["layer_by_layer_s"], 0)
        self.assertIn("made at batch 2 in bf16", str(made))

    def test_wrong_words_are_one_sentence(self):
        for words, part in ((["c.json"], "--batch is required"), (["c.json", "--batch", "0"], "--batch: '0'"),
                            (["c.json", "--batch", "1", "--phase", "back"], "--phase"), (["c.json", "--batch", "1", "--size", "w=1"], "--size w"),
                            (["c.json", "--batch", "1", "--optimizer", "lion"], "sgd, adamw")):
            with self.assertRaisesRegex(InputError, part):
                command.options(words)
        self.assertEqual(([1, 8], 64), (command.options(["c.json", "--batch", "1,8", "--size", "tokens=64"]).batches, 64))


@unittest.skipIf(NO_TRANSFORMERS, NO_TRANSFORMERS)
class OfTransformers(unittest.TestCase):
    def test_types_have_the_parameters_and_products_that_pytorch_counts(self):
        for row in RECORDED["models"]:
            if "config" not in row:
                continue
            with self.subTest(row["config"]):
                tokens = RECORDED["tokens"] if any(name.endswith("ids") for name in row["inputs"]) else None
                made = of_config(row["config"], tokens=tokens, phase="forward")
                self.assertEqual(row["parameters"], made.parameters + sum(made.counts.left_out.values()))
                self.assertEqual(row["forward_flops"], made.forward_flops)

    def test_published_sizes(self):
        # Those of the weights as published; experts by hand: 2 FLOPs for each weight of the chosen ones.
        mixtral = {"model_type": "mixtral", "hidden_size": 4096, "intermediate_size": 14336, "num_attention_heads": 32, "num_hidden_layers": 32,
                   "num_key_value_heads": 8, "num_experts_per_tok": 2, "num_local_experts": 8, "vocab_size": 32000}
        made, t = of_config(mixtral, tokens=64, phase="forward"), 64
        self.assertEqual(46702792704, made.parameters)
        block = 2 * t * 4096 * (4096 + 2 * 1024) + 4 * t * t * 4096 + 2 * t * 4096**2 + 2 * t * 4096 * 8 + 2 * 2 * t * 3 * 4096 * 14336
        self.assertEqual(32 * block + 2 * t * 4096 * 32000, made.forward_flops)
        oss = {"model_type": "gpt_oss", "head_dim": 64, "hidden_size": 2880, "intermediate_size": 2880, "num_attention_heads": 64,
               "num_hidden_layers": 24, "num_key_value_heads": 8, "num_local_experts": 32, "num_experts_per_tok": 4, "vocab_size": 201088}
        self.assertEqual(20914757184, of_config(oss, tokens=8, phase="forward").parameters)

    def test_windows_are_executed_in_the_layers_that_the_file_lists(self):
        keys = {"model_type": "qwen2", "hidden_size": 64, "intermediate_size": 96, "num_attention_heads": 4, "num_key_value_heads": 2,
                "num_hidden_layers": 3, "vocab_size": 100, "use_sliding_window": True, "sliding_window": 4,
                "layer_types": ["sliding_attention", "full_attention", "sliding_attention"]}
        made = of_config(keys, tokens=8, phase="forward")
        kept = (1 + 2 + 3 + 5 * 4) * 2 + 36
        self.assertEqual(4 * 64 * (3 * 64 - kept), made.forward_flops - made.executed_flops)

    def test_a_decoded_token_reads_the_chosen_experts_and_the_cache(self):
        keys = {"model_type": "mixtral", "hidden_size": 64, "intermediate_size": 96, "num_attention_heads": 4, "num_hidden_layers": 1,
                "num_key_value_heads": 2, "num_experts_per_tok": 2, "num_local_experts": 8, "vocab_size": 100}
        made = of_config(keys, tokens=32, phase="decode")
        experts = made.counts.work[("forward", "model.layers.0.mlp.experts", "product")]
        self.assertEqual(2 * 2 * 3 * 64 * 96, experts.contraction_flops)
        # Two of eight experts' weights, rows of both products, in fp32; and twice the ends of eight groups in int32.
        self.assertEqual(4 * (2 * 3 * 64 * 96 + 2 * 64 + 2 * 192 + 2 * 96 + 2 * 64 + 2 * 8), experts.compulsory)
        attention = made.counts.work[("forward", "model.layers.0.self_attn", "attention")]
        self.assertEqual((4 * 32 * 64, 4 * (2 * 64 + 2 * 32 * 32)), (attention.contraction_flops, attention.compulsory))
        self.assertEqual(4 * 2 * 32 * 32, made.counts.caches)
        self.assertEqual(4 * 1 * 64, of_config(keys, tokens=1,
                                               phase="decode").counts.work[("forward", "model.layers.0.self_attn", "attention")].contraction_flops)

    def test_the_precision_that_is_asked_for_goes_before_that_of_the_file(self):
        keys = {"model_type": "llama", "hidden_size": 64, "intermediate_size": 96, "num_attention_heads": 4, "num_hidden_layers": 1,
                "vocab_size": 100}
        for name in ("torch_dtype", "dtype"):
            for precision, size in (("fp32", 4), ("bf16", 2), ("fp64", 8)):
                other = "bfloat16" if precision != "bf16" else "float32"
                made = of_config({**keys, name: other}, tokens=8, phase="forward", precision=precision)
                self.assertEqual(size * made.parameters, made.counts.stored)

    def test_quantized_weights_are_read_as_they_are_stored(self):
        keys = {"model_type": "llama", "hidden_size": 256, "intermediate_size": 512, "num_attention_heads": 4, "num_hidden_layers": 1,
                "vocab_size": 100, "tie_word_embeddings": False,
                "quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True}}
        made = of_config(keys, tokens=8, phase="decode", precision="bf16")
        weights = 4 * 256 * 256 + 3 * 256 * 512
        self.assertEqual(weights * (4 + 20 / 128) / 8 + 2 * (2 * 100 * 256 + 3 * 256), made.memory()["weights"])
        up = made.counts.work[("forward", "model.layers.0.mlp.up_proj", "linear")]
        self.assertEqual(256 * 512 * (4 + 20 / 128) / 8 + 2 * (256 + 512), up.compulsory)
        self.assertEqual(2 * 256 * 512, up.flops)

    def test_a_head_other_than_of_tokens_and_parts_without_inputs(self):
        keys = {"model_type": "qwen3", "hidden_size": 64, "intermediate_size": 96, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16,
                "num_hidden_layers": 1, "vocab_size": 100, "tie_word_embeddings": True}
        with_head = of_config({**keys, "architectures": ["Qwen3ForCausalLM"]}, tokens=8, phase="forward")
        without = of_config({**keys, "architectures": ["Qwen3Model"]}, tokens=8, phase="forward")
        self.assertEqual(2 * 8 * 64 * 100, with_head.forward_flops - without.forward_flops)
        self.assertEqual(with_head.parameters, without.parameters)

    def test_what_is_not_a_model_is_said_in_one_sentence(self):
        for keys, options, part in (({"model_type": "of tomorrow"}, {}, "no model type 'of tomorrow'"), ({}, {}, "no 'model_type'"),
                                    ({"model_type": "gpt2", "n_positions": 16}, {"tokens": 17}, "has 16 positions, fewer than 17"),
                                    ({"model_type": "bert", "num_hidden_layers": 1}, {"phase": "decode"}, "generates no tokens"),
                                    ({"model_type": "vit"}, {"tokens": 5}, "reads pixel_values, not tokens"),
                                    ({"model_type": "llama", "hidden_size": "wide"}, {}, "made.json"),
                                    ({"model_type": "llama", "num_hidden_layers": 10**9}, {}, "'num_hidden_layers' is more than 4096"),
                                    ({"model_type": "llama"}, {"precision": "int8"}, "precision int8")):
            with self.subTest(part), self.assertRaisesRegex(InputError, part) as raised:
                of_config(keys, **options)
            self.assertNotIn("did you mean", str(raised.exception))


@unittest.skipIf(NO_TORCH, NO_TORCH)
class OfModules(unittest.TestCase):
    def check(self, library, make):
        why = lacking(library)
        if why:
            self.skipTest(why)
        import torch

        for row in RECORDED["models"]:
            if library in row:
                with self.subTest(row[library]):
                    made = estimate(make(row[library]).eval(), torch.empty(2, 3, 224, 224, device="meta"), phase="forward")
                    self.assertEqual((row["parameters"], row["forward_flops"]), (made.parameters, made.forward_flops))

    def test_torchvision(self):
        self.check("torchvision", lambda name: importlib.import_module("torchvision").models.get_model(name))

    def test_timm(self):
        self.check("timm", lambda name: importlib.import_module("timm").create_model(name))

    def test_nothing_of_the_model_changes_and_its_device_does_not_matter(self):
        import torch

        model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.GELU(), torch.nn.Linear(128, 10, bias=False))
        before = {name: (id(value), value.clone()) for name, value in model.state_dict(keep_vars=True).items()}
        made = estimate(model, torch.empty(8, 64))
        self.assertEqual(64 * 128 + 128 + 1280, made.parameters)
        self.assertEqual(2 * 8 * (64 * 128 + 1280), made.forward_flops)
        self.assertEqual(made.forward_flops * 3 - 2 * 8 * 64 * 128, made.flops)  # the inputs need no gradient
        for name, value in model.state_dict(keep_vars=True).items():
            self.assertEqual(before[name][0], id(value))
            self.assertTrue(torch.equal(before[name][1], value))
            self.assertIsNone(value.grad)
        self.assertEqual(made.flops, estimate(model.to("meta"), torch.empty(8, 64, device="meta")).flops)

    def test_what_autograd_keeps(self):
        import torch

        model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))
        # The result of the ReLU, which is the second layer's input, too; the inputs are apart.
        self.assertEqual(4 * 8 * 128, estimate(model, torch.empty(8, 64)).memory()["activations"])
        self.assertEqual(4 * 8 * 64, estimate(model, torch.empty(8, 64)).memory()["inputs"])

    def test_a_model_that_reads_values_is_named(self):
        import torch

        class Reads(torch.nn.Module):
            def forward(self, x):
                return x * 2 if x.sum().item() > 0 else x

        with self.assertRaisesRegex(InputError, "Reads does not run on shapes alone"), contextlib.redirect_stderr(io.StringIO()):
            estimate(Reads(), torch.empty(3))


if __name__ == "__main__":
    unittest.main()
