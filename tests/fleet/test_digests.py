"""Digests that are whole, damaged, or of another program."""

import gzip
import math
import os
import random
import unittest
from datetime import datetime, timezone

import needed  # noqa: F401
from made_fleets import checksum, sealed
from roof.fleet.digests import parse_digest, seconds_of
from roof.texts import InputError

TRIES = int(os.environ.get("ROOF_MUTATIONS", "3000"))


DIGEST = """what,name,value,low,high,unit,state,n,spec,rounds
fact,node,n17,,,,,,,
fact,kind,made-26cpu,,,,,,,
fact,plan,p,,,,,,,
fact,revision,r,,,,,,,
fact,time,2026-11-22T18:02:16Z,,,,,,,
fact,BIOS,"2.1, beta",,,,,,,
ceiling,cpu L1,2e11,1.9e+11,2.1E11,B/s,steady,30,3e11,5
ceiling,cpu L2,1e-9,1e-9,1e-9,s,moving,0,5e-10,0
ceiling,cpu DRAM,5e-8,4e-8,,s,steady,31,,6
link,n17 n18,3e9,2e9,4e9,B/s,slow,30,,7
end,,10,,,,,,,""".split("\n")
CHANGED = "this line or one to 12 is not as it was written, or of another run"
CUT = " it is cut off"
COLUMNS = "its columns are not those of a digest, or have no checksums"


def told(rates):
    return *rates[:3], rates.numbers.tolist()


