"""The GPU kernels as the assembler left them, in the object that is shipped: the instructions that are counted are there, as
many as are counted, as wide as they are said to be, and nothing goes through local memory. ROOF_GPU_PART names the object."""

import os
import re
import unittest
from pathlib import Path

import machine_code

SOURCES = Path(__file__).resolve().parents[2] / "ert" / "gpu" / "kernels"
KERNELS = machine_code.kernels(os.environ["ROOF_GPU_PART"])

CHAIN_INSTRUCTIONS = 512  # ert/gpu/kernels/chains.hpp
MMA_INSTRUCTIONS = 64  # ert/gpu/kernels/mma.hpp
WGMMA_INSTRUCTIONS = 8  # ert/gpu/kernels/wgmma.hpp
SHARED_ACCESSES = 32  # ert/gpu/kernels/shared.hpp: shared_unroll * shared_vectors


def found(*words, capability=None):
    """The kernels whose names hold all words, by (compute capability, name)."""
    return {key: counts for key, counts in KERNELS.items()
            if all(word in key[1] for word in words) and capability in (None, key[0])}


def names_of(capability):
    return {name for architecture, name in KERNELS if architecture == capability}


class Object(unittest.TestCase):
    def test_holds_code_for_each_architecture(self):
        self.assertLessEqual({80, 89, 90, 100}, {capability for capability, _ in KERNELS})

    def test_holds_the_common_kernels_for_each(self):
        self.assertLessEqual(names_of(80), names_of(90) | {name for name in names_of(80) if "_GLOBAL__N__" in name})
        for word in ("chain_kernel", "mma_kernel", "stream_kernel", "shared_kernel", "chase_kernel", "intensity_kernel"):
            counts = {capability: len(found(word, capability=capability)) for capability in (80, 90, 100)}
            self.assertGreater(counts[80], 0, word)
            self.assertLessEqual(counts[80], min(counts[90], counts[100]), word)

    def test_no_kernel_goes_through_local_memory(self):
        local = {key: counts for key, counts in KERNELS.items()
                 if any(name.startswith(("LDL", "STL")) for name in counts)}
        self.assertEqual({}, local)

    def test_no_kernel_is_written_with_a_sparse_product(self):
        """The assembler makes none of a dense one, so their sources tell."""
        sources = [path for path in SOURCES.iterdir() if path.suffix in (".cu", ".cuh", ".hpp")]
        products = [line for path in sources for line in path.read_text(encoding="utf-8").splitlines()
                    if re.search(r"\b(wgmma\.mma_async|mma\.sync|tcgen05\.mma|mma\.sp)", line)]
        self.assertGreater(len(products), 4)
        self.assertEqual([], [line for line in products if re.search(r"\.sp\b", line)])


class Chains(unittest.TestCase):
    """Exactly the instructions counted: the loop is the only place for them."""

    def check(self, kind, operation, instructions):
        kernels = found("chain_kernel", f"chain_kernelI{kind}L", f"ChainOperationE{operation}E")
        self.assertEqual(6, len(kernels), "two chain counts, three architectures")
        for key, counts in kernels.items():
            with self.subTest(key):
                self.assertEqual(CHAIN_INSTRUCTIONS, sum(counts[name] for name in instructions))

    def check_at_least(self, kind, operation, instructions):
        """One of them is also used to set a register."""
        for key, counts in found(f"chain_kernelI{kind}L", f"ChainOperationE{operation}E").items():
            with self.subTest(key):
                due = sum(counts[name] for name in instructions)
                self.assertGreaterEqual(due, CHAIN_INSTRUCTIONS)
                self.assertLess(due, CHAIN_INSTRUCTIONS + 8)

    def test_fp32(self):
        self.check("f", 0, ["FFMA"])
        self.check("f", 1, ["FADD"])
        self.check("f", 2, ["FMUL"])

    def test_fp64(self):
        self.check("d", 0, ["DFMA"])
        self.check("d", 1, ["DADD"])
        self.check("d", 2, ["DMUL"])

    def test_16_bits(self):
        for kind in ("7__half2", "14__nv_bfloat162"):
            for operation in (0, 1, 2):
                self.check_at_least(kind, operation, ["HFMA2", "HADD2", "HMUL2"])

    def test_int32(self):
        for key, counts in found("chain_kernelIjL").items():
            with self.subTest(key):
                self.assertGreaterEqual(counts["IMAD"], CHAIN_INSTRUCTIONS)


class TensorCores(unittest.TestCase):
    def check(self, word, instruction, capabilities, least=MMA_INSTRUCTIONS):
        for capability in capabilities:
            kernels = found("mma_kernel", word, capability=capability)
            self.assertGreater(len(kernels), 0, (word, capability))
            for key, counts in kernels.items():
                with self.subTest(key):
                    self.assertEqual(least, counts[instruction])

    def test_mma_is_one_machine_instruction_each(self):
        for word in ("Tf32", "Fp16", "Bf16"):
            self.check(f"{word}ELNS0_3MmaE", "HMMA", (80, 90, 100))
        self.check("Int8ELNS0_3MmaE", "IMMA", (80, 90, 100))
        self.check("Fp64SmallELNS0_3MmaE", "DMMA", (80, 90, 100))
        self.check("Fp64ELNS0_3MmaE", "DMMA", (90,))

    def test_fp8_is_not_made_of_fp16(self):
        for word in ("E4m3", "E5m2"):
            self.check(f"{word}ELNS0_3MmaE", "QMMA", (89,))

    def test_wgmma_are_all_there(self):
        kernels = {"WgmmaTf32": "HGMMA", "WgmmaFp16": "HGMMA", "WgmmaBf16": "HGMMA",
                   "WgmmaE4m3": "QGMMA", "WgmmaE5m2": "QGMMA", "WgmmaInt8": "IGMMA"}
        for word, instruction in kernels.items():
            self.check(f"kernelINS0_9{word}E", instruction, (90,), WGMMA_INSTRUCTIONS)

    def test_tcgen05_are_all_there(self):
        kinds = ["UTCHMMA", "UTCHMMA", "UTCHMMA", "UTCIMMA", "UTCQMMA", "UTCQMMA"]  # in the order of enum Wgmma
        for number, kind in enumerate(kinds):
            kernels = found("tcgen05_kernel", f"WgmmaE{number}E")
            self.assertEqual([100], [capability for capability, _ in kernels])
            for key, counts in kernels.items():
                with self.subTest(key):
                    self.assertEqual(WGMMA_INSTRUCTIONS, counts[kind])


