"""From a config.json of transformers to a model on fake tensors and its inputs. No weights are read and none are made.

Weights have the bytes in which a `quantization_config` stores them. What the inputs do not reach, such as the image
part of a model that gets text alone, is left out and named."""

import inspect
import json
import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Dict, List, NamedTuple, NoReturn, Optional, Tuple

from roof.attention import implementation_of, within_transformers
from roof.shapes import CACHED, fake_copy, fake_mode, floating_in, mark
from roof.texts import InputError, Missing
from roof.work import SHARE

LARGEST = 1 << 20  #: bytes of a config.json
MOST_LAYERS = 4096  #: and experts
USUAL_TOKENS = 1024
MOST_TOKENS = 1 << 24  #: of a model whose config states no positions
SAMPLES = 160000  #: of sound: 10 s at 16 kHz
DTYPES = {"fp64": "float64", "fp32": "float32", "tf32": "float32", "bf16": "bfloat16", "fp16": "float16"}
POSITIONS = ("max_position_embeddings", "n_positions", "max_target_positions", "max_decoder_position_embeddings")
#: The heads of transformers that are looked for where a config names no architecture, in this order.
HEADS = """MASKED_LM CAUSAL_LM IMAGE_TEXT_TO_TEXT IMAGE_CLASSIFICATION VIDEO_CLASSIFICATION CTC AUDIO_CLASSIFICATION
    OBJECT_DETECTION""".split()
CACHES = ("past_key_values", "cache", "cache_params", "state", "mems")  #: what models call what the next token reads


