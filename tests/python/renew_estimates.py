#!/usr/bin/env python3
"""Writes tests/python/data/estimates.json: parameters and forward FLOPs of models, by PyTorch's own means and without the package `roof`.

    python3 tests/python/renew_estimates.py > tests/python/data/estimates.json

Parameters are the sum over the class's own. FLOPs are those of torch.utils.flop_counter with attention as matrix products ("eager"), of models
with few layers and otherwise their classes' usual extents, computed or on fake tensors; products of experts, which the counter leaves out, have two FLOPs
for each weight of the chosen experts; positions' angles (rotary embeddings) are no products of the model and are left out.
"""

import json
import sys
import warnings
from typing import Any, Dict, List

import torch
import torchvision
import transformers
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode
from transformers.initialization import no_init_weights

TOKENS = 32
LAYERS = ("num_hidden_layers", "n_layer", "num_layers", "n_layers", "encoder_layers", "decoder_layers", "num_decoder_layers")
TEXT = """LlamaForCausalLM MistralForCausalLM Qwen2ForCausalLM Qwen3ForCausalLM GPT2LMHeadModel GPTNeoXForCausalLM GPTJForCausalLM OPTForCausalLM
BloomForCausalLM FalconForCausalLM PhiForCausalLM Phi3ForCausalLM GemmaForCausalLM Gemma2ForCausalLM Gemma3ForCausalLM Starcoder2ForCausalLM
StableLmForCausalLM OlmoForCausalLM Olmo2ForCausalLM GraniteForCausalLM CohereForCausalLM Cohere2ForCausalLM GlmForCausalLM Glm4ForCausalLM
SmolLM3ForCausalLM CodeGenForCausalLM GPTBigCodeForCausalLM MptForCausalLM PersimmonForCausalLM XGLMForCausalLM BioGptForCausalLM
Exaone4ForCausalLM HeliumForCausalLM ArceeForCausalLM ApertusForCausalLM SeedOssForCausalLM MambaForCausalLM
Lfm2ForCausalLM Mamba2ForCausalLM FalconMambaForCausalLM RecurrentGemmaForCausalLM RwkvForCausalLM JambaForCausalLM BambaForCausalLM
MixtralForCausalLM Qwen2MoeForCausalLM Qwen3MoeForCausalLM OlmoeForCausalLM GptOssForCausalLM
DeepseekV3ForCausalLM Llama4ForCausalLM PhimoeForCausalLM Glm4MoeForCausalLM Ernie4_5_MoeForCausalLM FlexOlmoForCausalLM
BertForMaskedLM RobertaForMaskedLM DistilBertForMaskedLM ElectraForMaskedLM AlbertForMaskedLM ModernBertForMaskedLM MPNetForMaskedLM
LlamaForSequenceClassification Qwen3Model T5ForConditionalGeneration BartForConditionalGeneration PegasusForConditionalGeneration""".split()
OTHERS = {"WhisperForConditionalGeneration": {"input_features": [80, 3000], "decoder_input_ids": [TOKENS]},
          "ViTForImageClassification": {"pixel_values": [3, 224, 224]}, "DeiTForImageClassification": {"pixel_values": [3, 224, 224]},
          "BeitForImageClassification": {"pixel_values": [3, 224, 224]}, "SwinForImageClassification": {"pixel_values": [3, 224, 224]},
          "ResNetForImageClassification": {"pixel_values": [3, 224, 224]},
          "Wav2Vec2ForCTC": {"input_values": [160000]}, "HubertForCTC": {"input_values": [160000]}}
VISION = ("alexnet", "vgg11_bn", "resnet18", "resnet50", "resnext50_32x4d", "wide_resnet50_2", "densenet121", "mobilenet_v2", "mobilenet_v3_small",
          "efficientnet_b0", "efficientnet_v2_s", "squeezenet1_1", "shufflenet_v2_x1_0", "mnasnet1_0", "regnet_y_400mf", "convnext_tiny",
          "swin_t", "maxvit_t")
PYTORCH_IMAGE_MODELS = ("resnet26d", "mixer_s32_224", "convmixer_768_32", "efficientformer_l1", "poolformer_s12")


class Groups(TorchDispatchMode):
    """The shape of products in groups, which PyTorch knows for bf16 alone."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if str(func) == "aten._grouped_mm.default":
            return args[0].new_empty(args[0].shape[0], args[1].shape[-1])
        return func(*args, **(kwargs or {}))


def of_groups(left: List[int], right: List[int], *_rest: Any, out_shape: Any = None, **_named: Any) -> int:
    return 2 * left[0] * left[1] * right[-1]


def counted(model: Any, *args: Any, **kwargs: Any) -> Dict[str, int]:
    counter = FlopCounterMode(display=False, custom_mapping={torch.ops.aten._grouped_mm: of_groups})
    with Groups(), counter:
        model(*args, **kwargs)
    angles = sum(sum(flops.values()) for name, flops in counter.get_flop_counts().items() if "rotary" in name.split(".")[-1])
    return {"parameters": sum(one.numel() for one in model.parameters()), "forward_flops": counter.get_total_flops() - angles}


def of_transformers(name: str, extents: Dict[str, List[int]]) -> Dict[str, Any]:
    made = getattr(transformers, name)
    usual = made.config_class()
    named = {usual.attribute_map.get(key, key) for key in LAYERS} if hasattr(usual, "attribute_map") else set(LAYERS)
    keys = {key: 2 for key in sorted({*named, *LAYERS}) if isinstance(getattr(usual, key, None), int) and key in usual.to_dict()}
    config = made.config_class(**keys)
    with no_init_weights():
        model = made._from_config(config, attn_implementation="eager").eval()
    model.tie_weights()
    if not extents:
        extents = {"input_ids": [TOKENS], **({"decoder_input_ids": [TOKENS]} if config.is_encoder_decoder else {})}
    inputs = {key: torch.zeros(1, *shape, dtype=torch.int64) if key.endswith("ids") else torch.empty(1, *shape) for key, shape in extents.items()}
    cached = {"use_cache": False} if hasattr(config, "use_cache") else {}
    return {"config": {"model_type": config.model_type, "architectures": [name], **keys}, "inputs": extents,
            **counted(model, **inputs, **cached)}


def main() -> None:
    warnings.simplefilter("ignore")
    import timm

    rows: List[Dict[str, Any]] = []
    for name in [*TEXT, *OTHERS]:
        try:
            with torch.no_grad() if name in OTHERS else FakeTensorMode(allow_non_fake_inputs=True):
                rows.append(of_transformers(name, OTHERS.get(name, {})))
        except Exception as error:  # a class that this version does not have
            print(f"{name}: {type(error).__name__}: {error}"[:200], file=sys.stderr)
    for library, names in (("torchvision", VISION), ("timm", PYTORCH_IMAGE_MODELS)):
        for name in names:
            with torch.no_grad():
                make = torchvision.models.get_model if library == "torchvision" else timm.create_model
                rows.append({library: name, **counted(make(name).eval(), torch.empty(2, 3, 224, 224))})
    versions = {"torch": torch.__version__, "transformers": transformers.__version__, "torchvision": torchvision.__version__, "timm": timm.__version__}
    print(json.dumps({"versions": versions, "tokens": TOKENS, "models": rows}).replace('}, {"', '},\n{"').replace('"models": [', '"models": [\n'))


if __name__ == "__main__":
    main()
