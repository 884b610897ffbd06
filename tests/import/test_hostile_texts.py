"""Texts that were damaged or cut off are read or refused with one sentence: no other error, no hang, no number that is none. A text that was cut off
gives the numbers of the whole, or is refused. ROOF_MUTATIONS: how many of each file [300]."""

import math
import os
import random
import tempfile
import unittest
from pathlib import Path

from importing import DATA, text_of

from roof.importing.files import import_file
from roof.texts import InputError

FILES = ("ncu_details.csv", "ncu_raw.csv", "ncu_sectors.csv", "ncu_rules.csv", "perf.json", "perf_6.1.json", "perf_german.json", "likwid.csv",
         "ert_roofline.json", "key_averages.txt")
VALUES = "7,,cycles,500000,100.00,,\n2000000,ns,duration_time:u,2000000,100.00,0.5,CPUs utilized\n" * 3
PIECES = ('"', ",", "{", "}", "[", "]", "-", ".", "9" * 400, "e", "\n", "\0", "\ufeff", "/" * 5000, "<not counted>", "TABLE,", "nan", "-1", "1e308",
          " " * 70000, "\u202f", "---", "\r")


def mutated(content, chance):
    for _ in range(chance.randint(1, 4)):
        if not content:
            break
        at, length = chance.randrange(len(content)), chance.randint(0, 20)
        piece = content[chance.randrange(len(content)) :][:length]
        content = chance.choice((content[:at] + bytes([chance.randrange(256)]) + content[at + 1 :], content[:at] + content[at + length :],
                                 content[:at] + piece + content[at:], content[:at], content[:at] + chance.choice(PIECES).encode() + content[at:]))
    return content


class HostileTexts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.place = Path(folder.name) / "x"

    def attempt(self, content):
        self.place.write_bytes(content)
        try:
            file = import_file(self.place)
        except InputError as error:
            self.assertNotIn("\n", str(error))
            self.assertLess(len(str(error)), 2000)
            return None
        for row in file.rows:
            for value in (*row.times, row.flops, row.compulsory, *(time for layer in row.layers for time in layer.times)):
                self.assertTrue(value is None or (math.isfinite(value) and value >= 0), value)
        return file

    def test_damaged_texts(self):
        count = int(os.environ.get("ROOF_MUTATIONS", "300"))
        for name, content in [*((name, (DATA / name).read_bytes()) for name in FILES), ("values", VALUES.encode())]:
            chance = random.Random(f"{name} 61")
            for turn in range(count):
                damaged = mutated(content, chance)
                with self.subTest(file=name, turn=turn):
                    self.attempt(damaged)

    def test_texts_that_were_cut_off(self):
        for name in FILES:
            text = text_of(name)
            for length in range(0, len(text), 1 + len(text) // 120):
                with self.subTest(file=name, length=length):
                    if self.attempt(text[:length].encode()):
                        self.assertEqual(text[length - 1], "\n")


if __name__ == "__main__":
    unittest.main()
