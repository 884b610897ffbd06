"""Texts that are of no format here are named, with the command that writes one."""

import unittest

from importing import refusal


class OtherTexts(unittest.TestCase):
    def test_each_is_named(self):
        rocprof = '"Index","KernelName","gpu-id","queue-id"\n0,"axpy",0,0\n'
        for text, *parts in (("==42== NVPROF is profiling process 42\n==42== Profiling result:\n", "a text of nvprof", "nsys profile"),
                             ('"Time (%)","Total Time (ns)","Instances"\n"99.0","100","1"\n', "a summary of `nsys stats`", "nsys export"),
                             (" Time (%)  Total Time (ns)  Instances\n", "a summary of `nsys stats`", "nsys export"),
                             ("# To display the perf.data header info, use --header\n", "the text of `perf report`", "perf stat -j"),
                             (rocprof, "a table of rocprof", "export_chrome_trace()"), ("hello\n", "the format is unknown", "Nsight Compute"),
                             ("a,b\n1,2\n", "the format is unknown", "likwid"), ("", "it is empty")):
            for part in parts:
                self.assertIn(part, refusal(text))
            self.assertEqual(refusal(text).count("\n"), 0)


if __name__ == "__main__":
    unittest.main()