class Digests(unittest.TestCase):
    def forged(self, place, cell, text):
        cells = DIGEST[place].split(",")
        cells[cell] = text
        return sealed([*DIGEST[:place], ",".join(cells), *DIGEST[place + 1:]]).encode()

    def refused(self, sentence, file):
        with self.assertRaises(InputError) as raised:
            parse_digest(file, "d")
        self.assertEqual(f"d:{sentence}", str(raised.exception))

    def test_a_digest_reads_back_as_it_was_written_in_either_form(self):
        text = sealed(DIGEST, "abc").encode()
        seconds = datetime(2026, 11, 22, 18, 2, 16, tzinfo=timezone.utc).timestamp()
        for file in (text, gzip.compress(text), gzip.compress(text[:100]) + gzip.compress(text[100:])):
            found, proof = parse_digest(file, "d")
            self.assertEqual(("n17", "made-26cpu", "p", "r", "2026-11-22T18:02:16Z"), found.key())
            self.assertEqual(("abc", {"BIOS": "2.1, beta"}, seconds, text.decode()[-9:-1]),
                             (found.run, found.facts, found.seconds, proof))
            numbers = [[2e11, 1e-9, 5e-8], [1.9e11, 1e-9, 4e-8], [2.1e11, 1e-9, math.inf], [3e11, 5e-10, 0], [5, 0, 6]]
            words = ("cpu L1", "cpu L2", "cpu DRAM"), ("B/s", "s", "s"), ("steady", "moving", "steady")
            self.assertEqual((*words, numbers), told(found.ceilings))
            self.assertEqual((("n17 n18",), ("B/s",), ("slow",), [[3e9], [2e9], [4e9], [0], [7]]), told(found.links))
        older = [line.rsplit(",", 1)[0] for line in (*DIGEST[:10], DIGEST[11].replace("10", "9"))]
        found, _ = parse_digest(sealed(older).encode(), "d")
        self.assertEqual(("", [0, 0, 0]), (found.run, found.ceilings.rounds.tolist()))
        self.assertEqual(((), (), (), [[]] * 5), told(found.links))
        self.assertEqual("x" * 200, parse_digest(self.forged(2, 2, "x" * 200), "d")[0].kind)
        self.assertEqual("node", parse_digest(self.forged(7, 1, "node"), "d")[0].ceilings.names[0])

    def test_ceilings_that_two_digests_share_are_those_without_a_bound(self):
        one, _ = parse_digest(sealed(DIGEST).encode(), "d")
        rest = [DIGEST[9].replace(",,s", ",6e-8,s"), DIGEST[8], DIGEST[7].replace("L1", "L3"), *DIGEST[10:]]
        for both in one.common_rates(parse_digest(sealed([*DIGEST[:7], *rest]).encode(), "d")[0]):
            self.assertEqual((("cpu L2",), ("s",), ("moving",), [[1e-9], [1e-9], [1e-9], [5e-10], [0]]), told(both))

    def test_the_time_is_told_as_far_as_it_can_be_read(self):
        day = datetime(1969, 2, 28, tzinfo=timezone.utc).timestamp()
        for text, seconds in (("T18:02:16Z", 64936), ("T23:59:61Z", 86401), ("T23:59:62", 86340), ("T18:62:16", 64800),
                              ("T1:02:16", 0), ("", 0), ("T\u0661\u0661:02", 0), ("T62:00", 0), ("T05", 18000)):
            self.assertEqual(day + seconds, seconds_of("1969-02-28" + text), text)

    def test_what_no_measurement_has_is_refused(self):
        for cell in (2, 3, 4, 8):
            more = ("", "1e999") if cell < 4 else ()
            for number in ("nan", "-1e11", "0", "x", "1_0", " 1", "0x10", "\u0663", "x" * 41, *more):
                shown = "x" * 40 + "\u2026" if len(number) == 41 else number
                self.refused(f"8: '{shown}' is no number above 0", self.forged(7, cell, number))
        for place, cell, text, sentence in (
                *((place, cell, text, f"{place + 1}: the value lies outside its interval")
                  for place, cell, text in ((7, 2, "2.11e11"), (7, 3, "2.01e11"), (9, 3, "6e-8"))),
                (9, 7, "1.5", "10: '1.5' is no number of samples"), (8, 7, "-3", "9: '-3' is no number of samples"),
                (7, 7, "x" * 41, f"8: '{'x' * 40}\u2026' is no number of samples"),
                (7, 9, "", "8: '' is no number of rounds"), (10, 9, "1e1", "11: '1e1' is no number of rounds"),
                (1, 2, "../n1", " '../n1' is no node's name"), (5, 2, "yesterday-22T", " 'yesterday-22T' is no time"),
                (5, 2, "2026-13-22T00:00:00Z", " '2026-13-22T00:00:00Z' is no time"),
                (5, 2, "2026-11-22 18:02:16Z", " '2026-11-22 18:02:16Z' is no time"),
                (2, 1, "node", " a name stands twice"), (9, 0, "script", "10: it is no fact, ceiling, link or end"),
                (7, 0, "end", "9: it stands after the end"), (10, 0, "end", "12: it stands after the end"),
                (11, 2, "9", CUT), (11, 0, "fact", CUT),
                (2, 1, "sort", " it names no kind"), (3, 2, "", " it names no plan"),
                (2, 2, "x" * 201, " a cell is too long"), (2, 1, "ki\rnd", " it is no CSV in UTF-8"),
                (7, 9, "5,", " its lines have not 11 cells each, as its header has"),
                *((10, 1, ends, f" '{ends[:40]}{ends[40:] and chr(0x2026)}' are not the names of two nodes")
                  for ends in ("n18", "n17 ../n18", " n18", "n17 n18 n19", "n" * 41))):
            self.refused(sentence, self.forged(place, cell, text))

    def test_what_is_cut_changed_moved_or_too_long_is_refused(self):
        text, long = sealed(DIGEST, "abc").encode(), b"x" * (1 << 20)
        first = checksum(DIGEST[:5])
        proofs = ["block_checksum", *[""] * 3, first, *[""] * 6, checksum([first, *DIGEST[5:]])]
        blocks = "".join(f"{line},{proof}\n" for line, proof in zip(DIGEST, proofs)).encode()
        self.assertEqual("n17", parse_digest(blocks, "d")[0].node)
        for sentence, *files in (
                ("2: " + CHANGED.replace("12", "5"), blocks.replace(b"made", b"mad3")),
                (f"6: {CHANGED}", blocks.replace(b"beta", b"b3ta")),
                (f"2: {CHANGED}", text.replace(b"made", b"mad3"), text.replace(b":abc", b":abd")),
                ("13: " + CHANGED.replace("12", "13"), text + b"x\n"),
                (CUT, text[:-1], text.split(b"\n")[0] + b"\n", text + b"x,\n", text + b"x"),
                (f" {COLUMNS}", b"", b"id,seconds\n", text.replace(b":abc", b"abc"), long, gzip.compress(long)),
                (" it is longer than 1 MiB", long + b"x", gzip.compress(long + b"x")),
                (" it is damaged: its compressed form is cut off", gzip.compress(text)[:50]),
                (" it is damaged: it cannot be decompressed", b"\x1f\x8b" + b"x" * 9)):
            for file in files:
                self.refused(sentence, file)

    def test_no_mutated_digest_is_believed_or_ends_in_a_traceback(self):
        chance = random.Random(20261128)
        text = sealed(DIGEST).encode()
        whole, _ = parse_digest(text, "d")
        for number in range(TRIES):
            file = bytearray(text if number % 3 else gzip.compress(text, mtime=0))
            for _ in range(chance.randint(1, 3)):
                at = chance.randrange(len(file))
                more = bytes(chance.randrange(256) for _ in range(chance.choice((0, 1, 1, 4))))
                file[at : at + chance.choice((0, 1, 1, 5, 40))] = more
            try:
                found, _ = parse_digest(bytes(file), "d")
            except InputError as error:
                self.assertNotIn("\n", str(error))
                continue
            self.assertEqual(whole.key(), found.key())  # a mutation without effect, such as in the header of gzip
            self.assertEqual(whole.ceilings.numbers.tolist(), found.ceilings.numbers.tolist())


if __name__ == "__main__":
    unittest.main()