class Memory(unittest.TestCase):
    def test_streams_move_16_bytes_by_each_instruction(self):
        for key, counts in found("stream_kernel").items():
            with self.subTest(key):
                self.assertGreater(counts["LDG.128"] + counts["STG.128"], 0)
                self.assertEqual(0, counts["LDG.32"] + counts["LDG.64"])
                # load writes one sum, and every kernel its two clock readings
                self.assertLessEqual(counts["STG.32"], 1)
                self.assertEqual(2, counts["STG.64"])

    def test_loads_and_stores_are_those_of_the_operation(self):
        unrolled = 4 + 1
        due = {0: (unrolled, 0), 1: (0, unrolled), 2: (unrolled, unrolled), 3: (2 * unrolled, unrolled)}
        for operation, (loads, stores) in due.items():
            for key, counts in found(f"stream_kernelILNS0_15StreamOperationE{operation}E").items():
                with self.subTest(key):
                    self.assertEqual(loads, counts["LDG.128"])
                    self.assertEqual(stores, counts["STG.128"])

    def test_shared_memory_is_accessed_16_bytes_at_a_time_and_every_time(self):
        for operation, name in ((0, "LDS.128"), (1, "STS.128")):
            for key, counts in found(f"shared_kernelILNS0_15SharedOperationE{operation}E").items():
                with self.subTest(key):
                    self.assertEqual(SHARED_ACCESSES, counts[name])

    def test_bulk_copies_are_the_copy_engines_alone(self):
        due = {0: (2, 2), 1: (1, 5), 2: (3, 3)}  # loads: ahead and in the loop; stores: a loop that may be unrolled; copies: both
        for operation, (least, most) in due.items():
            kernels = found(f"bulk_kernelILNS0_15StreamOperationE{operation}E")
            self.assertEqual([90, 100], sorted(capability for capability, _ in kernels))
            for key, counts in kernels.items():
                with self.subTest(key):
                    self.assertTrue(least <= counts["UBLKCP"] <= most, counts)
                    self.assertEqual(0, sum(count for name, count in counts.items() if name.startswith("LDG")))
                    self.assertEqual(2, counts["STG.64"], "the clock readings")
                    self.assertEqual(operation == 0, counts["STG.32"] == 1, "the sum of a load")

    def test_a_chase_is_one_load_after_the_other(self):
        for key, counts in found("chase_kernel").items():
            with self.subTest(key):
                self.assertEqual(16 + 1, counts["LDG.64"], "16 of the loop, one of the position")

    def test_lines_of_the_l2_are_loaded_one_after_the_other(self):
        kernels = found("distance_kernel")
        self.assertEqual(3, len(kernels), "three architectures")
        for key, counts in kernels.items():
            with self.subTest(key):
                self.assertEqual(16 + 1, counts["LDG.64"], "16 that are timed, one before them")


    def test_the_lines_of_a_pool_are_timed_as_those_of_a_chain(self):
        kernels = found("pool_kernel")
        self.assertEqual(3, len(kernels), "three architectures")
        for key, counts in kernels.items():
            with self.subTest(key):
                self.assertEqual(16 + 1, counts["LDG.64"])

    def test_lines_of_a_side_are_loaded_16_bytes_at_a_time_by_a_list_in_shared_memory(self):
        kernels = found("partition_kernel")
        self.assertEqual(3, len(kernels), "three architectures")
        for key, counts in kernels.items():
            with self.subTest(key):
                self.assertEqual(4, counts["LDG.128"])
                self.assertEqual(4, counts["LDS.32"])
                self.assertEqual(2, counts["LDG.32"], "the side, and the list")


class Curve(unittest.TestCase):
    def test_each_kernel_has_the_multiply_adds_and_loads_of_its_intensity(self):
        kernels = found("intensity_kernel")
        self.assertEqual(3 * 2 * 2 * 10, len(kernels), "architectures, precisions, layouts, intensities")
        for kind, name in (("d", "DFMA"), ("f", "FFMA")):
            for multiply_adds in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512):
                vectors = (1 if multiply_adds > 64 else 4) + 1
                for key, counts in found(f"intensity_kernelI{kind}Li{multiply_adds}E").items():
                    with self.subTest(key):
                        self.assertEqual(vectors, counts["LDG.128"])
                        self.assertGreaterEqual(counts[name], vectors * multiply_adds)
                        self.assertLess(counts[name], vectors * multiply_adds + 8)


if __name__ == "__main__":
    unittest.main()
