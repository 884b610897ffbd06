"""The GPU kernels as the assembler left them, in the object that is shipped: the instructions that are counted are there, as
many as are counted, as wide as they are said to be, and nothing goes through local memory. ROOF_GPU_PART names the object."""

import os
import re
import unittest
from pathlib import Path

import machine_code

SOURCES = Path(__file__).resolve().parents[2] / "ert" / "gpu" / "kernels"
KERNELS = machine_code.kernels(os.environ["ROOF_GPU_PART"], SOURCES.glob("*.hpp"))
BUILT = machine_code.architectures(os.environ["ROOF_CUDA_ARCHITECTURES"])
BUILT_80 = machine_code.architectures(os.environ["ROOF_CUDA_ARCHITECTURES_80"])  # of the kernels that need 8.0
BUILT_90 = machine_code.architectures(os.environ["ROOF_CUDA_ARCHITECTURES_90"])

CHAIN_INSTRUCTIONS = 512  # ert/gpu/kernels/chains.hpp
MMA_INSTRUCTIONS = 64  # ert/gpu/kernels/mma.hpp
WGMMA_INSTRUCTIONS = 8  # ert/gpu/kernels/wgmma.hpp
SHARED_ACCESSES = 32  # ert/gpu/kernels/shared.hpp: shared_unroll * shared_vectors


def found(function, *arguments, capability=None):
    """The kernels of this name with all of these template arguments."""
    return [kernel for kernel in KERNELS
            if kernel.is_a(function, arguments) and capability in (None, kernel.capability)]


def capabilities(kernels):
    return sorted(kernel.capability for kernel in kernels)


class Object(unittest.TestCase):
    def test_holds_code_for_each_architecture(self):
        self.assertLessEqual({*BUILT, *BUILT_80, *BUILT_90, 75, 89, 90, 100, 103, 120, 121}, set(capabilities(KERNELS)))

    def test_holds_the_common_kernels_for_each(self):
        for function, built in (("chain_kernel", BUILT), ("mma_kernel", BUILT_80), ("stream_kernel", BUILT), ("shared_kernel", BUILT),
                                ("chase_kernel", BUILT), ("intensity_kernel", BUILT)):
            names = [{kernel.name for kernel in found(function, capability=capability)} for capability in built]
            self.assertGreater(len(names[0]), 0, function)
            self.assertTrue(all(each >= names[0] for each in names), function)

    def test_no_kernel_goes_through_local_memory(self):
        self.assertEqual([], [kernel for kernel in KERNELS
                              if any(name.startswith(("LDL", "STL")) for name in kernel.counts)])

    def test_no_kernel_is_written_with_a_sparse_product(self):
        """The assembler makes none of a dense one, so their sources tell."""
        sources = [path for path in SOURCES.iterdir() if path.suffix in (".cu", ".cuh", ".hpp")]
        products = [line for path in sources for line in path.read_text(encoding="utf-8").splitlines()
                    if re.search(r"\b(wgmma\.mma_async|mma\.sync|tcgen05\.mma|mma\.sp)", line)]
        self.assertGreater(len(products), 4)
        self.assertEqual([], [line for line in products if re.search(r"\.sp\b", line)])


