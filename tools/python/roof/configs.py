"""From a config.json to a model on fake tensors and its inputs: transformers' and timm's. No weights are read and none are made.

Weights have the bytes in which a `quantization_config` stores them. What the inputs do not reach, such as the image part of a model that
gets text alone, is left out and named.
"""

import importlib
import inspect
import json
import math
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Tuple

from roof.attention import implementation_of, within_transformers
from roof.errors import InputError, Missing
from roof.shapes import CACHED, fake_mode, floating_in, mark, share_of
from roof.work import SHARE

LARGEST = 1 << 20  #: bytes of a config.json
USUAL_TOKENS = 1024
SAMPLES = 160000  #: of sound: 10 s at 16 kHz
DTYPES = {"fp64": "float64", "fp32": "float32", "tf32": "float32", "bf16": "bfloat16", "fp16": "float16"}
#: The heads of transformers that are looked for where a config names no architecture, in this order.
HEADS = ("MASKED_LM", "CAUSAL_LM", "IMAGE_TEXT_TO_TEXT", "IMAGE_CLASSIFICATION", "VIDEO_CLASSIFICATION", "CTC", "AUDIO_CLASSIFICATION",
         "OBJECT_DETECTION")


def libraries(names: List[str]) -> Any:
    """The first of these modules. Raises Missing for one that is not installed."""
    found = []
    for name in names:
        try:
            found.append(importlib.import_module(name))
        except ImportError:
            raise Missing(name, "estimate") from None
    if names[-1] == "transformers" and int(found[-1].__version__.split(".")[0]) < 5:
        raise InputError(f"transformers {found[-1].__version__} is installed: an estimate needs 5.0 or newer")
    return found[0]


