"""Files written by hand to take all memory, to compute without end or to end the process: roof answers each within 500 MB with a sentence, or with
the answer that the file asks for.

usage: test_written_files.py ROOF
"""

import gzip
import itertools
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

ROOF = None
MOST_BYTES = 500 << 20
MOST_SECONDS = 60  # of a loaded machine; without the bounds that are tested none of these ends


def number(value):
    value &= (1 << 64) - 1
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def whole(field, value):
    return number(field << 3) + number(value)


def text(field, value):
    data = value.encode() if isinstance(value, str) else value
    return number(field << 3 | 2) + number(len(data)) + data


def attribute(name, values):
    if isinstance(values, int):
        return text(5, text(1, name) + whole(3, values) + whole(20, 2))
    return text(5, text(1, name) + b"".join(whole(8, value) for value in values) + whole(20, 7))


def node(operation, inputs, output, **attributes):
    return text(1, b"".join(text(1, name) for name in inputs) + text(2, output) + text(3, "at " + output) + text(4, operation) +
                b"".join(attribute(name, values) for name, values in attributes.items()))


def tensor(name, dims, kind=1, values=()):
    return text(5, b"".join(whole(1, dim) for dim in dims) + whole(2, kind) + b"".join(whole(7, value) for value in values) + text(8, name))


def value(name, dims):
    shape = b"".join(text(1, whole(1, dim) if isinstance(dim, int) else text(2, dim)) for dim in dims)
    return text(1, name) + text(2, text(1, whole(1, 1) + text(2, shape)))


def network(nodes, tensors, last, features):
    """An ONNX file of images of 3x8x8 that ends in ten classes."""
    end = [node("GlobalAveragePool", [last], "pooled"), node("Flatten", ["pooled"], "flat"), node("MatMul", ["flat", "weights"], "y")]
    graph = b"".join(nodes + end) + text(2, "g") + b"".join(tensors + [tensor("weights", (features, 10))])
    return whole(1, 8) + text(7, graph + text(11, value("x", ("b", 3, 8, 8))) + text(12, value("y", ("b", 10))))


def convolution(stride):
    return network([node("Conv", ["x", "w"], "c", strides=[stride, stride])], [tensor("w", (8, 3, 3, 3))], "c", 8)


def pool(stride):
    return network([node("MaxPool", ["x"], "c", kernel_shape=[3, 3], strides=[stride, stride])], [], "c", 3)


def doubling(times):
    lists = [node("Concat", [f"l{k}", f"l{k}"], f"l{k + 1}", axis=0) for k in range(times)]
    return network(lists + [node("Reshape", ["x", f"l{times}"], "c")], [tensor("l0", (1,), 7, (1,))], "c", 3)


def chain(length):
    return network([node("Relu", [f"r{k}" if k else "x"], f"r{k + 1}") for k in range(length)], [], f"r{length}", 3)


class WrittenFiles(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.place = Path(scratch.name)

    def run_roof(self, *words):
        limit = lambda: resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, MOST_BYTES))
        return subprocess.run([ROOF, *words], cwd=self.place, capture_output=True, text=True, timeout=MOST_SECONDS, preexec_fn=limit, check=False,
                              env={**os.environ, "OMP_NUM_THREADS": "1"})

    def refused(self, words, *commands):
        for command in commands:
            with self.subTest(command=command):
                done = self.run_roof(*command)
                self.assertIn(done.returncode, (1, 2), done.stderr)
                self.assertRegex(done.stderr, words)

    def test_networks(self):
        for name, content, words in (("stride", convolution(0), "strides of 0x0"), ("pool", pool(0), "strides of 0x0"),
                                     ("wrapped", convolution(1 << 32), "strides of 4294967296x4294967296"),
                                     ("doubling", doubling(40), "262,144 integers|a tensor cannot be of")):
            (self.place / (name + ".onnx")).write_bytes(content)
            if name == "doubling":  # answered by the package onnx, where it is installed
                done = self.run_roof("estimate", name + ".onnx", "--batch", "1")
                self.assertRegex(done.stdout + done.stderr, words + "|onnx is not installed|its shapes are unknown")
            else:
                self.refused(words + "|onnx is not installed", ["estimate", name + ".onnx", "--batch", "1"])
            self.refused(words, ["run", name + ".onnx", "--batch", "1", "--out", "run"])

    def test_a_network_of_a_hundred_thousand_operators(self):
        (self.place / "chain.onnx").write_bytes(chain(100_000))
        done = self.run_roof("estimate", "chain.onnx", "--batch", "1")
        self.assertEqual(0, done.returncode, done.stderr)

    def database(self, where):
        with sqlite3.connect(self.place / "made.sqlite") as made:
            made.executescript("CREATE VIEW StringIds AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) "
                               f"SELECT x AS id, 'name' || x AS value FROM n {where};")

    def test_a_database_of_views(self):
        for where in ("", "WHERE x < 0"):
            self.database(where)
            self.refused("'StringIds' is no table", ["import", "made.sqlite", "--out", "imported"])
            os.remove(self.place / "made.sqlite")

    def test_deep_and_wide_json(self):
        for name, content in (("deep.json", '{"empirical": {"gbytes": ' + "[" * 3_000_000), ("wide.json", '{"empirical": {"gbytes": [' + "1," * 3_000_000),
                              ("perf.json", '{"counter-value": 1, "event": "x", "y": ' + "[" * 3_000_000 + "\n"),
                              ("trace.json", '{"traceEvents": ' + "[" * 3_000_000)):
            (self.place / name).write_text(content, encoding="ascii")
            self.refused("roof: ", ["import", name, "--out", "imported"])

    def test_a_compressed_file_that_unfolds(self):
        with gzip.open(self.place / "trace.json.gz", "wb") as file:
            file.write(b'{"traceEvents": [')
            for _ in range(300):
                file.write(b" " * (1 << 20))
        self.refused("the file ends early", ["import", "trace.json.gz", "--out", "imported"])

    def test_a_signal_ends_a_command_that_measures_nothing(self):
        (self.place / "trace.json").write_text('{"traceEvents": [' + ",".join(
            f'{{"ph": "X", "cat": "kernel", "name": "k{k}", "ts": {k}, "dur": 1}}' for k in range(300_000)) + "]}", encoding="ascii")
        for number_of_signal, seconds in itertools.product((signal.SIGTERM, signal.SIGINT, signal.SIGHUP), (0.02, 0.05, 0.2)):
            process = subprocess.Popen([ROOF, "import", "trace.json", "--out", f"out{number_of_signal}-{seconds}"], cwd=self.place,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            time.sleep(seconds)
            process.send_signal(number_of_signal)
            _, said = process.communicate(timeout=MOST_SECONDS)
            self.assertEqual((-number_of_signal, b""), (process.returncode, said))


if __name__ == "__main__":
    ROOF = Path(sys.argv[1]).resolve()
    unittest.main(argv=sys.argv[:1])
