"""Texts that are of no format here are named, with the command that writes one; names, and how much is read."""

import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from importing import DATA, refusal

from roof.importing.files import Source, import_file
from roof.texts import InputError


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

    def test_what_a_reader_may_wait_for_is_not_read(self):
        with tempfile.TemporaryDirectory() as folder:
            pipe = Path(folder) / "pipe"
            os.mkfifo(pipe)
            for place in (Path("/proc/self/status"), pipe):
                with self.assertRaisesRegex(InputError, "it is empty or no regular file"):
                    import_file(place)

    def test_a_row_is_named_after_its_file(self):
        content = (DATA / "perf.json").read_bytes()
        with tempfile.TemporaryDirectory() as folder:
            for name, row in (("a.json.gz", "a"), ("b.gz", "b"), ("c.d.txt", "c.d"), ("e", "e")):
                place = Path(folder) / name
                place.write_bytes(content)
                for given, expected in (("", row), ("mine", "mine")):
                    self.assertEqual(expected, import_file(place, given).rows[0].point["model"])

    def test_a_text_is_held_up_to_its_limit(self):
        text = "7,,cycles,500000,100.00,,\n"
        for most, sentence in ((26, ""), (25, "x: it holds more than 25 characters")):
            with mock.patch.multiple("roof.importing.files", LARGEST_TEXT=most, PIECE=10):
                self.assertEqual(sentence, refusal(text))

    def test_a_csv_has_the_lines_of_its_file(self):
        source = Source(DATA / "perf.json", "x")
        for text, begin, expected in (("a;b\n'1;\"2\n3\"\n4\n", (), [(1, ["a", "b"]), (3, ["'1", "2\n3"]), (4, ["4"])]),
                                      ("a\nb\nc\n", (2,), [(2, ["b"]), (3, ["c"])])):
            self.assertEqual([(f"{source.name}:{line}", cells) for line, cells in expected],
                             list(source.table(text, ";", *begin)))
        for text, begin, sentence in (("a\nb", 0, "2: the line is cut off"), ("a\nb", 2, "2: the line is cut off"),
                                      ("a\nb\n" + "c" * 131073, 2, "3: this is no CSV: field larger than")):
            with self.assertRaisesRegex(InputError, f"^{source.name}:{sentence}"):
                list(source.table(text, ";", begin))


if __name__ == "__main__":
    unittest.main()
