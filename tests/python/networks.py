"""Small definitions of the networks of the tests; ResNet-18, MobileNetV2 and ViT-B/16 have torchvision's names and sizes."""

import torch
from torch import nn
from torch.nn import functional as F


class BasicBlock(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        y += x if self.downsample is None else self.downsample(x)
        return self.relu(y)


class ResNet18(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        sizes = [64, 64, 128, 256, 512]
        for i in range(1, 5):
            blocks = [BasicBlock(sizes[i - 1], sizes[i], 1 if i == 1 else 2), BasicBlock(sizes[i], sizes[i], 1)]
            self.add_module(f"layer{i}", nn.Sequential(*blocks))
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(512, 1000)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(torch.flatten(self.avgpool(x), 1))


def convolution(inputs, outputs, size=1, stride=1, groups=1):
    return nn.Sequential(nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups, bias=False), nn.BatchNorm2d(outputs),
                         nn.ReLU6(inplace=True))


class Inverted(nn.Module):
    def __init__(self, inputs, outputs, stride, factor):
        super().__init__()
        hidden = inputs * factor
        layers = [convolution(inputs, hidden)] if factor != 1 else []
        layers += [convolution(hidden, hidden, 3, stride, hidden), nn.Conv2d(hidden, outputs, 1, bias=False), nn.BatchNorm2d(outputs)]
        self.conv = nn.Sequential(*layers)
        self.adds = stride == 1 and inputs == outputs

    def forward(self, x):
        return x + self.conv(x) if self.adds else self.conv(x)


class MobileNetV2(nn.Module):
    def __init__(self):
        super().__init__()
        layers, inputs = [convolution(3, 32, 3, 2)], 32
        for factor, outputs, count, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
                                               (6, 320, 1, 1)):
            for i in range(count):
                layers.append(Inverted(inputs, outputs, stride if i == 0 else 1, factor))
                inputs = outputs
        self.features = nn.Sequential(*layers, convolution(320, 1280))
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(1280, 1000))

    def forward(self, x):
        return self.classifier(F.adaptive_avg_pool2d(self.features(x), 1).flatten(1))


class Block(nn.Module):
    def __init__(self, width, heads, hidden, causal):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, hidden), nn.GELU(), nn.Linear(hidden, width))

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal).transpose(1, 2).reshape(batch, length, width)
        x = x + self.out(y)
        return x + self.mlp(self.norm2(x))


class ViT(nn.Module):
    """ViT-B/16 by default."""

    def __init__(self, image=224, patch=16, width=768, depth=12, heads=12, classes=1000):
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        self.position = nn.Parameter(torch.zeros(1, (image // patch) ** 2 + 1, width))
        self.blocks = nn.Sequential(*(Block(width, heads, 4 * width, False) for _ in range(depth)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, classes)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.position
        return self.head(self.norm(self.blocks(x))[:, 0])


class GPT(nn.Module):
    def __init__(self, words=500, width=64, depth=2, heads=4, length=32):
        super().__init__()
        self.embedding, self.position = nn.Embedding(words, width), nn.Parameter(torch.zeros(length, width))
        self.blocks = nn.Sequential(*(Block(width, heads, 4 * width, True) for _ in range(depth)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

    def forward(self, x):
        return self.head(self.norm(self.blocks(self.embedding(x) + self.position[:x.shape[1]]))).flatten(0, 1)


class LSTM(nn.Module):
    def __init__(self, words=300, width=32, hidden=64):
        super().__init__()
        self.embedding, self.rnn = nn.Embedding(words, width), nn.LSTM(width, hidden, 2, batch_first=True)
        self.head = nn.Linear(hidden, words)

    def forward(self, x):
        return self.head(self.rnn(self.embedding(x))[0]).flatten(0, 1)
