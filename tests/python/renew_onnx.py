"""Writes ONNX files by the programs that write them in the field, and what each computes by a second source.

usage: renew_onnx.py [NAME ...]    (needs torch, torchvision, timm, transformers, onnx, onnxruntime, onnxscript)

Makes onnx_exports.zip in tests/python/data, the files without their weights, and onnx_exports.csv: forward FLOPs by torch.utils.flop_counter of the
source model; of recurrent layers by the shapes of every value as onnxruntime computes them, and two FLOPs for each multiply-add. Prints each that
`roof.onnx_reading` counts otherwise."""

import contextlib
import csv
import io
import math
import sys
import tempfile
import warnings
import zipfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import onnxscript
import torch
from onnx import TensorProto, helper
from onnxscript import FLOAT
from onnxscript import opset17 as op
from onnx_networks import sources

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "tools" / "python"))


def exported(model, inputs, dynamo):
    model.eval()
    with torch.no_grad(), warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        if dynamo:
            return torch.onnx.export(model, inputs, dynamo=True, verbose=False).model_proto
        out = io.BytesIO()
        torch.onnx.export(model, inputs, out, dynamo=False, opset_version=17, input_names=["x"], dynamic_axes={"x": {0: "batch"}})
    return onnx.load_from_string(out.getvalue())


def flops_by_torch(model, inputs):
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.flop_counter import FlopCounterMode

    with torch.no_grad(), sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        model(*inputs)
    return counter.get_total_flops()


def flops_by_onnxruntime(model, inputs):
    """Every value is made an output; products are counted by the shapes that they then have."""
    made, initializers = onnx.ModelProto(), {one.name: tuple(one.dims) for one in model.graph.initializer}
    made.CopyFrom(model)
    names = [name for node in model.graph.node for name in node.output if name]
    given = {one.name for one in made.graph.output}
    made.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names if name not in given)
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.graph_optimization_level = 4, onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(made.SerializeToString(), options, ["CPUExecutionProvider"])
    fed = {one.name: value for one, value in zip(session.get_inputs(), inputs)}
    values = dict(zip([one.name for one in session.get_outputs()], session.run(None, fed)))
    shapes = {**initializers, **{name: np.shape(value) for name, value in {**fed, **values}.items()}}
    total = 0
    for node in model.graph.node:
        of = [shapes.get(name, ()) for name in node.input]
        out = math.prod(shapes[node.output[0]]) if node.output[0] in shapes else 0
        given = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        if node.op_type in ("Conv", "FusedConv", "ConvInteger"):
            total += 2 * out * math.prod(of[1][1:])
        elif node.op_type == "QLinearConv":
            total += 2 * out * math.prod(of[3][1:])
        elif node.op_type == "ConvTranspose":
            total += 2 * math.prod(of[0]) * math.prod(of[1][1:])
        elif node.op_type in ("MatMul", "MatMulInteger", "QLinearMatMul", "DynamicQuantizeMatMul", "MatMulIntegerToFloat", "MatMulNBits",
                              "FusedMatMul"):
            total += 2 * out * of[0][-1 - bool(given.get("transA"))]
        elif node.op_type in ("Gemm", "QGemm", "FusedGemm"):
            total += 2 * out * of[0][0 if given.get("transA") else 1]
        elif node.op_type in ("LSTM", "GRU"):
            total += 2 * of[0][0] * of[0][1] * (math.prod(of[1]) + math.prod(of[2]))
    return total


def files(names):
    """Name, model, FLOPs and where they are from, inputs."""
    models = {name: (model.eval(), inputs) for name, model, inputs in sources() if not names or any(one.startswith(name) for one in names)}
    traced = {}
    for name, (model, inputs) in models.items():
        recurrent = name in ("lstm", "gru")
        for dynamo in (False, True):
            try:
                proto = exported(model, inputs, dynamo)
            except Exception as error:  # of the exporter
                print(f"{name}: the exporter {'dynamo' if dynamo else 'that traces'} fails: {str(error)[-120:]}")
                continue
            arrays = [one.numpy() for one in inputs]
            traced.setdefault(name, proto)
            count = (flops_by_onnxruntime(proto, arrays) if recurrent and not dynamo else None if recurrent else flops_by_torch(model, inputs))
            if count is not None:
                yield f"{name}_{'dynamo' if dynamo else 'traced'}", proto, count, ("onnxruntime" if recurrent else "flop_counter"), arrays
    yield from quantized(traced, models)
    yield from scripted()


