"""The loops for AArch64 under qemu, on NEON and SVE: their results are those that the host computes by the reference of all CPUs, and
the executed instructions, as binutils disassembles them, are those that the descriptions count."""

import collections
import os
import re
import shutil
import subprocess
import sys
import unittest
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).resolve().parent / "emulated"
BUILD = Path(os.environ.get("ROOF_AARCH64_BUILD", "build/tests/aarch64")).resolve()
EXPECTED = os.environ.get("ROOF_AARCH64_EXPECTED", "")
PROGRAMS = {"aarch64-linux-gnu-g++": "g++-aarch64-linux-gnu", "qemu-aarch64": "qemu-user"}
CODE = 0x200000000  # where emulated.cpp puts the machine code
CODE_BYTES = 4 << 20

INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\t[0-9a-f]+ \t(.*)$", re.MULTILINE)
EXECUTED = re.compile(r"^Trace 0: \S+ \[[0-9a-f]+/([0-9a-f]+)/", re.MULTILINE)
ADDRESS = re.compile(r"\[(x\d+)(?:, #(\d+)(, mul vl)?)?\]")
ELEMENT_BYTES = {"b": 1, "h": 2, "s": 4, "d": 8}
FLOPS = {"fmla": 2, "fadd": 1, "fmul": 1, "fdiv": 1, "fsqrt": 1}
PRODUCTS = {"bfdot": 2, "usdot": 4}  # in each lane of 32 bits


def missing():
    return [f"{program} is not installed (Debian package {package})" for program, package in PROGRAMS.items() if not shutil.which(program)]


def setUpModule():
    if missing():
        print("skipped: " + "; ".join(missing()), file=sys.stderr)
        raise unittest.SkipTest("; ".join(missing()))
    configure = ["cmake", "-S", SOURCE, "-B", BUILD, "-G", "Ninja", f"-DCMAKE_TOOLCHAIN_FILE={SOURCE / 'toolchain.cmake'}"]
    for command in (configure, ["cmake", "--build", BUILD]):
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


@dataclass
class Loop:
    """A line of expected.cpp, of one iteration where it does not say otherwise, and the addresses of its instructions."""
    result_bytes: int
    iterations: int
    flops: int
    loaded: int
    stored: int
    instructions: int
    name: str
    addresses: range


def flops(text, vector_bytes):
    """Of one instruction as binutils writes it."""
    name, operands = (text.split(None, 1) + [""])[:2]
    if name not in FLOPS | PRODUCTS:
        return 0
    lane_bytes = ELEMENT_BYTES[re.match(r"[vz]\d+\.\d*([bhsd])\b", operands)[1]]
    lanes = vector_bytes // lane_bytes
    return lanes * (FLOPS[name] if name in FLOPS else 2 * PRODUCTS[name])


def accesses(texts, kind, vector_bytes):
    """The bytes of each pointer at which `kind` (ldr or str) moves whole vectors."""
    found = collections.defaultdict(list)
    for text in texts:
        if re.match(kind + r"\s+[qz]\d+,", text):
            pointer, offset, is_vectors = ADDRESS.search(text).groups()
            found[pointer].append(int(offset or 0) * (vector_bytes if is_vectors else 1))
    return found


def steps(texts):
    """What is added to each pointer."""
    found = re.findall(r"^add\s+(x\d+), \1, #(0x[0-9a-f]+)$", "\n".join(texts), re.MULTILINE)
    return {pointer: int(constant, 16) for pointer, constant in found}


class Decoding(unittest.TestCase):
    def test_counts_as_by_hand(self):
        self.assertEqual(8, flops("fmla\tv1.4s, v2.4s, v3.4s", 16))
        self.assertEqual(16, flops("fmla\tz1.d, p0/m, z2.d, z3.d", 64))
        self.assertEqual(8, flops("fsqrt\tv1.8h, v2.8h", 16))
        self.assertEqual(16, flops("bfdot\tv1.4s, v2.8h, v3.8h", 16))
        self.assertEqual(64, flops("usdot\tz1.s, z2.b, z3.b", 32))
        self.assertEqual(0, flops("add\tz1.d, z2.d, z3.d", 32))
        self.assertEqual({"x4": [0, 48], "x5": [32]}, accesses(["ldr\tq1, [x4]", "ldr\tq1, [x4, #48]", "str\tq1, [x4]", "ldr\tq2, [x5, #32]"], "ldr", 16))
        self.assertEqual({"x4": [64]}, accesses(["str\tz1, [x4, #2, mul vl]"], "str", 32))