class Chains(unittest.TestCase):
    """Exactly the instructions counted: they occur in the loop only."""

    @staticmethod
    def built(kind):
        return BUILT_80 if kind == "__nv_bfloat162" else BUILT

    def check(self, kind, operation, instructions):
        kernels = found("chain_kernel", kind, operation)
        self.assertEqual(sorted(2 * self.built(kind)), capabilities(kernels), "two chain counts for each architecture")
        for kernel in kernels:
            with self.subTest(kernel):
                self.assertEqual(CHAIN_INSTRUCTIONS, sum(kernel.counts[name] for name in instructions))

    def check_at_least(self, kind, operation, instructions):
        """One of the instructions also sets a register."""
        for kernel in found("chain_kernel", kind, operation):
            with self.subTest(kernel):
                count = sum(kernel.counts[name] for name in instructions)
                self.assertGreaterEqual(count, CHAIN_INSTRUCTIONS)
                self.assertLess(count, CHAIN_INSTRUCTIONS + 8)

    def test_fp32(self):
        self.check("float", "fma", ["FFMA"])
        self.check("float", "add", ["FADD"])
        self.check("float", "mul", ["FMUL"])

    def test_fp64(self):
        self.check("double", "fma", ["DFMA"])
        self.check("double", "add", ["DADD"])
        self.check("double", "mul", ["DMUL"])

    def test_16_bits(self):
        for kind in ("__half2", "__nv_bfloat162"):
            for operation in ("fma", "add", "mul"):
                self.check_at_least(kind, operation, ["HFMA2", "HADD2", "HMUL2"])

    def test_int32(self):
        for kernel in found("chain_kernel", "unsigned int"):
            with self.subTest(kernel):
                self.assertGreaterEqual(kernel.counts["IMAD"], CHAIN_INSTRUCTIONS)


class TensorCores(unittest.TestCase):
    def check(self, function, argument, instruction, expected_capabilities, count=MMA_INSTRUCTIONS):
        for capability in expected_capabilities:
            kernels = found(function, argument, capability=capability)
            self.assertGreater(len(kernels), 0, (function, argument, capability))
            for kernel in kernels:
                with self.subTest(kernel):
                    self.assertEqual(count, kernel.counts[instruction])

    def test_mma_is_one_machine_instruction_each(self):
        for instruction in ("tf32", "fp16", "bf16"):
            self.check("mma_kernel", instruction, "HMMA", BUILT_80)
        self.check("mma_kernel", "int8", "IMMA", BUILT_80)
        self.check("mma_kernel", "fp64_small", "DMMA", BUILT_80)
        self.check("mma_kernel", "fp64", "DMMA", [each for each in BUILT_90 if each == 90])

    def test_mma_of_turing_is_one_machine_instruction_each(self):
        for instruction, name in (("turing_fp16", "HMMA"), ("turing_int8", "IMMA")):
            self.check("mma_kernel", instruction, name, (75,))
        # Volta's has four steps; where CUDA compiles no 7.0, its code is one for 7.5.
        self.check("mma_kernel", "volta_fp16", "HMMA884", [70 if 70 in BUILT else 75], 4 * MMA_INSTRUCTIONS)

    def test_mma_with_scales_is_one_machine_instruction_each(self):
        for instruction, name in (("mxfp8", "QMMA"), ("mxfp4", "OMMA"), ("nvfp4", "OMMA")):
            self.check("mma_kernel", instruction, name, (120, 121))

    def test_fp8_is_not_made_of_fp16(self):
        for instruction in ("e4m3", "e5m2"):
            self.check("mma_kernel", instruction, "QMMA", (89,))

    def test_wgmma_are_all_there(self):
        kernels = {"WgmmaTf32": "HGMMA", "WgmmaFp16": "HGMMA", "WgmmaBf16": "HGMMA",
                   "WgmmaE4m3": "QGMMA", "WgmmaE5m2": "QGMMA", "WgmmaInt8": "IGMMA"}
        for format_name, instruction in kernels.items():
            self.check("wgmma_kernel", format_name, instruction, (90,), WGMMA_INSTRUCTIONS)

    def test_tcgen05_are_all_there(self):
        kinds = {"tf32": "UTCHMMA", "fp16": "UTCHMMA", "bf16": "UTCHMMA",
                 "int8": "UTCIMMA", "e4m3": "UTCQMMA", "e5m2": "UTCQMMA", "mxfp8": "UTCQMMA", "mxfp4": "UTCOMMA", "nvfp4": "UTCOMMA"}
        for format_name, instruction in kinds.items():
            kernels = found("tcgen05_kernel", format_name)
            self.assertEqual([100] if format_name == "int8" else [100, 103], capabilities(kernels))
            for kernel in kernels:
                with self.subTest(kernel):
                    self.assertEqual(WGMMA_INSTRUCTIONS, kernel.counts[instruction])

    def test_tcgen05_of_pairs_are_all_there(self):
        for format_name, instruction in {"tf32": "UTCHMMA", "fp16": "UTCHMMA", "bf16": "UTCHMMA", "e4m3": "UTCQMMA"}.items():
            self.check("tcgen05_pair_kernel", format_name, instruction, (100, 103), WGMMA_INSTRUCTIONS)


