"""The pages of results/examples/studies: the table of published numbers between its marks is what this file computes from `published/NAME.csv` and
`roof estimate --json`, and the answers to hypotheses about data sheets follow from the same estimates.

`python3 test_studies.py --write` writes the tables of published numbers; ROOF_PROGRAM names the binary.
"""

import csv
import functools
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGES = ROOT / "results/examples/studies"
sys.path.insert(0, str(ROOT / "tools"))
sys.dont_write_bytecode = True
import pages

MARKS = ("<!-- published numbers: written by tests/studies/test_studies.py -->", "<!-- end of the published numbers -->")
NAMES = sorted(file.stem for file in (HERE / "published").glob("*.csv"))
IMAGE_VALUES = 3 * 224 * 224
SAME = 0.1         # numbers this close agree
ROUNDING = 1.02    # a printed number may be this much beyond a roof
FAR = 10           # farther off than this, the unit or the clock is probably wrong
UNITS = {"B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "s": 1, "FLOP": 1, "FLOP/B": 1, "TFLOP/s": 1e12, "pixels": 1, "%": 0.01, "": 1}


@functools.cache
def estimated(model, batch=1, machine="", precision="fp32", phase="train", devices=1, link="", images=0):
    """The document of `roof estimate`; with a machine, that of its data sheet."""
    words = [os.environ["ROOF_PROGRAM"], "estimate", model, "--batch", str(batch), "--precision", precision, "--json"]
    if machine:
        words += ["--on", machine, "--phase", phase]
    if devices > 1:
        words += ["--gpus", str(devices), "--link", link]
    if images:
        words += ["--images", str(images)]
    with tempfile.TemporaryDirectory() as empty:
        answer = subprocess.run(words, capture_output=True, text=True, check=True, env={**os.environ, "ROOF_RESULTS": empty}, cwd=empty)
    document = json.loads(answer.stdout)
    return next(one for one in document["machines"] if one["roofs_known"] == "spec") if machine else document


# ------------------------------------------------------------------------------------------------------ published numbers

def machine_of(row):
    devices = int(row["devices"] or 1)
    return estimated(row["model"], int(row["batch"]), row["machine"], row["precision"], row["phase"], devices,
                     "nvlink" if devices > 1 else "")


def nearest(published, values):
    return min(values, key=lambda value: abs(math.log(published / value)))


def is_prefix_apart(ratio):
    return 1 / 1.3 < max(ratio, 1 / ratio) / 1000 < 1.3


def estimate_of(row, rows):
    """The estimate in SI units; None where there is none."""
    of, quantity = machine_of(row) if row["machine"] else None, row["quantity"]
    if quantity == "flop_rate":
        same = ("machine", "model", "batch", "phase")
        beside = [float(other["value"]) for other in rows if other["quantity"] == "intensity" and all(other[k] == row[k] for k in same)]
        level = of["levels"][-1]
        return min(of["peak_flop_per_s"], level["level_roof_byte_per_s"] * (beside or [level["intensity_high"]])[0])
    if quantity == "intensity":
        return of["levels"][-1]["intensity_high"]
    if quantity in ("flops", "flops_per_image"):
        flops = estimated(row["model"], int(row["batch"]), precision=row["precision"])["flops"]
        return flops["forward"] if row["phase"] == "forward" else flops["step"]
    if quantity in ("memory", "activations"):
        memory = of["memory"]
        kept, pytorch = memory["activation_bytes"], memory["activation_bytes_pytorch"]  # whose max pools keep 8 bytes a winner
        rest = 0 if quantity == "activations" else memory["total_bytes"] - kept
        return nearest(float(row["value"]) * UNITS[row["unit"]], [rest + kept, rest + pytorch])
    if quantity == "time":
        return of["layer_by_layer_s"]
    if quantity == "epoch":
        return of["epoch_s"]
    if quantity == "image":
        return IMAGE_VALUES
    if quantity == "window":
        layers = {layer["name"]: layer for layer in estimated(row["model"])["layers"]}
        assert row["layer"] == "layer1.0.conv1", "64 channels to 64"
        return math.sqrt(layers[row["layer"]]["parameters"] / (64 * 64))
    return float(of["memory"]["fits"]) if quantity == "fits" else None


def assessment_of(row, published, estimate):
    quantity = row["quantity"]
    if estimate is None:
        return "unchecked"
    if quantity in ("fits", "window"):
        return "agrees" if published == estimate else "differs"
    ratio = published / estimate
    if quantity == "flop_rate":
        return "impossible" if ratio > ROUNDING else "plausible" if ratio > 1 / FAR else "doubtful"
    if quantity in ("time", "epoch"):
        at_once = machine_of(row)["at_once_s"]
        if ratio < 1 and abs(published - at_once) <= SAME * at_once:
            return "agrees"
        return "impossible" if ratio * ROUNDING < 1 else "plausible" if ratio < FAR else "doubtful"
    if abs(ratio - 1) <= SAME:
        return "agrees"
    if quantity == "intensity":
        return "plausible" if ratio < 1 else "doubtful"
    if quantity.startswith("flops"):
        return "doubtful" if abs(ratio - 0.5) < SAME / 2 or ratio < 1 / FAR else "differs"
    return "doubtful" if is_prefix_apart(ratio) else "differs"


def digits(value):
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def in_unit(row, si):
    if row["quantity"] == "fits":
        return "yes" if si else "no"
    factor, unit = UNITS[row["unit"]], row["unit"]
    for prefix, large in (("T", 1e12), ("G", 1e9), ("M", 1e6)):
        if unit in ("B", "FLOP") and si >= large:
            factor, unit = large, prefix + unit
            break
    return f"{digits(si / factor)} {unit}".strip()


def published_rows(name):
    with open(HERE / f"published/{name}.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def published_table(name):
    rows = published_rows(name)
    lines = []
    for row in rows:
        published = float(row["value"]) * UNITS[row["unit"]]
        estimate = estimate_of(row, rows)
        of = (f"{row['model']}, batch {row['batch']}" if row["model"] else f"batch {row['batch']}") + (
            ", forward" if row["phase"] == "forward" else "") + (f", {row['devices']} devices" if row["devices"] == "2" else "")
        ratio = "-" if estimate is None or row["quantity"] == "fits" else digits(published / estimate)
        lines.append([of, row["machine"] or "-", row["quantity"].replace("_", " "), in_unit(row, published), row["how"],
                      "-" if estimate is None else in_unit(row, estimate), ratio, assessment_of(row, published, estimate)])
    return pages.as_markdown(["of", "machine", "quantity", "published", "how", "estimate", "ratio", "assessment"], lines)


# -------------------------------------------------------------------------------------------------------------- hypotheses

SIGNS = re.compile(r" (==|!=|<=|>=|<|>|~) ")


def of_machine(pick):
    return lambda model, machine, **options: pick(estimated(model, machine=machine, **options))


def step(of):
    return of["scaling"]["exposed_s"] if of["scaling"] else of["layer_by_layer_s"]


FUNCTIONS = {
    "bound": of_machine(lambda of: of["bound"]),
    "fits": of_machine(lambda of: "yes" if of["memory"]["fits"] else "no"),
    "intensity": of_machine(lambda of: of["levels"][-1]["intensity_high"]),
    "ridge": of_machine(lambda of: of["levels"][-1]["ridge"]),
    "time": of_machine(step),
    "epoch": of_machine(lambda of: of["epoch_s"]),
    "images_per_second": of_machine(lambda of: of["images_per_s"]),
    "flops": lambda model, phase="step", **options: estimated(model, **options)["flops"][phase],
}


class Words(dict):
    """Names that are no function stand for themselves."""

    def __missing__(self, word):
        return word


def evaluate(term):
    return eval(term, {"__builtins__": {}}, Words(FUNCTIONS))  # of a page of this tree


def holds(left, sign, right):
    if sign == "~":
        return abs(left - right) <= SAME * max(abs(left), abs(right))
    return {"==": left == right, "!=": left != right, "<": left < right, ">": left > right,
            "<=": left <= right, ">=": left >= right}[sign]


def amounts(text):
    """The numbers of a text in SI units: "2.64", "10.6 GFLOP", "107 min 35 s", "80%"."""
    text, found = text.replace("µ", "u"), []
    for hours, minutes in re.findall(r"(\d+) h (\d+) min", text):
        found.append(60 * (60 * int(hours) + int(minutes)))
    for minutes, seconds in re.findall(r"(\d+) min (\d+) s", text):
        found.append(60 * int(minutes) + int(seconds))
    factors = {"T": 1e12, "G": 1e9, "M": 1e6, "k": 1e3, "m": 1e-3, "u": 1e-6, "": 1}
    for number, percent, prefix in re.findall(r"(\d+(?:\.\d+)?)(%?) ?([TGMkmu]?)(?:FLOP|B\b|s\b|images|$|[^\w.]|$)", text + " "):
        found.append(float(number) * (0.01 if percent else factors[prefix]))
    return found


def hypotheses(name):
    """(hypothesis, answer, numbers) of the page that need no measured row."""
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(.+?)` \| (holds|fails|undecided) \| (.+?) \|$", text, re.MULTILINE)
    return [row for row in rows if "measured_" not in row[0] and "here" not in row[0]]


class Studies(unittest.TestCase):
    def test_the_tables_of_published_numbers_are_what_roof_estimates(self):
        for name in NAMES:
            with self.subTest(name):
                text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
                self.assertEqual([text.count(mark) for mark in MARKS], [1, 1])
                self.assertEqual(text.split(MARKS[0])[1].split(MARKS[1])[0].strip(), published_table(name))

    def test_every_published_number_has_a_source_and_every_study_a_plan(self):
        self.assertEqual(NAMES, ["a", "b", "c", "d", "e", "f"])
        for name in NAMES:
            self.assertTrue(all(row["source"] for row in published_rows(name)), name)
            self.assertTrue((ROOT / f"configs/studies/{name}.yaml").exists(), name)

    def test_the_answers_about_data_sheets_follow_from_the_estimates(self):
        self.assertGreaterEqual(sum(len(hypotheses(name)) for name in NAMES), 25)
        for name in NAMES:
            for hypothesis, answer, numbers in hypotheses(name):
                with self.subTest(hypothesis):
                    left, sign, right = SIGNS.split(hypothesis)
                    value = evaluate(left)
                    self.assertEqual("holds" if holds(value, sign, evaluate(right)) else "fails", answer)
                    shown = numbers.split(f" {sign} ")[0]
                    if isinstance(value, str):
                        self.assertTrue(shown.startswith(value))
                    else:
                        self.assertTrue(any(math.isclose(one, value, rel_tol=0.006) for one in amounts(shown)), (shown, value))

    def test_the_shares_and_ridge_points_beside_the_bounds_are_those_of_the_estimates(self):
        for name in NAMES:
            for hypothesis, _, numbers in hypotheses(name):
                if not hypothesis.startswith("bound("):
                    continue
                with self.subTest(hypothesis):
                    arguments = SIGNS.split(hypothesis)[0].removeprefix("bound")
                    of = eval("of" + arguments, {}, Words(of=of_machine(lambda estimate: estimate)))
                    share, intensity, ridge = re.search(r"\((\d+)% .*?; ([\d.]+) FLOP/B, ridge ([\d.]+)\)", numbers).groups()
                    self.assertAlmostEqual(float(share), 100 * of["compute_share"], delta=0.51)
                    for shown, level in ((intensity, "intensity_high"), (ridge, "ridge")):
                        self.assertTrue(math.isclose(float(shown), of["levels"][-1][level], rel_tol=0.006), (shown, level))


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        for study in NAMES:
            pages.write_between(PAGES / f"{study}.md", *MARKS, published_table(study))
    else:
        unittest.main()
