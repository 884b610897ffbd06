"""Transformers for torch_step.py and the reference values of tests, with the layers that `roof` gives them."""

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
