"""Tests of the whole report page: its what-if formula against the command line, its charts against approved ones, and
its use in a browser without a network. Needs node, and chromium for the browser tests; otherwise tests are skipped with
the reason."""

import csv
import hashlib
import json
import os
import re
import runpy
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import two_gpus

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ROOF = Path(os.environ["ROOF"])
WORK = Path(os.environ["ROOF_PAGE_WORK"])  # the folder of the browser's driver
EXAMPLES = ROOT / "results" / "examples"
NODE = shutil.which("node") or shutil.which("nodejs")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
STRICT = "--no-experimental-detect-module"  # the node of Debian 12 does not guess which files are modules; newer ones that know this option do
if NODE and subprocess.run([NODE, STRICT, "--eval", ""], capture_output=True, check=False).returncode == 0:
    os.environ["NODE_OPTIONS"] = STRICT
VARIED = ("amd-epyc-family26-2cpu/2026-11-22T063448Z-*", "amd-epyc-family26-2cpu/2026-11-27-decode", "intel-xeon-processor-family6-2cpu/2026-11-24T092528Z-*",
          "nvidia-h200/2026-11-27T184719Z-*", "nvidia-h200/2026-11-27T181331Z-*")  #: examples of which no two show the same
HOSTILE = "</script><img src=x onerror=alert(1)>\u2028\x1b[2J"


def run(*arguments, **options):
    return subprocess.run([str(argument) for argument in arguments], check=True, capture_output=True, text=True, timeout=240, **options).stdout


def report(study, folder, *more):
    """Makes the page and its data. Pass a copy of the results, because a report writes beside them."""
    run(ROOF, "report", study, "--out", folder / "page.html", "--data", folder / "page.json", "--brief", *more)
    return folder / "page.html", folder / "page.json"


def copy_of_example(folder):
    """The sweep of a quickstart, beside the other folders of its machine. It has no checksums, so its files can be changed."""
    copy = folder / "results" / "amd-epyc-family26-2cpu"
    shutil.copytree(EXAMPLES / copy.name, copy)
    return next(copy.glob("2026-11-22T063448Z-*"))


def without(study, *models):
    for table in study.glob("*.csv"):
        lines = table.read_text().splitlines(keepends=True)
        table.write_text("".join(line for line in lines if not any(model in line for model in models)))


def holds_ceilings(folder):
    return ",bandwidth,cpu," in (folder / "measurements.csv").read_text()