def read(file: Path) -> Dict[str, Any]:
    try:
        with open(file, "rb") as opened:
            given = json.loads(opened.read(LARGEST).decode("utf-8-sig"))  # what is longer is no whole object
    except (OSError, ValueError, RecursionError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no JSON object"
        raise InputError(f"'{file}': {why}") from None
    if not isinstance(given, dict):
        raise InputError(f"'{file}': it is no JSON object of at most 1 MiB")
    for part in [given, *(value for value in given.values() if isinstance(value, dict))]:
        for key, value in part.items():
            if isinstance(value, int) and value > MOST_LAYERS and ("layer" in key or "expert" in key):
                raise InputError(f"'{file}': '{key[:60]}' is more than {MOST_LAYERS}")
    return given


@dataclass
class Loaded:
    """A model whose parameters are fake, within `mode`. `call`: arguments by name. `tokens`: of a sequence; 0: none."""

    name: str
    mode: Any = field(default_factory=fake_mode)
    model: Any = None
    call: Any = None
    tokens: int = field(init=False)
    remarks: List[str] = field(default_factory=list)


def load(file: Path, batch: int, tokens: Optional[int], precision: str) -> Loaded:
    """Raises InputError for a file that is no model's config, and for more tokens than a model has positions."""
    given = read(file)
    try:
        import torch
        import transformers
    except ImportError as error:
        raise Missing(error.name or "torch", "estimate") from None
    if int(transformers.__version__.split(".")[0]) < 5:
        raise InputError(f"transformers {transformers.__version__} is installed: an estimate needs 5.0 or newer")
    if precision not in DTYPES:
        raise InputError(f"precision {precision}: a model of PyTorch computes in {', '.join(DTYPES)}; a "
                         "quantization_config says how weights are stored")
    made = Loaded(file.parent.name if file.stem == "config" and file.parent.name else file.stem)
    before = torch.get_default_dtype()
    torch.set_default_dtype(getattr(torch, DTYPES[precision]))
    try:
        with within_transformers():
            # whose values nobody computes; rates that a class reads in its making are on the CPU
            with torch.device("meta"):
                model, config = made_of(given)
            names = given.get("architectures") or [type(model).__name__]
            if type(model).__name__ not in names:
                made.remarks.append(f"transformers has no {names[0]}: this is {type(model).__name__}")
            made.model = fake_copy(model, made.mode)
            with made.mode:
                quantize(made, next(filter(None, (one.get(key) for one in (given, given.get("text_config") or {})
                                                  for key in ("quantization_config", "compression_config"))), {}))
                made.call = inputs_of(made, config, batch, tokens)
    except InputError:
        raise
    except Exception as error:  # what a class says of extents that do not fit
        raise InputError(f"'{file}': {sentence(error)}") from None
    finally:
        torch.set_default_dtype(before)
    return made


def sentence(error: BaseException) -> str:
    """The first line of an error, and its class."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0][:300]}" if lines else type(error).__name__


def made_of(given: Dict[str, Any]) -> Tuple[Any, Any]:
    import torch
    import transformers
    from transformers.initialization import no_init_weights
    from transformers.models.auto import modeling_auto

    kind, version = given.get("model_type"), transformers.__version__
    if not isinstance(kind, str):
        raise InputError("the file has no 'model_type'")
    if kind not in transformers.models.auto.configuration_auto.CONFIG_MAPPING:
        raise InputError(f"transformers {version} has no model type '{kind[:60]}'"
                         + ("; its code lies beside its weights and is not run" if "auto_map" in given else ""))
    config = transformers.AutoConfig.for_model(**{key: value for key, value in given.items()
                                                  if key != "quantization_config"})
    heads = HEADS
    if getattr(config, "is_encoder_decoder", False):
        heads = ["SEQ_TO_SEQ_CAUSAL_LM", "SPEECH_SEQ_2_SEQ", *HEADS]
    elif getattr(config, "is_decoder", False):
        heads = HEADS[1:]
    named = (getattr(transformers, str(name), None) for name in given.get("architectures") or [])
    mappings = (getattr(modeling_auto, name, {})
                for name in [*(f"MODEL_FOR_{head}_MAPPING" for head in heads), "MODEL_MAPPING"])
    model_class = next((one for one in named if isinstance(one, type)), None) or next(
        (mapping[type(config)] for mapping in mappings if type(config) in mapping), None)
    if model_class is None:
        raise InputError(f"transformers {version} has no model of type '{config.model_type}', only its configuration")
    model_class = model_class[0] if isinstance(model_class, tuple) else model_class
    with no_init_weights():
        model = model_class._from_config(config, dtype=torch.get_default_dtype(),
                                         attn_implementation=implementation_of(model_class)).eval()
    model.tie_weights()
    return model, config


def inputs_of(made: Loaded, config: Any, batch: int, tokens: Optional[int]) -> Dict[str, Any]:
    """Of the model's main input, and where it asks for more, of that."""
    import torch

    def one(usual: Any, *names: str) -> Any:  # the first of these in the config or in one of its parts
        parts = [config, *(part for part in vars(config).values() if hasattr(part, "model_type"))]
        return next((getattr(part, name) for name in names for part in parts if getattr(part, name, None) is not None),
                    usual)

    accepted = inspect.signature(made.model.forward).parameters
    main = made.model.main_input_name if made.model.main_input_name in accepted else next(iter(accepted))
    text = config.get_text_config()
    positions = (getattr(text, name, None) for name in POSITIONS)
    most = next((number for number in positions if isinstance(number, int) and number > 0), MOST_TOKENS)
    if tokens and tokens > most:
        raise InputError(f"tokens: {made.name} has {most} positions, fewer than {tokens} tokens")
    length, image = tokens or min(USUAL_TOKENS, most), one(224, "image_size", "img_size")
    image = image.values() if isinstance(image, dict) else [image, image] if isinstance(image, int) else image
    image = [one(3, "num_channels", "in_channels", "in_chans"), *list(image)[-2:]]
    video = [one(16, "num_frames", "frames_per_clip"), *image]
    bins = one(80, "num_mel_bins", "feature_size", "input_feat_per_channel", "feature_projection_input_dim")
    sound = 2 * one(USUAL_TOKENS // 2, "max_source_positions")
    turned = config.model_type.endswith(("whisper", "_encoder"))
    channels = [one(1, "audio_channels")] if one(None, "audio_channels", "downsampling_ratios") else []  # of a codec
    extents = {"input_ids": [length], "decoder_input_ids": [length], "pixel_values_videos": video,
               "pixel_values": video if one(None, "num_frames", "tubelet_size") else image,
               "input_features": [bins, sound] if turned else [sound, bins],
               "input_values": [config.max_length, bins] if one(None, "frequency_stride") else [*channels, SAMPLES]}
    if main not in extents:
        raise InputError(f"{type(made.model).__name__} reads '{main}', whose extents are not known here: call "
                         "roof.estimate(model, inputs) in Python")
    asked = [main, *(name for name, one in accepted.items() if one.default is one.empty and name in extents)]
    if getattr(config, "is_encoder_decoder", False):
        asked.append("decoder_input_ids")
    if not made.model.can_generate() and one(None, "vision_config", "audio_config") is not None:
        asked += ["input_ids", "pixel_values", "input_features"]
    names = [name for name in dict.fromkeys(asked) if name in accepted]
    made.tokens = length if any(name.endswith("input_ids") for name in names) else 0
    if tokens and not made.tokens:
        raise InputError(f"tokens: {made.name} reads {main}, not tokens")
    return {name: torch.zeros(batch, *extents[name], dtype=torch.int64) if name.endswith("ids")
            else torch.empty(batch, *extents[name]) for name in names}


# ---------------------------------------------------------------------------------------------------- phases
def cache_of(out: Any) -> Any:
    """What the next token reads; None if there is nothing."""
    return next((value for value in (getattr(out, name, None) for name in CACHES) if value is not None), None)


def call_of(model: Any, inputs: Any, phase: str) -> Tuple[Callable[[], Any], Any]:
    """A forward pass of this phase, and the inputs that it reads, caches too; decode fills them first."""
    generates, accepted = phase in ("prefill", "decode"), inspect.signature(model.forward).parameters
    if not isinstance(inputs, dict):
        given = inputs if isinstance(inputs, (tuple, list)) else (inputs,)
        return (refuse(model, phase) if generates else lambda: model(*given)), given
    if not generates:
        return (lambda: model(**inputs, **({"use_cache": False} if "use_cache" in accepted else {}))), inputs
    ids = "decoder_input_ids" if "decoder_input_ids" in inputs else "input_ids"
    config = getattr(model, "config", None)
    config = config.get_text_config() if hasattr(config, "get_text_config") else config
    if ids not in inputs or not hasattr(config, "use_cache") and "use_cache" not in accepted:
        refuse(model, phase)
    if phase == "prefill" or inputs[ids].shape[1] == 1:  # a first token finds no cache
        more = {"logits_to_keep": 1} if "logits_to_keep" in accepted else {}
        return (lambda: model(**inputs, use_cache=True, **more)), inputs
    out = model(**{**inputs, ids: inputs[ids][:, :-1]}, use_cache=True)
    cache = cache_of(out)
    if cache is None:
        refuse(model, phase)
    step: Dict[str, Any] = {ids: inputs[ids][:, -1:], next(name for name in CACHES if name in accepted): cache}
    if getattr(out, "encoder_last_hidden_state", None) is not None:
        from transformers.modeling_outputs import BaseModelOutput

        step["encoder_outputs"] = BaseModelOutput(last_hidden_state=out.encoder_last_hidden_state)
    mark(list(floating_in(step)), CACHED)
    return (lambda: model(**step, use_cache=True)), step


def refuse(model: Any, phase: str) -> NoReturn:
    raise InputError(f"phase {phase}: {type(model).__name__} generates no tokens from these inputs")


# ---------------------------------------------------------------------------------------------------- quantized weights
class Stored(NamedTuple):
    """Bits of a weight, and of scale and zero point for each `group` (0: each row), of modules named like `only`."""

    bits: float
    group: float
    scales: float
    only: str = ""


def stored_as(given: Dict[str, Any]) -> Optional[Stored]:
    """None for a form that is not known."""
    method, bits = str(given.get("quant_method")).lower().replace("_", "-"), given.get("bits", given.get("w_bit"))
    if method in ("awq", "gptq", "auto-round") and bits:
        return Stored(bits, max(0, given.get("group_size", given.get("q_group_size", 128))), 16 + bits)
    if method in ("fp8", "fbgemm-fp8"):
        return Stored(8, math.prod(given.get("weight_block_size") or [0]), 32)
    if method == "mxfp4":
        return Stored(4, 32, 8, "experts")
    if given.get("load_in_4bit"):
        return Stored(4, 64, 8 + 32 / 256 if given.get("bnb_4bit_use_double_quant") else 32)
    if given.get("load_in_8bit") or method == "bitsandbytes":
        return Stored(8, 0, 32)
    weights = [one.get("weights") or {} for one in (given.get("config_groups") or {}).values()]
    if method == "compressed-tensors" and len(weights) == 1 and weights[0].get("num_bits"):
        of = weights[0]
        zeros = 0 if of.get("symmetric", True) else of["num_bits"]
        return Stored(of["num_bits"], of.get("group_size") or math.prod(of.get("block_structure") or [0]), 16 + zeros)
    return None


def quantize(made: Loaded, given: Dict[str, Any]) -> None:
    """Marks the weights that are stored in fewer bytes: of linear layers and experts, but not of the last layer."""
    import torch

    stored = stored_as(given)
    if stored is None:
        if given:
            made.remarks.append(f"the quantization_config of method '{given.get('quant_method')}' is not known: "
                                "weights count as computed")
        return
    skips = [str(skip) for key in ("modules_to_not_convert", "ignore", "llm_int8_skip_modules")
             for skip in given.get(key) or []]
    head = made.model.get_output_embeddings() if hasattr(made.model, "get_output_embeddings") else None
    weights = 0
    for name, module in made.model.named_modules():
        if module is head or stored.only not in name or any(is_named(name, skip) for skip in skips):
            continue
        for parameter in module.parameters(recurse=False):
            if parameter.dim() == 3 or parameter.dim() == 2 and isinstance(module, torch.nn.Linear):
                bits = stored.bits + stored.scales / (stored.group or parameter.shape[-1])
                setattr(parameter, SHARE, bits / 8 / parameter.element_size())
                weights += parameter.numel()
    made.remarks.append(f"{weights} weights are stored in {stored.bits:g} bits and scales "
                        f"({given.get('quant_method')}), and so their bytes count; products count as of full weights")


def is_named(name: str, skip: str) -> bool:
    """Whether a file's list means this module: by its name, a part of it, or `re:` and a pattern."""
    return re.match(skip[3:], name) is not None if skip.startswith("re:") else f".{skip}." in f".{name}."
