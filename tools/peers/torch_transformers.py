"""Transformers for torch_parity.py and torch_step.py, with the layers that `roof` gives them."""

#: As Hugging Face has them.
GPT2 = {"gpt2": dict(vocabulary=50257, channels=768, heads=12, blocks=12, wide=4),
        "gpt2_medium": dict(vocabulary=50257, channels=1024, heads=16, blocks=24, wide=4)}


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
            all_blocks = [transformer_block(torch, channels, heads, wide, True, 1e-5, "tanh") for _ in range(blocks)]
            self.blocks, self.norm = nn.Sequential(*all_blocks), nn.LayerNorm(channels)

        def forward(self, x):
            x = self.norm(self.blocks(self.wte(x) + self.wpe.weight))
            return nn.functional.linear(x, self.wte.weight).flatten(0, 1)

    return Tokens()