def quantized(traced, models):
    from onnxruntime.quantization import (CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static)
    from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer
    from onnxruntime.transformers import optimizer

    class Inputs(CalibrationDataReader):
        def __init__(self, name, arrays):
            self.left = [{name: array} for array in arrays]

        def get_next(self):
            return self.left.pop() if self.left else None

    with tempfile.TemporaryDirectory() as scratch:
        place, out = Path(scratch) / "in.onnx", Path(scratch) / "out.onnx"

        def made(name, write, source="flop_counter of the source"):
            model, inputs = models[name.split("-")[0]]
            onnx.save(traced[name.split("-")[0]], place)
            write()
            return (name.replace("-", "_"), onnx.load(out), flops_by_torch(model, inputs), source, [one.numpy() for one in inputs])

        for name in [one for one in ("resnet18", "unet", "mlp", "vit") if one in traced]:
            data = [models[name][1][0].numpy()]
            yield made(f"{name}-qdq", lambda: quantize_static(place, out, Inputs("x", data), quant_format=QuantFormat.QDQ, per_channel=True))
        for name in [one for one in ("unet", "mlp") if one in traced]:
            data = [models[name][1][0].numpy()]
            yield made(f"{name}-qoperator", lambda: quantize_static(place, out, Inputs("x", data), quant_format=QuantFormat.QOperator))
        for name in [one for one in ("bert", "mlp", "gpt2") if one in traced]:
            yield made(f"{name}-dynamic", lambda: quantize_dynamic(place, out, weight_type=QuantType.QInt8))

        def four_bits():
            quantizer = MatMulNBitsQuantizer(onnx.load(place), block_size=16)
            quantizer.process()
            quantizer.model.save_model_to_file(str(out))

        if "llama" in traced:
            yield made("llama-int4", four_bits)

        def by_onnxruntime():
            options = onnxruntime.SessionOptions()
            options.log_severity_level, options.optimized_model_filepath = 4, str(out)
            options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
            onnxruntime.InferenceSession(str(place), options, ["CPUExecutionProvider"])

        for name in [one for one in ("resnet18", "bert", "convnext") if one in traced]:
            yield made(f"{name}-optimised", by_onnxruntime)
        if "bert" in traced:
            yield made("bert-fused", lambda: optimizer.optimize_model(str(place), "bert", num_heads=4, hidden_size=32).save_model_to_file(str(out)))


CUSTOM = onnxscript.values.Opset("custom", 1)


@onnxscript.script(CUSTOM)
def Layer(x, w, b):
    return op.Relu(op.Add(op.MatMul(x, w), b))


@onnxscript.script(default_opset=op)
def called(x: FLOAT[4, 16], w: FLOAT[16, 16], b: FLOAT[16]) -> FLOAT[4, 16]:
    return Layer(Layer(x, w, b), w, b)


@onnxscript.script(default_opset=op)
def looped(x: FLOAT[4, 16], w: FLOAT[16, 16]) -> FLOAT[4, 16]:
    y = x
    for i in range(5):
        y = op.MatMul(y, w)
    return y


@onnxscript.script(default_opset=op)
def branched(x: FLOAT[4, 16], w: FLOAT[16, 16]) -> FLOAT[4, 16]:
    if op.ReduceSum(x) > op.Constant(value_float=0.0):
        y = op.MatMul(x, w)
    else:
        y = op.MatMul(x, op.Transpose(w))
    return y


def scripted():
    """Functions, branches and loops as onnxscript writes them."""
    arrays = [np.ones((4, 16), np.float32), np.ones((16, 16), np.float32), np.ones(16, np.float32)]
    one = 2 * 4 * 16 * 16
    yield "called_by_onnxscript", called.to_model_proto(), 2 * one, "2 x 2 x 4 x 16 x 16", arrays
    yield "looped_by_onnxscript", looped.to_model_proto(), 5 * one, "5 x 2 x 4 x 16 x 16", arrays[:2]
    yield "branched_by_onnxscript", branched.to_model_proto(), one, "2 x 4 x 16 x 16", arrays[:2]


def without_weights(graph):
    """Shapes alone, of all but short lists of integers and single numbers."""
    for tensor in [*graph.initializer, *(a.t for node in graph.node for a in node.attribute if a.HasField("t"))]:
        is_list = (tensor.data_type in (TensorProto.INT64, TensorProto.INT32, TensorProto.BOOL) and math.prod(tensor.dims) <= 4096)
        if not is_list and math.prod(tensor.dims) > 8:
            for held in ("raw_data", "float_data", "int32_data", "int64_data", "double_data"):
                tensor.ClearField(held)
    for node in graph.node:
        node.doc_string = ""
        del node.metadata_props[:]
        for a in node.attribute:
            if a.HasField("g"):
                without_weights(a.g)
    del graph.metadata_props[:]


def main(names):
    from roof.onnx_reading import network

    rows, wrong = [], 0
    with zipfile.ZipFile(HERE / "data" / "onnx_exports.zip", "w", zipfile.ZIP_LZMA) as kept, tempfile.TemporaryDirectory() as scratch:
        for name, model, flops, source, arrays in files(names):
            if names and name not in names:
                continue
            whole, model = model, onnx.ModelProto()
            model.CopyFrom(whole)
            without_weights(model.graph)
            for function in model.functions:
                function.doc_string = ""
            place = Path(scratch) / f"{name}.onnx"
            place.write_bytes(model.SerializeToString())
            kept.writestr(zipfile.ZipInfo(place.name), place.read_bytes(), zipfile.ZIP_LZMA)
            time_first = name == "lstm_traced"
            sizes = {"batch": 7} if time_first else {}
            batch = arrays[0].shape[1 if time_first else 0]
            rows.append({"file": name, "batch": batch, "sizes": ",".join(f"{a}={b}" for a, b in sizes.items()), "flops": int(flops),
                         "source": source})
            try:
                counted = network.read(place, batch, sizes)
                unknown = [f"{one.kind} at '{one.name}': {one.unknown}" for one in counted.unknown()]
                if counted.flops() != flops or unknown:
                    wrong += 1
                    print(f"{name}: {counted.flops():.0f}, not {flops:.0f} ({source}); unknown: {unknown[:3]}", flush=True)
                rows[-1]["unknown"] = len(unknown)
            except Exception as error:
                wrong += 1
                print(f"{name}: {type(error).__name__} {error}", flush=True)
    with open(HERE / "data" / "onnx_exports.csv", "w", newline="", encoding="utf-8") as out:
        table = csv.DictWriter(out, ["file", "batch", "sizes", "flops", "unknown", "source"], lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    print(f"{len(rows)} files, {wrong} counted otherwise")


if __name__ == "__main__":
    main(sys.argv[1:])
