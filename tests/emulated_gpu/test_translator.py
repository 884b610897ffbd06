"""The translation knows an instruction or fails."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).parent / "translator" / "translate.py"
FRAME = """.version 9.0
.target sm_80
.shared .align 4 .b8 own[64];
.shared .align 4 .b8 others[4096];
.entry kernel(.param .u64 kernel_param_0)
{{
\t.reg .b32 %r<4>;
\t.reg .b64 %rd<4>;
\tld.param.u64 %rd1, [kernel_param_0];
\t{}
\tret;
}}
"""


def translate(instruction):
    with tempfile.TemporaryDirectory() as folder:
        source, target = pathlib.Path(folder, "in.ptx"), pathlib.Path(folder, "out.cpp")
        source.write_text(FRAME.format(instruction))
        run = subprocess.run([sys.executable, "-B", SCRIPT, source, target], capture_output=True, text=True)
        return run.returncode, run.stderr, target.read_text() if target.exists() else ""


class Translation(unittest.TestCase):
    def test_known_instructions_become_code(self):
        for instruction, code in [("add.s32 %r1, %r2, 7;", "r_r1 = r_r2 + u32(7ll);"),
                                  ("@%r1 bra $L; $L:", "goto r__L;"),
                                  ("ld.global.cg.v2.u32 {%r1, %r2}, [%rd1+8];", "load_global<u32, 2>"),
                                  ("{ .reg .pred p; setp.ne.s32 p, %r1, 0; selp.u32 %r2, 1, 0, p; }", "r_p ? ")]:
            status, message, text = translate(instruction)
            self.assertEqual(status, 0, message)
            self.assertIn(code, text)

    def test_a_kernel_has_the_shared_variables_that_it_mentions(self):
        for instruction, shared_bytes in [("add.s32 %r1, %r2, 7;", 0), ("mov.u32 %r1, own;", 64)]:
            self.assertIn(f"{{kernel_0, {shared_bytes}, ", translate(instruction)[2])

    def test_unknown_instructions_fail_with_their_text(self):
        for instruction in ["popc.b32 %r1, %r2;", "ld.local.u32 %r1, [%rd1];", "ld.u32 %r1, [%rd1];", "ld.global.lu.u32 %r1, [%rd1];",
                            "add.sat.s32 %r1, %r2, %r3;", "setp.lt.and.s32 %r1, %r2, %r3, %r1;", "atom.global.cas.b32 %r1, [%rd1], %r2, %r3;",
                            "cvt.rna.tf32.f32 %r1, %r2;", "bar.sync 0, 64, 3;", "shfl.sync.idx.b32 %r1, %r2, 0, 31, -1;",
                            "fence.sc.gpu;", "add.s32 %r1, %r9, 1;"]:
            status, message, text = translate(instruction)
            self.assertNotEqual(status, 0, instruction)
            self.assertIn(instruction.split()[0].rstrip(";"), message)
            self.assertEqual(text, "")


if __name__ == "__main__":
    unittest.main()