class Memory(unittest.TestCase):
    def test_streams_move_16_bytes_by_each_instruction(self):
        for kernel in found("stream_kernel"):
            with self.subTest(kernel):
                self.assertGreater(kernel.counts["LDG.128"] + kernel.counts["STG.128"], 0)
                self.assertEqual(0, kernel.counts["LDG.32"] + kernel.counts["LDG.64"])
                self.assertLessEqual(kernel.counts["STG.32"], 1, "the sum of a load")
                self.assertEqual(0, kernel.counts["STG.64"])

    def test_loads_and_stores_are_those_of_the_operation(self):
        unrolled = 4 + 2 + 1
        expected = {"load": (unrolled, 0), "store": (0, unrolled), "copy": (unrolled, unrolled), "triad": (2 * unrolled, unrolled)}
        for operation, (loads, stores) in expected.items():
            for kernel in found("stream_kernel", operation):
                with self.subTest(kernel):
                    self.assertEqual(loads, kernel.counts["LDG.128"])
                    self.assertEqual(stores, kernel.counts["STG.128"])

    def test_shared_memory_is_accessed_16_bytes_at_a_time_and_every_time(self):
        for operation, name in (("load", "LDS.128"), ("store", "STS.128"), ("words", "LDS.32")):
            for kernel in found("shared_kernel", operation):
                with self.subTest(kernel):
                    self.assertEqual(SHARED_ACCESSES, kernel.counts[name])

    def test_bulk_copies_use_the_copy_engines_only(self):
        # loads: ahead of the loop and in it; stores: a loop that may be unrolled; copies: both
        expected = {"load": (2, 2), "store": (1, 5), "copy": (3, 3)}
        for operation, (least, most) in expected.items():
            kernels = found("bulk_kernel", operation)
            self.assertEqual(BUILT_90, capabilities(kernels))
            for kernel in kernels:
                with self.subTest(kernel):
                    self.assertTrue(least <= kernel.counts["UBLKCP"] <= most, kernel.counts)
                    self.assertEqual(0, sum(count for name, count in kernel.counts.items() if name.startswith("LDG")))
                    self.assertEqual(0, kernel.counts["STG.64"])
                    self.assertEqual(operation == "load", kernel.counts["STG.32"] == 1, "the sum of a load")

    def test_a_chase_is_one_load_after_the_other(self):
        for kernel in found("chase_kernel"):
            with self.subTest(kernel):
                self.assertEqual(16 + 1, kernel.counts["LDG.64"], "16 of the loop, one of the position")


class Curve(unittest.TestCase):
    def test_each_kernel_has_the_multiply_adds_and_loads_of_its_intensity(self):
        kernels = found("intensity_kernel")
        self.assertEqual(len(BUILT) * 2 * 2 * 10, len(kernels), "architectures, layouts, precisions, intensities")
        for kernel in kernels:
            kind = kernel.arguments[0]
            multiply_adds = int(kernel.arguments[1])
            vectors = 1 if multiply_adds > 64 else 4 + 1  # unrolled, then one at a time for what is left
            with self.subTest(kernel):
                self.assertEqual(vectors, kernel.counts["LDG.128"])
                count = kernel.counts[{"double": "DFMA", "float": "FFMA"}[kind]]
                self.assertGreaterEqual(count, vectors * multiply_adds)
                self.assertLess(count, vectors * multiply_adds + 8)


if __name__ == "__main__":
    unittest.main()
