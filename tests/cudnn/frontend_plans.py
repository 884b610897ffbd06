"""Compares the kernels that cuDNN compiles for our graphs of attention with those for cudnn-frontend's own SDPA, byte by byte. By hand, where
nvidia-cudnn-frontend 1.32.0 can be imported and libnvrtc.so.13 is on the loader's path:

    python3 tests/cudnn/frontend_plans.py build
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

MAJOR = {"a100": "8", "h200": "9", "b200": "10"}
HERE = pathlib.Path(__file__).resolve()
IMAGES, POSITIONS, HEADS, CHANNELS = 4, 1024, 12, 64  # as in test_compiled.cpp


def plan(chip, direction):
    """Makes a plan by the frontend. The empty driver prints the code of its kernels."""
    import cudnn  # pylint: disable=import-error
    graph = cudnn.pygraph(io_data_type=cudnn.data_type.BFLOAT16, intermediate_data_type=cudnn.data_type.FLOAT,
                          compute_data_type=cudnn.data_type.FLOAT,
                          device_property=cudnn.create_device_properties((HERE.parent / "data" / f"{chip}.json").read_text(encoding="utf-8")))
    shape = [IMAGES, HEADS, POSITIONS, CHANNELS]

    def strides(heads):
        row = heads * CHANNELS
        return [POSITIONS * row, CHANNELS, row, 1]

    def tensor(name, heads):
        return graph.tensor(name=name, dim=shape, stride=strides(heads), data_type=cudnn.data_type.BFLOAT16)

    queries, keys, values = (tensor(name, 3 * HEADS) for name in "qkv")
    mask = {"diagonal_alignment": cudnn.diagonal_alignment.TOP_LEFT, "diagonal_band_right_bound": 0, "attn_scale": CHANNELS ** -0.5}
    numbers = {"dim": [*shape[:3], 1], "stride": [HEADS * POSITIONS, POSITIONS, 1, 1], "data_type": cudnn.data_type.FLOAT}
    if direction == "forward":
        result, sums = graph.sdpa(q=queries, k=keys, v=values, generate_stats=True, **mask)
        result.set_output(True).set_dim(shape).set_stride(strides(HEADS))
        sums.set_output(True).set_data_type(cudnn.data_type.FLOAT)
    else:
        given = {"o": tensor("o", HEADS), "dO": tensor("do", HEADS), "stats": graph.tensor(name="l", **numbers)}
        for one in graph.sdpa_backward(q=queries, k=keys, v=values, **given, use_deterministic_algorithm=direction.endswith("order"), **mask):
            one.set_output(True).set_dim(shape).set_stride(strides(3 * HEADS))
    graph.validate()
    graph.build_operation_graph()
    graph.create_execution_plans([cudnn.heur_mode.A])
    graph.build_plans()


def lines_of(words, **environment):
    done = subprocess.run(words, capture_output=True, text=True, check=False, env={**os.environ, **environment})
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: {done.stderr}")
    return done.stdout.splitlines()


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    program = build / "bin" / "test_cudnn"
    ours, code = {}, []
    for line in lines_of([program, "[.compiled]"]):
        if line.startswith(("code ", "kernel ")):
            code.append(line)
        elif found := re.match(rf"plan (\w+) (\w+) {CHANNELS}( in order)?:", line):
            ours[found[1], found[2] + (found[3] or "")] = code
        if line.startswith("plan "):
            code = []
    if not ours:
        sys.exit("nothing was compiled: is there a libnvrtc.so.13?")
    linked = [line.split() for line in lines_of(["ldd", program])]
    folders = [pathlib.Path(words[2]).parent for words in linked if words[0].startswith(("libcudnn.so", "libcublasLt.so"))]
    with tempfile.TemporaryDirectory() as folder:
        for name in ("libcuda.so.1", "libcudart.so.13"):
            shutil.copy(build / "tests" / "cudnn" / "empty_driver" / "libcuda.so.1", pathlib.Path(folder, name))
        path = ":".join(map(str, filter(None, [folder, *folders, os.environ.get("LD_LIBRARY_PATH")])))
        same = []
        for key, code in ours.items():
            lines = lines_of([sys.executable, HERE, *key], LD_LIBRARY_PATH=path, EMPTY_DRIVER_MAJOR=MAJOR[key[0]])
            same.append(code == [line for line in lines if line.startswith(("code ", "kernel "))])
            print(*key, "the same code" if same[-1] else "OTHER CODE")
    return 0 if all(same) else 1


if __name__ == "__main__":
    if len(sys.argv) == 3:
        plan(*sys.argv[1:])
    else:
        sys.exit(main() if len(sys.argv) == 2 else __doc__)