class Loops:
    isa = ""
    vector_bytes = 16

    @classmethod
    def setUpClass(cls):
        files = {name: BUILD / f"{cls.isa}.{name}" for name in ("results", "expected", "code", "trace")}
        processor = "max" if cls.isa == "neon" else f"max,{cls.isa}=on,sve-default-vector-length={cls.vector_bytes}"
        options = subprocess.run(["qemu-aarch64", "--help"], capture_output=True, text=True).stdout
        single = "-one-insn-per-tb" if "-one-insn-per-tb" in options else "-singlestep"  # before qemu 8.1
        run = ["qemu-aarch64", "-cpu", processor, single, "-d", "exec,nochain", "-dfilter", f"{CODE:#x}+{CODE_BYTES:#x}", "-D",
               files["trace"], BUILD / "emulated", cls.isa, files["results"], files["code"]]
        addresses = subprocess.run(run, check=True, capture_output=True, text=True).stdout.splitlines()
        expected = subprocess.run([EXPECTED, cls.isa, files["expected"]], check=True, capture_output=True, text=True).stdout.splitlines()
        assert len(addresses) == len(expected)
        cls.loops = []
        for line, place in zip(expected, addresses):
            begin, end = (int(word, 16) for word in place.split())
            *numbers, name = line.split(None, 6)
            cls.loops.append(Loop(*map(int, numbers), name, range(begin, end, 4)))
        objdump = ["aarch64-linux-gnu-objdump", "-D", "-b", "binary", "-m", "aarch64", f"--adjust-vma={CODE:#x}", files["code"]]
        listing = subprocess.run(objdump, check=True, capture_output=True, text=True).stdout
        cls.code = {int(address, 16): text.strip() for address, text in INSTRUCTION.findall(listing)}
        cls.executed = collections.Counter(int(address, 16) for address in EXECUTED.findall(files["trace"].read_text()))
        cls.results = files["results"].read_bytes()
        cls.expected = files["expected"].read_bytes()

    def texts(self, loop):
        return [self.code[address] for address in loop.addresses]

    def test_results_are_those_of_the_reference(self):
        self.assertEqual(len(self.expected), len(self.results))
        at = 0
        for loop in self.loops:
            with self.subTest(loop.name):
                span = slice(at, at + loop.result_bytes)
                self.assertTrue(self.expected[span] == self.results[span], "the results differ")
            at += loop.result_bytes
        self.assertEqual(at, len(self.results))

    def test_as_many_instructions_are_executed_as_described(self):
        for loop in self.loops:
            with self.subTest(loop.name):
                self.assertEqual(loop.instructions, len(loop.addresses))
                self.assertEqual({loop.iterations}, {self.executed[address] for address in loop.addresses})

    def test_flops_and_bytes_are_those_described(self):
        for loop in self.loops:
            texts = self.texts(loop)
            with self.subTest(loop.name):
                self.assertEqual(loop.flops, sum(flops(text, self.vector_bytes) for text in texts))
                for kind, moved in (("ldr", loop.loaded), ("str", loop.stored)):
                    vectors = sum(map(len, accesses(texts, kind, self.vector_bytes).values()))
                    pointers = sum(bool(re.match(kind + r"\s+x\d+,", text)) for text in texts)
                    self.assertEqual(moved, self.vector_bytes * vectors + 8 * pointers)

    def test_an_iteration_moves_each_byte_of_its_step_once(self):
        for loop in self.loops:
            texts = self.texts(loop)
            with self.subTest(loop.name):
                for kind in ("ldr", "str"):
                    for pointer, offsets in accesses(texts, kind, self.vector_bytes).items():
                        self.assertEqual(list(range(0, steps(texts)[pointer], self.vector_bytes)), sorted(offsets))

    def test_there_are_loops_of_every_kind(self):
        names = {loop.name.split()[0] for loop in self.loops}
        self.assertLessEqual({"fp64", "fp32", "fp16", "bf16", "int8", "load", "store", "copy", "update", "accumulate", "accumulate_two",
                          "triad", "chase", "additions", "multiplications", "independent"}, names)


class Neon(Loops, unittest.TestCase):
    isa = "neon"


class Sve128(Loops, unittest.TestCase):
    isa = "sve128"


class Sve256(Loops, unittest.TestCase):
    isa, vector_bytes = "sve256", 32


class Sve512(Loops, unittest.TestCase):
    isa, vector_bytes = "sve512", 64


if __name__ == "__main__":
    unittest.main()
