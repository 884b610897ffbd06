"""Machine code of the loops that the compiler makes vectors of (target_clones), read by objdump: each clone for AVX2 and
AVX-512 has its arithmetic in loops of vectors, multiply-adds as one instruction; scalar loops are only what such a loop leaves over.

usage: test_vector_clones.py OBJECT..."""

import re
import subprocess
import sys
import unittest

CLONES = {"arch_x86_64_v3": "ymm", "arch_x86_64_v4": "[yz]mm"}  # g++ 12 takes 256 bits of AVX-512 too
WITHOUT_MULTIPLY_ADDS = {"add_positions", "add_to_rows", "drop", "mean_of", "round_to", "sum", "sum_images"}
FUNCTIONS = WITHOUT_MULTIPLY_ADDS | {"adapt", "descend", "run", "run_block", "run_losses", "run_positions", "run_row", "turn"}
ARITHMETIC = r"v(?:add|sub|mul|div|min|max|sqrt|fn?m(?:add|sub)\d+)"
MULTIPLY_ADD = r"vfn?m(?:add|sub)\d+"


def functions(objects):
    """Name, clone and instructions (address, text) of each clone."""
    listing = subprocess.run(["objdump", "--disassemble", "--no-show-raw-insn", "--demangle", *objects],
                             check=True, capture_output=True, text=True).stdout
    for head, body in re.findall(r"^[0-9a-f]+ <(.*)>:\n((?:\s+[0-9a-f]+:.*\n)+)", listing, re.MULTILINE):
        clone = next((name for name in CLONES if f"[clone .{name}" in head), None)
        name = re.search(r"(\w+)\(", head.replace("(anonymous namespace)", ""))
        if clone is not None and name is not None:
            yield name[1], clone, [(int(at, 16), text) for at, text in re.findall(r"^\s+([0-9a-f]+):\s+(.*)$", body, re.MULTILINE)]


def innermost_loops(instructions):
    """The texts of each loop that has no other within: from the target of a jump backwards to the jump. Where these overlap, as
    where a branch within a loop jumps backwards, they are one loop."""
    jumps = [(int(target, 16), at) for at, text in instructions for target in re.findall(r"^j\w+\s+([0-9a-f]+)", text)]
    spans = []
    for first, last in sorted({first: last for first, last in sorted(jumps, reverse=True) if first < last}.items()):
        if spans and spans[-1][0] < first <= spans[-1][1] < last:
            spans[-1] = (spans[-1][0], last)
        else:
            spans.append((first, last))
    for span in spans:
        if not any(other != span and span[0] <= other[0] and other[1] <= span[1] for other in spans):
            yield [text for at, text in instructions if span[0] <= at <= span[1]]


def has(loop, operation, suffix, registers=""):
    return any(re.match(rf"{operation}{suffix}\s.*{registers}", text) for text in loop)


class Clones(unittest.TestCase):
    def test_each_loop_is_one_of_vectors_or_what_such_a_loop_leaves_over(self):
        seen = {clone: set() for clone in CLONES}
        for name, clone, instructions in functions(OBJECTS):
            seen[clone].add(name)
            loops = list(innermost_loops(instructions))
            operation = ARITHMETIC if name in WITHOUT_MULTIPLY_ADDS else MULTIPLY_ADD
            vectors = [loop for loop in loops if has(loop, operation, "ps", CLONES[clone])]
            scalars = [loop for loop in loops if has(loop, operation, "ss") and not has(loop, operation, "ps")]
            with self.subTest(function=name, clone=clone):
                self.assertTrue(vectors or name == "round_to")
                # What one loop leaves over may be two loops.
                self.assertTrue(len(scalars) <= 1.1 * len(vectors) or name in WITHOUT_MULTIPLY_ADDS)
                self.assertFalse([loop for loop in vectors if has(loop, ARITHMETIC, "ss")])
        for clone, names in seen.items():
            self.assertEqual(FUNCTIONS, names, clone)


if __name__ == "__main__":
    OBJECTS = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