def driver():
    """The folder with the browser's driver. Skips the test if the driver cannot be fetched."""
    lock = hashlib.sha256((HERE / "package-lock.json").read_bytes()).hexdigest()
    mark = WORK / "fetched"
    if not mark.exists() or mark.read_text() != lock:
        npm = shutil.which("npm")
        if not npm:
            raise unittest.SkipTest("npm is not installed: tools/install_dependencies --tests")
        WORK.mkdir(parents=True, exist_ok=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(HERE / name, WORK)
        result = subprocess.run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1"], cwd=WORK, capture_output=True, text=True)
        if result.returncode:
            raise unittest.SkipTest("the browser's driver cannot be fetched: " + result.stderr.strip()[-300:])
        mark.write_text(lock)
    return WORK


class Browser:
    """A browser that runs scripts on pages (opened.mjs)."""

    def __init__(self, packages):
        self.process = subprocess.Popen([NODE, HERE / "opened.mjs", packages, CHROMIUM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def answer(self, script, page, *rest):
        """What the script says; AssertionError with what it finds."""
        print(json.dumps({"script": script, "page": str(page), "rest": [str(part) for part in rest]}), file=self.process.stdin, flush=True)
        answer = json.loads(self.process.stdout.readline())
        if "failed" in answer:
            raise AssertionError(answer["failed"])
        return answer["said"]

    def close(self):
        self.process.communicate()


class Page(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        if not NODE:
            self.skipTest("node is not installed: tools/install_dependencies --tests")


def points_of(data, table):
    """Where a roofline has its marks, by key: {"x": {level: intensity}, "y": rate}. The figures are those of placements.csv; the page's
    data only say which point a key names."""
    rows = {}
    with table.open(newline="", encoding="utf-8") as file:
        for line in csv.DictReader(file):
            rows.setdefault((line["study"], line["row"], line["scope"], line["name"], line["phase"]), []).append(line)
    points = {}
    for number, study in enumerate(data["studies"]):
        columns = study["points"]
        for index, row in enumerate(columns["row"]):
            key = (study["name"], study["rows"][row]["id"], study["scopes"][columns["scope"][index]],
                   study["names"][columns["name"][index]], study["phases"][columns["phase"][index]])
            lines = rows[key]
            flops = float(lines[0]["flops"])
            moved = {line["level"]: flops / float(line["moved_low_bytes"]) for line in lines if line["moved_low_bytes"]}
            levels = [line for line in lines if line["level"] and line["level_low_bytes"]]
            if levels and flops > 0:
                points[f"{number}:{index}"] = {"x": {"": flops / float(levels[-1]["level_low_bytes"]), **moved}, "y": flops / float(lines[0]["time_median_s"])}
    return points


class WhatIf(Page):
    def test_says_the_same_in_the_page_and_in_the_terminal(self):
        study = copy_of_example(self.folder)
        _, data = report(study, self.folder)
        for settings in ("DRAM=1.5x", "fp32=2x,DRAM=0.5x", "L1=4x,L2=4x,L3=4x,batch=64", "batch=1", "DRAM=100GB/s,fp32=1.5TFLOP/s", "DRAM=25e9B/s,fp32=2x,batch=24"):
            with self.subTest(settings):
                answers = self.folder / "answers.json"
                answers.write_text(run(ROOF, "whatif", study, "--set", settings, "--json"))
                self.assertIn("rows agree", run(NODE, HERE / "whatif.mjs", data, answers, settings))

    def test_writes_minutes_as_the_terminal_does(self):
        script = f"import {{duration}} from '{HERE.parents[1]}/analysis/report/page/format.js'; console.log([125, 179.7, 0.0015, 7199.6, 17270].map(duration).join());"
        self.assertEqual("2 min 05 s,3 min 00 s,1.50 ms,2 h 00 min,4 h 48 min", run(NODE, "--input-type=module", "-e", script).strip())

    def test_a_faster_memory_never_slows_a_step(self):
        study = copy_of_example(self.folder)
        for row in json.loads(run(ROOF, "whatif", study, "--set", "DRAM=2x", "--json"))["rows"]:
            self.assertLessEqual(row["predicted_s"], row["measured_s"] * (1 + 1e-12))
            self.assertLessEqual(row["least_s"], row["predicted_s"])


class InBrowser(Page):
    @classmethod
    def setUpClass(cls):
        if not NODE or not CHROMIUM:
            raise unittest.SkipTest("node or chromium is not installed: tools/install_dependencies --tests")
        cls.browser = Browser(driver())
        cls.addClassCleanup(cls.browser.close)

    def use(self, page, script="browser.mjs", *more):
        print(self.browser.answer(script, page, *more))

    def test_shows_filters_and_explains_the_example_without_a_network(self):
        page, _ = report(copy_of_example(self.folder), self.folder)
        self.assertLessEqual(page.stat().st_size, 1_200_000)
        self.use(page)

    def test_answers_three_questions_of_a_new_reader_in_few_actions(self):
        study = copy_of_example(self.folder)
        page, data = report(study, self.folder)
        run(ROOF, "report", study, "--out", page, "--data", self.folder / "tables", "--brief")
        step = max(json.loads(data.read_text())["studies"][0]["rows"], key=lambda row: row["batch"])["id"]
        layers = [row for row in json.loads((self.folder / "tables" / "headroom.json").read_text()) if row["row"] == step]
        first = max(layers, key=lambda layer: layer["headroom_s"])
        answers = {"layer": [first["layer"], first["phase"]]}
        for name, setting in (("doubled", "DRAM=2x"), ("batch64", "batch=64")):
            rows = json.loads(run(ROOF, "whatif", study, "--set", setting, "--json"))["rows"]
            answers[name] = [row["predicted_s"] for row in rows]
        (self.folder / "answers.json").write_text(json.dumps(answers))
        self.use(page, "tasks.mjs", self.folder / "answers.json")

    def test_a_layer_above_its_roof_says_so_and_shares_are_those_of_the_terminal(self):
        study = copy_of_example(self.folder)
        page, _ = report(study, self.folder)
        (self.folder / "answers.json").write_text(run(ROOF, "report", study, "--out", page, "--json"))
        self.use(page, "above.mjs", self.folder / "answers.json")

    def copy_of(self, name):
        """One of the examples, beside the others of its machine."""
        machine = self.folder / "results" / name.split("/")[0]
        if not machine.exists():
            shutil.copytree(EXAMPLES / machine.name, machine)
        return next(machine.parent.glob(name))

    def check_positions(self, *folders):
        page = self.folder / "page.html"
        run(ROOF, "report", *folders, "--out", page, "--data", self.folder / "tables", "--brief")
        self.assertLessEqual(page.stat().st_size, 1_200_000 * len(folders))
        data = json.loads(re.search('id="roof-data">(.*?)</script>', page.read_text(encoding="utf-8"))[1])
        if not any(x > 0 for study in data["studies"] for at in study["points"]["at"] for _, x, *_ in at):
            # Rows of ranks that take turns, or whose bytes are not those of what ran, have no roof (docs/method.md, section 5).
            text = "".join((folder / name).read_text() for folder in folders for name in ("measurements.csv", "layers.csv"))
            self.assertTrue("they take turns" in text or ",batch_norm," in text)
            return
        (self.folder / "points.json").write_text(json.dumps(points_of(data, self.folder / "tables" / "placements.csv")))
        self.use(page, "positions.mjs", self.folder / "points.json")

    def test_marks_stand_where_their_data_are_after_zooming_and_filtering(self):
        """Batches of CNNs, decoded tokens, ranks and threads, and a GPU's step with its layers."""
        for name in VARIED:
            with self.subTest(name):
                self.check_positions(self.copy_of(name))

    def test_the_view_of_all_steps_has_a_slanted_roof(self):
        """Steps of VGG-16 alone, from 67 FLOP/B on; the DRAM roof ends at 29."""
        study = copy_of_example(self.folder)
        without(study, "alexnet", "resnet18")
        self.check_positions(study)

    def test_names_of_made_folders_are_clear(self):
        """A sample of tests/page/made_pages."""
        made = runpy.run_path(str(HERE / "made_pages"))
        try:
            pages = list(made["pages"](self.folder, "names", range(2), ROOF))
        except ImportError as error:
            self.skipTest(f"{error}: tools/install_dependencies --tests")
        for page in pages:
            self.use(page, "names.mjs")

    def test_marks_of_several_runs_stand_where_their_data_are(self):
        self.check_positions(*(self.copy_of(name) for name in VARIED), self.copy_of("nvidia-h100-80gb-hbm3/*"))

    def test_arrows_begin_at_the_points_of_the_baseline(self):
        """Two examples of one machine; the places are those of the earlier run's own table."""
        shutil.copytree(EXAMPLES / "amd-epyc-family26-2cpu", self.folder / "results")
        earlier, now = (next((self.folder / "results").glob(name)) for name in ("2026-11-21-prediction", "2026-11-22T063448Z-*"))
        run(ROOF, "report", earlier, "--out", self.folder / "earlier.html", "--data", self.folder / "tables", "--brief")
        with (self.folder / "tables" / "placements.csv").open(newline="", encoding="utf-8") as file:
            last = {(line["row"], line["scope"], line["name"], line["phase"]): line for line in csv.DictReader(file) if line["level_low_bytes"]}
        points = [(float(line["flops"]) / float(line["level_low_bytes"]), float(line["flops"]) / float(line["time_median_s"]))
                  for line in last.values() if float(line["flops"]) > 0]
        (self.folder / "points.json").write_text(json.dumps(points))
        run(ROOF, "report", now, "--baseline", earlier, "--out", self.folder / "page.html", "--brief")
        self.use(self.folder / "page.html", "baseline.mjs", self.folder / "points.json")

    def test_the_answer_is_first_on_paper_and_fits_a_phone(self):
        if not shutil.which("pdftotext"):
            self.skipTest("pdftotext is not installed (Debian package poppler-utils)")
        study = copy_of_example(self.folder)
        page, _ = report(study, self.folder)
        paper, few = self.folder / "paper.pdf", self.folder / "few.html"
        made = self.folder / "made"
        shutil.copytree(ROOT / "tests" / "analysis" / "data" / "made", made)
        run(ROOF, "report", made / "run", "--out", few, "--brief")
        self.use(page, "paper.mjs", paper, few)
        pages = run("pdftotext", "-layout", paper, "-").rstrip("\f").split("\f")
        self.assertLessEqual(len(pages), 10)
        first = " ".join(pages[0].split())
        self.assertLess(first.index("Verdict"), first.index("headroom"))
        with (study / "measurements.csv").open(newline="") as file:
            steps = [line for line in csv.DictReader(file) if line["role"] == "step" and line["status"] == "ok"]
        run(ROOF, "report", study, "--out", page, "--data", self.folder / "tables", "--brief")
        with (self.folder / "tables" / "verdict.csv").open(newline="", encoding="utf-8") as file:
            headrooms = [float(line["headroom_s"]) for line in csv.DictReader(file) if line["headroom_s"]]
        self.assertEqual(len(steps), len(headrooms))
        for headroom in headrooms:  # the last column: lost before
            scaled, unit = (headroom, "s") if headroom >= 1 else (headroom * 1e3, "ms") if headroom >= 1e-3 else (headroom * 1e6, "us")
            digits = 2 - len(str(int(scaled))) + 1
            self.assertIn(f"{scaled:.{max(0, digits)}f} {unit}", first)

    def test_tells_steps_of_one_batch_with_several_ranks_and_threads_apart(self):
        shutil.copytree(EXAMPLES / "intel-xeon-processor-family6-2cpu", self.folder / "results")
        study = next(path.parent for path in (self.folder / "results").glob("*/layers.csv"))
        (study / "checksums.csv").unlink()
        for table in study.glob("*.csv"):
            rows = two_gpus.read(table)
            kept = [at for at, name in enumerate(rows[0]) if not name.startswith("row_checksum")]
            two_gpus.write(table, [[row[at] for at in kept] for row in rows if " batch=4 " not in row[0]])
        page, _ = report(study, self.folder)
        self.use(page, "ranks.mjs")

    def test_draws_a_cpu_and_a_gpu_in_one_plot(self):
        shutil.copytree(EXAMPLES / "nvidia-h100-80gb-hbm3", self.folder / "gpu")
        gpu = next((self.folder / "gpu").iterdir())
        run(ROOF, "report", copy_of_example(self.folder), gpu, "--out", self.folder / "page.html", "--brief")
        self.use(self.folder / "page.html", "overlay.mjs")

    def test_draws_a_cpu_and_one_and_two_gpus_of_a_plan_in_one_plot(self):
        study = copy_of_example(self.folder)
        two_gpus.add_two_gpus(study, next(path for path in study.parent.iterdir() if holds_ceilings(path)))
        page, data = report(study, self.folder)
        (study,) = json.loads(data.read_text())["studies"]
        self.assertEqual(["cpu", "gpu:0", "gpu:0,1"], [roofs["device"] for roofs in study["roofs"] if roofs["device"] != "gpu:1"])
        owners = {roofs["device"]: roofs["owner"] for roofs in study["roofs"]}
        self.assertEqual(("Emulated H100", "2 x Emulated H100"), (owners["gpu:0"], owners["gpu:0,1"]))
        self.use(page, "devices.mjs")

    def test_runs_nothing_that_a_file_says_and_adds_up_a_million_kernels(self):
        study = copy_of_example(self.folder)
        for name in ("layers.csv", "measurements.csv", "samples.csv"):
            text = (study / name).read_text()
            (study / name).write_text(text.replace("features.0", HOSTILE + "features.0").replace("quickstart-images", "x<img src=x onerror=alert(1)>"))
        bare, _ = report(study, self.folder)
        size = bare.stat().st_size
        with (study / "measurements.csv").open(newline="") as file:
            row = next(line["id"] for line in csv.DictReader(file) if line["role"] == "step")
        line = ",".join(['"' + row.replace('"', '""') + '"', "sm90_xmma_gemm_{}", "1e-6"]) + "\n"
        names = "".join(line.format(number) for number in range(500))
        with (study / "kernels.csv").open("w") as kernels:
            kernels.write("id,name,duration_s\n")
            for _ in range(2000):
                kernels.write(names)
        page, _ = report(study, self.folder)
        self.assertIn("1000000 launches, added up by name to 500 kernels", page.read_text())
        self.assertLess(page.stat().st_size, size + 20_000)
        self.assertNotIn("<img", page.read_text())
        self.use(page)


if __name__ == "__main__":
    unittest.main()
