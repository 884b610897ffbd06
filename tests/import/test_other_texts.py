"""Texts that are of no format here are named, with the command that writes one."""

import unittest

from importing import refusal


class OtherTexts(unittest.TestCase):
    def test_each_is_named(self):
        rocprof = '"Index","KernelName","gpu-id","queue-id"\n0,"axpy",0,0\n'
        for text, *parts in (("==42== NVPROF is profiling process 42\n==42== Profiling result:\n", "a text of nvprof", "nsys profile"),
                             ('"Time (%)","Total Time (ns)","Instances"\n"99.0","100","1"\n', "a summary of `nsys stats`", "nsys export"),
                             (" Time (%)  Total Time (ns)  Instances\n", "a summary of `nsys stats`", "nsys export"),
                             ('"Name","Calls","TotalDurationNs"\n"axpy",1,2\n', "a table of rocprof", "export_chrome_trace()"),
                             ('{"Type":48,"CudaEvent":{}}\n{"Type":48}\n', "lines of JSON", "nsys export"),
                             ("version https://git-lfs.github.com/spec/v1\n", "a pointer of Git LFS", "git lfs pull"),
                             ("\n<!DOCTYPE html><html>\n", "a page of the Web"), ("trace.json" + "\0" * 247 + "ustar\0", "an archive", "tar xf"),
                             ("ARROW1\0\0", "a table in Arrow", "nsys export"), ("7z\u00bc", "the format is unknown"),
                             ("# To display the perf.data header info, use --header\n", "the text of `perf report`", "perf stat -j"),
                             (rocprof, "a table of rocprof", "export_chrome_trace()"), ("hello\n", "the format is unknown", "Nsight Compute"),
                             ("a,b\n1,2\n", "the format is unknown", "likwid"), ("", "it is empty")):
            for part in parts:
                self.assertIn(part, refusal(text))
            self.assertEqual(refusal(text).count("\n"), 0)


if __name__ == "__main__":
    unittest.main()