def read(file: Path) -> Dict[str, Any]:
    try:
        with open(file, "rb") as opened:
            text = opened.read(LARGEST + 1)
        given = json.loads(text.decode("utf-8-sig")) if len(text) <= LARGEST else None
    except (OSError, ValueError, RecursionError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no JSON object"
        raise InputError(f"'{file}': {why}") from None
    if not isinstance(given, dict):
        raise InputError(f"'{file}': it is no JSON object of at most 1 MiB")
    return given


class Loaded:
    """A model whose parameters are fake, within `mode`. `call`: keyword arguments of a forward pass. `tokens`: of a sequence; 0: none."""

    def __init__(self, name: str, mode: Any) -> None:
        self.name, self.mode = name, mode
        self.model: Any = None
        self.call: Dict[str, Any] = {}
        self.tokens = 0
        self.remarks: List[str] = []


def load(file: Path, batch: int, tokens: Optional[int], precision: str) -> Loaded:
    """Raises InputError for a file that is no model's config, and for more tokens than a model has positions."""
    given = read(file)
    is_timm = "architecture" in given and "model_type" not in given
    torch = libraries(["torch", "timm" if is_timm else "transformers"])
    if precision not in DTYPES:
        raise InputError(f"precision {precision}: a model of PyTorch computes in {', '.join(DTYPES)}; a quantization_config says how weights are "
                         "stored")
    name = file.parent.name if file.stem == "config" and file.parent.name else file.stem
    made = Loaded(name, fake_mode())
    before = torch.get_default_dtype()
    torch.set_default_dtype(getattr(torch, DTYPES[precision]))
    try:
        with within_transformers(), made.mode:
            (of_timm if is_timm else of_transformers)(made, given, batch, tokens)
    except (InputError, KeyboardInterrupt):
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


# ---------------------------------------------------------------------------------------------------- timm
def of_timm(made: Loaded, given: Dict[str, Any], batch: int, _tokens: Optional[int]) -> None:
    import timm
    import torch

    of_file = given.get("pretrained_cfg") or {}
    made.model = timm.create_model(given["architecture"], **{key: given[key] for key in ("num_classes", "global_pool") if key in given},
                                   **(given.get("model_args") or {})).eval()
    extents = of_file.get("input_size") or made.model.default_cfg["input_size"]
    made.call = {next(iter(inspect.signature(made.model.forward).parameters)): torch.empty(batch, *extents)}


# ---------------------------------------------------------------------------------------------------- transformers
def of_transformers(made: Loaded, given: Dict[str, Any], batch: int, tokens: Optional[int]) -> None:
    import transformers

    kind = given.get("model_type")
    if not isinstance(kind, str):
        raise InputError(f"'{made.name}': it has no 'model_type'")
    if kind not in transformers.models.auto.configuration_auto.CONFIG_MAPPING:
        raise InputError(f"transformers {transformers.__version__} has no model type '{kind[:60]}'" +
                         ("; its code lies beside its weights and is not run" if "auto_map" in given else ""))
    config = transformers.AutoConfig.for_model(**{key: value for key, value in given.items() if key != "quantization_config"})
    model_class = class_of(config, given, transformers)
    with transformers.initialization.no_init_weights():
        made.model = model_class._from_config(config, attn_implementation=implementation_of(model_class)).eval()
    made.model.tie_weights()
    quantize(made, given.get("quantization_config") or {})
    made.call = inputs_of(made, config, batch, tokens)


def class_of(config: Any, given: Dict[str, Any], transformers: Any) -> Any:
    from transformers.models.auto import modeling_auto

    for name in given.get("architectures") or []:
        if isinstance(getattr(transformers, str(name), None), type):
            return getattr(transformers, name)
    heads = [f"MODEL_FOR_{head}_MAPPING" for head in HEADS]
    if getattr(config, "is_encoder_decoder", False):
        heads[:0] = ["MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING", "MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING"]
    elif getattr(config, "is_decoder", False):
        heads.pop(0)
    for head in [*heads, "MODEL_MAPPING"]:
        mapping = getattr(modeling_auto, head, {})
        if type(config) in mapping:
            found = mapping[type(config)]
            return found[0] if isinstance(found, tuple) else found
    raise InputError(f"transformers {transformers.__version__} has no model of type '{config.model_type}', only its configuration")


def first(config: Any, *names: str) -> Any:
    """The first of these values in the config or in one of its parts."""
    parts = [config, *(part for part in vars(config).values() if hasattr(part, "model_type"))]
    return next((getattr(part, name) for name in names for part in parts if getattr(part, name, None) is not None), None)


def longest(config: Any) -> Optional[int]:
    found = first(config.get_text_config(), "max_position_embeddings", "n_positions", "max_target_positions", "max_decoder_position_embeddings")
    return found if isinstance(found, int) and found > 0 else None


def inputs_of(made: Loaded, config: Any, batch: int, tokens: Optional[int]) -> Dict[str, Any]:
    """Of the model's main input, and where it asks for more, of that."""
    import torch

    accepted = inspect.signature(made.model.forward).parameters
    main = made.model.main_input_name
    main = main if main in accepted else next(iter(accepted))
    most = longest(config)
    if tokens and most and tokens > most:
        raise InputError(f"tokens: {made.name} has {most} positions, fewer than {tokens} tokens")
    length = tokens or min(USUAL_TOKENS, most or USUAL_TOKENS)
    image = first(config, "image_size", "img_size") or 224
    image = list(image.values()) if isinstance(image, dict) else [image, image] if isinstance(image, int) else list(image)
    channels = first(config, "num_channels", "in_channels", "in_chans") or 3
    bins = first(config, "num_mel_bins", "feature_size", "input_feat_per_channel", "feature_projection_input_dim") or 80
    extents: Dict[str, Callable[[], List[int]]] = {
        "input_ids": lambda: [length],
        "decoder_input_ids": lambda: [length],
        "pixel_values": lambda: [channels, *image[-2:]],
        "pixel_values_videos": lambda: [first(config, "num_frames", "frames_per_clip") or 16, channels, *image[-2:]],
        "input_features": lambda: [bins, 2 * first(config, "max_source_positions")] if first(config, "max_source_positions") and
        config.model_type == "whisper" else [first(config, "max_length") or USUAL_TOKENS, bins],
        "input_values": lambda: [first(config, "max_length"), bins] if first(config, "frequency_stride") else [SAMPLES],
    }
    if first(config, "num_frames", "tubelet_size"):
        extents["pixel_values"] = extents["pixel_values_videos"]
    names = [main]
    if getattr(config, "is_encoder_decoder", False) and "decoder_input_ids" in accepted:
        names.append("decoder_input_ids")
    if not hasattr(made.model, "generate") or not made.model.can_generate():
        both = [name for name in ("input_ids", "pixel_values", "input_features") if name in accepted]
        names += [name for name in both if name not in names and first(config, "vision_config", "audio_config") is not None]
    for name in names:
        if name not in extents:
            raise InputError(f"{type(made.model).__name__} reads '{name}', whose extents are not known here: call "
                             "roof.estimate(model, inputs) in Python")
    if any(name.endswith("input_ids") for name in names):
        made.tokens = length
    elif tokens:
        raise InputError(f"tokens: {made.name} reads {main}, not tokens")
    return {name: torch.zeros(batch, *extents[name](), dtype=torch.int64) if name.endswith("ids") else torch.empty(batch, *extents[name]())
            for name in names}


# ---------------------------------------------------------------------------------------------------- phases
CACHES = ("past_key_values", "cache", "cache_params", "state", "mems")  #: what models call it


def accepts(model: Any, name: str) -> bool:
    return name in inspect.signature(model.forward).parameters


def cache_of(out: Any) -> Any:
    """What the next token reads; None if there is nothing."""
    return next((value for value in (getattr(out, name, None) for name in CACHES) if value is not None), None)


def call_of(model: Any, inputs: Any, phase: str) -> Tuple[Callable[[], Any], Any]:
    """A forward pass of this phase, and the inputs that it reads, caches too; decode fills them first."""
    if not isinstance(inputs, dict):
        given = inputs if isinstance(inputs, (tuple, list)) else (inputs,)
        if phase in ("prefill", "decode"):
            raise InputError(f"phase {phase}: {type(model).__name__} generates no tokens from these inputs")
        return (lambda: model(*given)), given
    may_cache = {"use_cache": True} if hasattr(getattr(model, "config", None), "use_cache") or accepts(model, "use_cache") else {}
    if phase not in ("prefill", "decode"):
        return (lambda: model(**inputs, **({"use_cache": False} if accepts(model, "use_cache") else {}))), inputs
    ids = "decoder_input_ids" if "decoder_input_ids" in inputs else "input_ids"
    if ids not in inputs or not may_cache:
        raise InputError(f"phase {phase}: {type(model).__name__} generates no tokens")
    if phase == "prefill":
        last = {"logits_to_keep": 1} if accepts(model, "logits_to_keep") else {}
        return (lambda: model(**inputs, **may_cache, **last)), inputs
    before = {**inputs, ids: inputs[ids][:, :-1]}
    step: Dict[str, Any] = {ids: inputs[ids][:, -1:]}
    out = model(**before, **may_cache)
    cache = cache_of(out)
    if cache is None:
        raise InputError(f"phase decode: {type(model).__name__} keeps nothing from token to token")
    step[next(name for name in CACHES if accepts(model, name))] = cache
    encoded = getattr(out, "encoder_last_hidden_state", None)
    if encoded is not None:
        from transformers.modeling_outputs import BaseModelOutput

        step["encoder_outputs"] = BaseModelOutput(last_hidden_state=encoded)
    mark(list(floating_in(step)), CACHED)
    return (lambda: model(**step, **may_cache)), step


# ---------------------------------------------------------------------------------------------------- quantized weights
class Stored:
    """Bits of a weight: its own, those of a scale and a zero point for so many weights (0: a row), and what is quantized."""

    def __init__(self, bits: float, group: float = 0, scale: float = 16, zero: float = 0, skips: Tuple[str, ...] = (), only: str = "") -> None:
        self.bits, self.group, self.scale, self.zero, self.skips, self.only = bits, group, scale, zero, skips, only

    def of(self, parameter: Any) -> float:
        return self.bits + (self.scale + self.zero) / (self.group if self.group > 0 else parameter.shape[-1])


def stored_as(given: Dict[str, Any]) -> Optional[Stored]:
    """None for a form that is not known."""
    method = str(given.get("quant_method") or "").lower()
    skips = tuple(given.get("modules_to_not_convert") or given.get("ignore") or given.get("llm_int8_skip_modules") or ())
    bits = given.get("bits", given.get("w_bit"))
    group = given.get("group_size", given.get("q_group_size"))
    group = group if isinstance(group, (int, float)) else 128
    if method in ("awq", "gptq", "auto-round", "auto_round", "autoround") and bits:
        return Stored(bits, group, 16, bits, skips)
    if method == "fp8":
        block = given.get("weight_block_size") or []
        return Stored(8, math.prod(block) if block else 0, 32 if block else 0, 0, skips)
    if method == "fbgemm_fp8":
        return Stored(8, 0, 32, 0, skips)
    if method == "mxfp4":
        return Stored(4, 32, 8, 0, skips, "experts")
    if method == "bitsandbytes" and given.get("load_in_4bit"):
        return Stored(4, 64, 8 + 32 / 256 if given.get("bnb_4bit_use_double_quant") else 32, 0, skips)
    if method == "bitsandbytes":
        return Stored(8, 0, 32, 0, skips)
    if method == "compressed-tensors":
        weights = [group.get("weights") or {} for group in (given.get("config_groups") or {}).values()]
        if len(weights) == 1 and weights[0].get("num_bits"):
            of = weights[0]
            per = of.get("group_size") or math.prod(of.get("block_structure") or [0])
            return Stored(of["num_bits"], per, 0 if of.get("strategy") == "tensor" else 16, 0 if of.get("symmetric", True) else of["num_bits"], skips)
    return None


def quantize(made: Loaded, given: Dict[str, Any]) -> None:
    """Marks the weights that are stored in fewer bytes: those of linear layers and experts, but not of the last layer."""
    import torch

    if not given:
        return
    stored = stored_as(given)
    if stored is None:
        made.remarks.append(f"the quantization_config of method '{given.get('quant_method')}' is not known: weights count as computed")
        return
    head = made.model.get_output_embeddings() if hasattr(made.model, "get_output_embeddings") else None
    shares = []
    for name, module in made.model.named_modules():
        if module is head or stored.only not in name or any(skipped(name, skip) for skip in stored.skips):
            continue
        for parameter in module.parameters(recurse=False):
            if parameter.dim() == 3 or parameter.dim() == 2 and isinstance(module, torch.nn.Linear):
                setattr(parameter, SHARE, share_of(parameter, stored.of(parameter)))
                shares.append(parameter.numel())
    made.remarks.append(f"{sum(shares)} weights are stored in {stored.bits:g} bits and scales ({given['quant_method']}): so their bytes in prefill, "
                        "decode and inference; products count as of full weights")


def skipped(name: str, skip: Any) -> bool:
    """Whether a module is one that a file's list leaves out: by its name, an end of it, or `re:` and a pattern."""
    import re

    skip = str(skip)
    if skip.startswith("re:"):
        try:
            return re.match(skip[3:], name) is not None
        except re.error:
            return False
    return name == skip or f".{name}.".find(f".{skip}.") >= 0
