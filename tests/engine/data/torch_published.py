"""Decoders as Hugging Face publishes them, for torch_parity.py."""

import math
import pathlib
import re


def place(name):
    """Where roof has a parameter of a decoder: GPT-2's where they are, Llama's norms before what they are read by."""
    order = ("input_layernorm", "self_attn.qkv_proj", "self_attn.o_proj", "post_attention_layernorm", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj")
    found = re.fullmatch(r"layers\.(\d+)\.(.+)\.\w+", name)
    return (int(found[1]), order.index(found[2])) if found else (math.inf if re.match("norm|lm_head", name) else -1, 0)


def published(torch, file, cache_of):
    """Hugging Face's decoder of a config.json, whose parameters have roof's names, order and shapes: queries, keys and values as one, weights as
    [out][in]. [batch][tokens] to scores; FILE/decode: of the last of 40 tokens alone, after cache_of(layer, shape). Norms and angles of Llama's
    form are in fp32, as transformers has them."""
    import transformers  # pylint: disable=import-outside-toplevel
    file, decodes, _ = file.partition("/decode")
    config = transformers.AutoConfig.from_pretrained(pathlib.Path(file))
    theirs = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="sdpa").double().eval()
    turned = {id(layer.weight) for layer in theirs.modules() if isinstance(layer, transformers.pytorch_utils.Conv1D)}
    slides = getattr(config, "sliding_window", None) and getattr(config, "use_sliding_window", True)
    seen = min(40, config.sliding_window) if slides else 40
    parts = {}
    for name, value in theirs.named_parameters():
        own = re.sub(r"\.[qkv]_proj", ".qkv_proj", re.sub(r"^(model|transformer)\.", "", name))
        parts.setdefault(own, []).append((name, value.t() if id(value) in turned else value, id(value) in turned))

    def caches():
        heads = getattr(config, "num_key_value_heads", config.num_attention_heads)
        head = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        made = transformers.DynamicCache()
        for k in range(config.num_hidden_layers):
            both = cache_of(k, (2, heads, 2, seen, head))
            made.update(both[:, :, 0, :-1], both[:, :, 1, :-1], k)
        return made

    class Published(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens, self.vocabulary = 1 if decodes else seen, config.vocab_size
            self.own = {name: torch.nn.Parameter(torch.cat([value.data for _, value, _ in parts[name]])) for name in sorted(parts, key=place)}

        def named_parameters(self, *_, **__):
            return iter(self.own.items())

        def forward(self, x):
            values = {}
            for own, of in parts.items():
                for (name, _, is_turned), value in zip(of, self.own[own].split([len(value) for _, value, _ in of])):
                    values[name] = value.t() if is_turned else value
            more = {"past_key_values": caches(), "position_ids": torch.full((2, 1), 39)} if decodes else {"use_cache": False}
            return torch.func.functional_call(theirs, values, (x,), more).logits.flatten(0, 1)

    return Published()
