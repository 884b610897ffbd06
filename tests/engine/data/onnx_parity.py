#!/usr/bin/env python3
"""Networks exported to ONNX beside PyTorch in double precision: writes the file, trains the network, compares the losses.

The batch, parameters and training of torch_parity.py; parameters are numbered in the order of their use. Files have the shapes of weights and
no values, for `--parameters hashed`; lists of integers, short lists and zeros keep theirs.

    onnx_parity.py convnext --onnx convnext.onnx                   the file; CSV of the losses, and of the first and last weight's gradients
    onnx_parity.py vit_b_32 bert_base --exporter dynamo --roof build/bin/roof     PyTorch's losses and roof's, and the largest difference
"""

import argparse
import csv
import io
import json
import math
import subprocess
import sys
import tempfile
import warnings

from torch_parity import BATCH, FIRST_PARAMETER_SEED, FIRST_PROJECTION_SEED, INPUT_SEED, filled, mix, norms, unit
from torch_step import imported


def wrapped(torch, network, pick):
    """The network whose output is the one that is trained."""

    class Picked(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.m = network

        def forward(self, x):
            return pick(self.m(x))

    return Picked()


def networks(torch, torchvision):
    """Functions that make a network, its input's shape or (vocabulary, tokens), the weight of the last layer if that has one."""
    models = torchvision.models

    def convnext():
        config = models.convnext.CNBlockConfig
        return models.convnext.ConvNeXt([config(32, 64, 1), config(64, None, 1)])

    def bert(kind="MaskedLM", **sizes):
        import transformers
        made = getattr(transformers, "BertFor" + kind)(transformers.BertConfig(**sizes))
        made.bert.embeddings.word_embeddings.padding_idx = None  # no file has it
        return wrapped(torch, made, lambda output: output.logits)

    def deit(**sizes):
        import transformers
        made = transformers.DeiTForImageClassification(transformers.DeiTConfig(num_labels=1000, **sizes))
        return wrapped(torch, made, lambda output: output.logits)

    def fcn(layers):
        backbone = models.resnet.ResNet(models.resnet.Bottleneck, layers, replace_stride_with_dilation=[False, True, True])
        backbone = models._utils.IntermediateLayerGetter(backbone, {"layer4": "out"})
        return wrapped(torch, models.segmentation.FCN(backbone, models.segmentation.fcn.FCNHead(2048, 21)), lambda output: output["out"])

    inception = lambda: models.inception_v3(weights=None, aux_logits=False, init_weights=False)
    small = dict(hidden_size=48, num_hidden_layers=2, num_attention_heads=3, intermediate_size=96)
    vit = dict(image_size=224, patch_size=32, num_layers=2, num_heads=3, hidden_dim=48, mlp_dim=96)
    swin = dict(patch_size=[4, 4], embed_dim=24, depths=[2, 2], num_heads=[1, 2], window_size=[7, 7])
    return {
        "vit": (lambda: models.VisionTransformer(**vit), (3, 224, 224), "heads.head.weight"),
        "deit": (lambda: deit(patch_size=32, **small), (3, 224, 224), "m.classifier.weight"),
        "convnext": (convnext, (3, 64, 64), "classifier.2.weight"),
        "inception": (inception, (3, 160, 160), "fc.weight"),
        "bert": (lambda: bert(vocab_size=1000, max_position_embeddings=64, **small), (1000, 40), None),
        "bert_classes": (lambda: bert("SequenceClassification", num_labels=10, vocab_size=1000, **small), (1000, 40), "m.classifier.weight"),
        "fcn": (lambda: fcn([1, 1, 1, 1]), (3, 64, 64), None),
        "swin": (lambda: models.SwinTransformer(**swin), (3, 56, 56), "head.weight"),
        "vit_b_32": (models.vit_b_32, (3, 224, 224), "heads.head.weight"),
        "deit_base": (deit, (3, 224, 224), "m.classifier.weight"),
        "convnext_tiny": (models.convnext_tiny, (3, 224, 224), "classifier.2.weight"),
        "inception_v3": (inception, (3, 299, 299), "fc.weight"),
        "bert_base": (bert, (30522, 128), None),
        "fcn_resnet50": (lambda: fcn([3, 4, 6, 3]), (3, 224, 224), None),
        "swin_t": (models.swin_t, (3, 224, 224), "head.weight"),
    }


def batch_of(torch, shape):
    if len(shape) == 3:
        return filled(torch, INPUT_SEED, (BATCH, *shape), 2 * math.sqrt(3), 0.0)
    return (mix(torch.arange(BATCH * shape[1], dtype=torch.int64)) % shape[0]).reshape(BATCH, shape[1])


def labels_of(torch, output, of_tokens):
    """One for each image, token or pixel. Classes are on axis 1, of tokens on the last."""
    classes = output.shape[-1 if of_tokens else 1]
    places = [extent for axis, extent in enumerate(output.shape) if axis != (output.dim() - 1 if of_tokens else 1)]
    return torch.tensor([(7 + 389 * n) % classes for n in range(math.prod(places))]).reshape(places)


def in_order(torch, network, batch):
    """(name, parameter) in the order in which the forward pass reads them; Swin's tables where attention adds them, behind its weights."""
    names = {id(parameter): name for name, parameter in network.named_parameters()}
    found = {}

    class Watch(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function, types, arguments=(), named=None):
            result = function(*arguments, **(named or {}))
            tensors = isinstance(result, (torch.Tensor, tuple))
            for read in [*arguments, *(named or {}).values()] if tensors else []:
                if id(read) in names:
                    found.setdefault(id(read), read)
            return result

    with torch.no_grad(), Watch():
        network(batch)
    order = [(names[key], parameter) for key, parameter in found.items()]
    for table in [read for read in order if read[0].endswith("relative_position_bias_table")]:
        order.remove(table)
        behind = table[0].replace("relative_position_bias_table", "qkv.bias")
        order.insert([name for name, _ in order].index(behind) + 1, table)
    return order


def fill(torch, network, parameters, last):
    """By the recipe of workloads/model/hashed.hpp. Tokens before the others are one parameter there."""
    seed = FIRST_PARAMETER_SEED
    for k, (name, parameter) in enumerate(parameters):
        owner, _, kind = name.rpartition(".")
        is_norm = isinstance(network.get_submodule(owner), norms(torch))
        if is_norm:
            scale, offset = (0.2, 0.0) if kind == "bias" else (0.5, 1.0)
        elif kind.endswith("bias"):
            scale, offset = 0.1, 0.0
        elif parameter.dim() != 4 and any(part in name for part in ("embedding", "token", "relative_position")):
            scale, offset = 2 * math.sqrt(3) * 0.02, 0.0
        else:
            fan_in = math.prod(parameter.shape[1:])
            scale, offset = 2 * math.sqrt(3 / fan_in) * 0.1 if name == last else 2 * math.sqrt(6 / fan_in), 0.0
        second = k > 0 and name.endswith("distillation_token")
        shape = (2, *parameter.shape[1:]) if second else parameter.shape
        seed -= second
        values = filled(torch, seed, shape, scale, offset)
        with torch.no_grad():
            parameter.copy_(values[1:] if second else values)
        seed += 1


def prepared(torch, make, batch, last):
    network = make().train()
    for layer in network.modules():
        if isinstance(layer, torch.nn.Dropout) or type(layer).__name__ == "StochasticDepth":
            layer.p = 0.0
        if isinstance(layer, torch.nn.MultiheadAttention):
            layer.dropout = 0.0
    for config in [layer.config for layer in network.modules() if hasattr(layer, "config")]:
        config.attention_probs_dropout_prob = 0.0
    for layer in network.modules():
        if isinstance(getattr(layer, "dropout_prob", None), float):
            layer.dropout_prob = 0.0
    network = network.double()
    parameters = in_order(torch, network, batch)
    fill(torch, network, parameters, last)
    return network, parameters


def losses_of(torch, network, parameters, batch, steps, of_tokens):
    """Yields (quantity, name, value)."""
    optimizer = torch.optim.SGD([parameter for _, parameter in parameters], lr=0.01, momentum=0.9, weight_decay=1e-4)
    for step in range(steps):
        optimizer.zero_grad()
        output = network(batch)
        labels = labels_of(torch, output, of_tokens)
        loss = torch.nn.functional.cross_entropy(output.flatten(0, 1) if of_tokens else output, labels.flatten() if of_tokens else labels)
        yield "loss", str(step), loss.item()
        if step > 0 and step + 1 == steps:
            return
        loss.backward()
        if step == 0:
            weights = [k for k, (_, parameter) in enumerate(parameters) if parameter.dim() > 1]
            for k in (weights[0], weights[-1]):
                name, gradient = parameters[k][0], parameters[k][1].grad.flatten()
                yield "grad_l2", name, gradient.norm().item()
                yield "grad_proj", name, (gradient * 2 * unit(torch, FIRST_PROJECTION_SEED + k, gradient.numel())).sum().item()
        optimizer.step()


def without_values(onnx, graph):
    """Leaves out the values of weights, and notes on where operators come from."""
    tensor_type = onnx.TensorProto
    for tensor in [*graph.initializer, *(a.t for node in graph.node for a in node.attribute if a.HasField("t"))]:
        is_kept = tensor.data_type in (tensor_type.INT64, tensor_type.INT32, tensor_type.BOOL) or math.prod(tensor.dims) <= 8
        if not is_kept and onnx.numpy_helper.to_array(tensor).any():
            for held in ("raw_data", "float_data", "double_data"):
                tensor.ClearField(held)
    for node in graph.node:
        node.doc_string = ""
        del node.metadata_props[:]
    del graph.value_info[:]
    del graph.metadata_props[:]


def exported(torch, network, batch, exporter):
    import onnx
    network, batch = network.float(), batch.float() if batch.is_floating_point() else batch
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if exporter == "dynamo":
            made = torch.onnx.export(network, (batch,), dynamo=True, verbose=False).model_proto
        else:
            file = io.BytesIO()
            torch.onnx.export(network, (batch,), file, dynamo=False, opset_version=17, training=torch.onnx.TrainingMode.TRAINING,
                              do_constant_folding=False)
            made = onnx.load_from_string(file.getvalue())
    without_values(onnx, made.graph)
    del made.metadata_props[:], made.functions[:]
    return made.SerializeToString()


def losses_of_roof(roof, file, steps):
    command = [roof, "run", file, "--batch", str(BATCH), "--parameters", "hashed", "--data", "hashed", "--steps", str(steps), "--json",
               "--precision", "fp32"]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([*command, "--out", folder + "/results"], stdout=subprocess.PIPE, text=True, check=False)
    rows = json.loads(done.stdout)["rows"] if done.stdout else []
    return [float(loss) for loss in rows[0].get("losses") or []] if rows else []


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="+", metavar="NETWORK")
    parser.add_argument("--exporter", choices=["traced", "dynamo"], default="traced")
    parser.add_argument("--onnx", metavar="FILE", help="written; of one network [a temporary file]")
    parser.add_argument("--steps", type=int, default=5, metavar="N")
    parser.add_argument("--roof", metavar="PROGRAM", help="trains the file, too")
    options = parser.parse_args(arguments)
    libraries = imported("onnx_parity")
    if libraries is None:
        return 2
    torch, torchvision = libraries
    table = csv.writer(sys.stdout, lineterminator="\n")
    worst = 0.0
    for name in options.networks:
        make, shape, last = networks(torch, torchvision)[name]
        batch = batch_of(torch, shape)
        network, parameters = prepared(torch, make, batch, last)
        rows = list(losses_of(torch, network, parameters, batch, options.steps, len(shape) == 2))
        with tempfile.NamedTemporaryFile(suffix=".onnx") as temporary:
            file = options.onnx or temporary.name
            with open(file, "wb") as written:
                written.write(exported(torch, network, batch, options.exporter))
            found = losses_of_roof(options.roof, file, options.steps) if options.roof else []
        if not options.roof:
            table.writerows([name, *row[:2], repr(row[2])] for row in rows)
            continue
        theirs = [value for quantity, _, value in rows if quantity == "loss"]
        apart = max(abs(a - b) for a, b in zip(theirs, found)) if len(found) == len(theirs) else math.inf
        worst = max(worst, apart)
        print(name, options.exporter, "PyTorch", *theirs, "roof", *found, "apart", f"{apart:.1e}", flush=True)
    return 0 if worst < 1e-4 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
