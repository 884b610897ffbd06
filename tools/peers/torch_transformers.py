"""Transformers for torch_step.py and the reference values of tests, with the layers that `roof` gives them."""

import math
import pathlib
import re

#: As Hugging Face has them.
GPT2 = {"gpt2": dict(vocabulary=50257, channels=768, heads=12, blocks=12, wide=4),
        "gpt2_medium": dict(vocabulary=50257, channels=1024, heads=16, blocks=24, wide=4)}
LLAMA = {"llama_1b": dict(vocabulary=128256, channels=2048, heads=32, kv_heads=8, blocks=16, hidden=8192, theta=500000)}


def transformer_block(torch, channels, heads, wide, causal, eps, approximate):
    nn = torch.nn

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv, self.project = nn.Linear(channels, 3 * channels), nn.Linear(channels, channels)

        def forward(self, x):
            batch, length, _ = x.shape
            q, k, v = self.qkv(x).reshape(batch, length, 3, heads, channels // heads).permute(2, 0, 3, 1, 4)
            y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
            return self.project(y.transpose(1, 2).reshape(batch, length, channels))

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.attention, self.norm2 = nn.LayerNorm(channels, eps), Attention(), nn.LayerNorm(channels, eps)
            self.expand, self.shrink = nn.Linear(channels, wide * channels), nn.Linear(wide * channels, channels)

        def forward(self, x):
            x = x + self.attention(self.norm1(x))
            return x + self.shrink(nn.functional.gelu(self.expand(self.norm2(x)), approximate=approximate))

    return Block()


def token_network(torch, vocabulary, channels, heads, tokens, blocks, wide):
    """GPT-2's layers: the last one has the embedding's weights."""
    nn = torch.nn

    class Tokens(nn.Module):
        def __init__(self):
            super().__init__()
            self.wte, self.wpe = nn.Embedding(vocabulary, channels), nn.Embedding(tokens, channels)
            for embedding in (self.wte, self.wpe):
                nn.init.normal_(embedding.weight, std=0.02)  # as published; with 1, probabilities underflow and steps take up to ten times as long
            all_blocks = [transformer_block(torch, channels, heads, wide, True, 1e-5, "tanh") for _ in range(blocks)]
            self.blocks, self.norm = nn.Sequential(*all_blocks), nn.LayerNorm(channels)

        def forward(self, x):
            x = self.norm(self.blocks(self.wte(x) + self.wpe.weight))
            return nn.functional.linear(x, self.wte.weight).flatten(0, 1)

    return Tokens()


def decoder(torch, batch, cached, vocabulary, channels, heads, kv_heads, blocks, hidden, theta):
    """Llama's layers for one token of each sequence: [batch] tokens to [batch][vocabulary] scores. Keys and values of `cached` positions stay in
    caches, the token's own as the last."""
    nn = torch.nn
    head = channels // heads
    angles = torch.cat(2 * [(cached - 1) * theta ** (-torch.arange(0, head, 2, dtype=torch.float64) / head)])

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv = nn.Linear(channels, (heads + 2 * kv_heads) * head, bias=False)
            self.project = nn.Linear(channels, channels, bias=False)
            for name in ("keys", "values"):
                self.register_buffer(name, torch.randn(batch, kv_heads, cached, head))
            self.register_buffer("cosine", angles.cos().float())
            self.register_buffer("sine", angles.sin().float())

        def rotated(self, x):
            left, right = x.chunk(2, -1)
            return x * self.cosine + torch.cat((-right, left), -1) * self.sine

        def forward(self, x):
            q, k, v = self.qkv(x).view(batch, heads + 2 * kv_heads, 1, head).split((heads, kv_heads, kv_heads), 1)
            self.keys[:, :, -1:], self.values[:, :, -1:] = self.rotated(k), v
            y = nn.functional.scaled_dot_product_attention(self.rotated(q), self.keys, self.values, enable_gqa=heads != kv_heads)
            return self.project(y.reshape(batch, channels))

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.attention, self.norm2 = nn.RMSNorm(channels, 1e-5), Attention(), nn.RMSNorm(channels, 1e-5)
            self.gate, self.up = (nn.Linear(channels, hidden, bias=False) for _ in range(2))
            self.down = nn.Linear(hidden, channels, bias=False)

        def forward(self, x):
            x = x + self.attention(self.norm1(x))
            y = self.norm2(x)
            return x + self.down(nn.functional.silu(self.gate(y)) * self.up(y))

    class Decoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.norm = nn.Embedding(vocabulary, channels), nn.RMSNorm(channels, 1e-5)
            self.blocks = nn.Sequential(*(Block() for _ in range(blocks)))

        def forward(self, x):
            return nn.functional.linear(self.norm(self.blocks(self.embed(x))), self.embed.weight)

    return Decoder()


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
