"""Small networks that renew_onnx.py exports."""

import torch
from torch import nn
from torch.nn import functional as F


class Wrapped(nn.Module):
    """A model of transformers that returns its first result, without a cache."""

    def __init__(self, model, **more):
        super().__init__()
        self.model, self.more = model, more

    def forward(self, x, mask=None):
        out = self.model(x, **({} if mask is None else {"attention_mask": mask}), **self.more)
        return out[0] if isinstance(out, (tuple, list)) else out.to_tuple()[0]


class Unet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down, self.deep = nn.Conv2d(3, 8, 3, 2, 1), nn.Conv2d(8, 16, 3, 2, 1, groups=2)
        self.up, self.last = nn.ConvTranspose2d(16, 8, 3, 2, 1, 1), nn.Conv2d(16, 4, 3, padding=2, dilation=2)

    def forward(self, x):
        low = self.down(x)
        deep = self.deep(low)
        wide = F.interpolate(deep, scale_factor=2.0, mode="bilinear", align_corners=False)
        return self.last(torch.cat([self.up(deep), low], 1)) + wide.mean()


class Recurrent(nn.Module):
    def __init__(self, kind, **more):
        super().__init__()
        self.cells, self.last = kind(12, 20, **more), nn.Linear(20 * (2 if more.get("bidirectional") else 1), 5)

    def forward(self, x):
        return self.last(self.cells(x)[0])


class Mixed(nn.Module):
    """What rules of shapes stumble over: rolls, splits, pads, masks, Einsum, windows in one and three dimensions."""

    def __init__(self):
        super().__init__()
        self.line, self.cube, self.mix = (nn.Conv1d(4, 6, 5, 2, 2), nn.Conv3d(1, 2, (3, 3, 1)), nn.Linear(6, 9, bias=False))

    def forward(self, x):
        y = self.line(F.pad(torch.roll(x, 3, -1), (1, 2))).transpose(1, 2)
        a, b, c = self.mix(y).split([3, 3, 3], -1)
        scores = torch.einsum("bik,bjk->bij", a, b).masked_fill(torch.ones(y.shape[1], y.shape[1]).triu(1).bool(), -1e9)
        z = torch.einsum("bij,bjk,kl->bil", scores.softmax(-1), c, self.mix.weight[:3])
        windows = F.avg_pool1d(x, 4, 2)
        return z.sum(-1) + self.cube(windows[:, None, :, :, None]).mean()


def tiny(kind, **more):
    """A small model of transformers: its class and configuration by name."""
    import transformers

    config = getattr(transformers, kind[1])(**more)
    config._attn_implementation = "eager"
    return Wrapped(getattr(transformers, kind[0])(config).eval(), **({"use_cache": False} if hasattr(config, "use_cache") else {}))


TEXT = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 100, "max_position_embeddings": 64}
TOKENS = (torch.arange(24).reshape(2, 12) % 90 + 1, torch.ones(2, 12, dtype=torch.int64))


def sources():
    """Name: model and inputs."""
    import timm
    import torchvision

    image = (torch.randn(2, 3, 64, 64),)
    yield "mlp", nn.Sequential(nn.Flatten(), nn.Linear(48, 20), nn.GELU(), nn.Linear(20, 10)), (torch.randn(3, 3, 4, 4),)
    yield "resnet18", torchvision.models.resnet18(), image
    yield "mobilenet_v3_small", torchvision.models.mobilenet_v3_small(), image
    yield "swin_t", torchvision.models.swin_t(), (torch.randn(1, 3, 64, 64),)
    yield "convnext", timm.create_model("convnext_atto"), image
    yield "vit", timm.create_model("vit_tiny_patch16_224", img_size=64, depth=2), image
    yield "unet", Unet(), image
    yield "mixed", Mixed(), (torch.randn(2, 4, 30),)
    yield "bert", tiny(("BertForMaskedLM", "BertConfig"), intermediate_size=64, **TEXT), TOKENS
    yield "gpt2", tiny(("GPT2LMHeadModel", "GPT2Config"), n_embd=32, n_layer=2, n_head=4, vocab_size=100, n_positions=64), TOKENS
    yield "llama", tiny(("LlamaForCausalLM", "LlamaConfig"), intermediate_size=64, num_key_value_heads=2, **TEXT), TOKENS
    yield "gemma2", tiny(("Gemma2ForCausalLM", "Gemma2Config"), intermediate_size=64, num_key_value_heads=2, head_dim=8, sliding_window=4,
                         **TEXT), TOKENS
    yield "segformer", tiny(("SegformerModel", "SegformerConfig"), hidden_sizes=[16, 32, 32, 64], depths=[1, 1, 1, 1]), image
    yield "wav2vec2", tiny(("Wav2Vec2Model", "Wav2Vec2Config"), intermediate_size=64, conv_dim=[16] * 7, num_conv_pos_embeddings=16,
                           num_conv_pos_embedding_groups=4, **TEXT), (torch.randn(1, 4000),)
    yield "lstm", Recurrent(nn.LSTM, num_layers=2), (torch.randn(7, 2, 12),)
    yield "gru", Recurrent(nn.GRU, bidirectional=True, batch_first=True), (torch.randn(2, 7, 12),)
