"""The wheel: put together from small programs of this test, with faults planted, and as it lies in dist/. A release of a small tree."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/packaging"))

try:
    import wheel
except ModuleNotFoundError:  # tomllib, before Python 3.11
    wheel = None
COMPILER = shutil.which("g++")
SAYS = 'extern "C" int number(); int main() { return number(); }'


@unittest.skipIf(wheel is None, "this Python is older than 3.11")
@unittest.skipIf(COMPILER is None or not shutil.which("readelf"), "g++ or readelf is not installed")
class Wheel(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name)
        self.root, self.program = self.folder / "root", self.folder / "bin"
        for made in (self.root / "opt/roof/lib", self.root / "usr/share/doc/onednn", self.program):
            made.mkdir(parents=True)
        (self.root / "usr/share/doc/onednn/copyright").write_text("free", encoding="utf-8")
        self.library = self.root / "opt/roof/lib/libdnnl.so.2"
        self.compile('extern "C" int number() { return 7; }', self.library, "-shared", "-fPIC", "-Wl,-soname,libdnnl.so.2")
        self.link()

    def compile(self, text, out, *options):
        source = self.folder / "source.cpp"
        source.write_text(text, encoding="utf-8")
        subprocess.run([COMPILER, "-nostdlib" if "-shared" in options else "-O1", source, "-o", out, *options], check=True)

    def link(self, place="$ORIGIN/../lib/roof"):
        self.compile(SAYS, self.program / "roof", self.library, f"-Wl,-rpath,{place}", "-Wl,--as-needed")

    def make(self):
        return wheel.make(self.program, self.root, self.folder / "dist")

    def test_its_program_runs_where_it_is_unpacked_and_it_has_no_fault(self):
        made = self.make()
        self.assertRegex(made.name, r"^measured_roof-[0-9.]+-py3-none-manylinux_2_31_x86_64\.whl$")
        self.assertEqual([], wheel.check(made, c_library=(2, 99)))
        with zipfile.ZipFile(made) as archive:
            archive.extractall(self.folder / "there")
            entry, = (archive.read(name).decode() for name in archive.namelist() if name.endswith("entry_points.txt"))
        self.assertEqual("[console_scripts]\nroof = roof.program:main\n", entry)
        program = self.folder / "there/roof/program/bin/roof"
        program.chmod(0o755)
        self.assertEqual(7, subprocess.run([program], check=False).returncode)
        found = subprocess.run([sys.executable, "-c", "from roof.program import program; print(program())"], capture_output=True, text=True,
                               check=True, env={"PYTHONPATH": str(self.folder / "there"), "PATH": "/usr/bin:/bin"})
        self.assertEqual(f"{program}\n", found.stdout)
        ran = subprocess.run([sys.executable, "-c", "from roof.program import main; main()"], check=False,
                             env={"PYTHONPATH": str(self.folder / "there")})
        self.assertEqual(7, ran.returncode)

    def test_equal_files_make_an_equal_wheel(self):
        first = self.make().read_bytes()
        self.assertEqual(first, self.make().read_bytes())

    def test_a_newer_c_library_is_a_fault(self):
        needed = re.findall(r"GLIBC_2\.(\d+)", subprocess.run(["readelf", "--dyn-syms", "--wide", self.program / "roof"], capture_output=True,
                                                            text=True, check=True).stdout)
        newest = max(map(int, needed))
        self.assertEqual([], wheel.check(self.make(), c_library=(2, newest)))
        faults = wheel.check(self.make(), c_library=(2, newest - 1))
        self.assertTrue(faults and all(re.fullmatch(rf"roof needs \w+ of C library 2\.{newest}", fault) for fault in faults), faults)

    def test_a_library_that_is_not_within_a_place_of_this_machine_and_a_large_file_are_faults(self):
        self.link(place=str(self.folder))
        made = self.make()
        self.assertEqual([f"roof looks for libraries in {self.folder}"], wheel.check(made, c_library=(2, 99)))
        self.assertIn("more than 1000", wheel.check(made, c_library=(2, 99), largest=1000)[0])
        without = self.folder / "without.whl"
        with zipfile.ZipFile(made) as archive, zipfile.ZipFile(without, "w") as rest:
            for entry in archive.infolist():
                if not entry.filename.endswith("libdnnl.so.2"):
                    rest.writestr(entry, archive.read(entry))
        faults = wheel.check(without, c_library=(2, 99))
        self.assertIn("roof needs libdnnl.so.2", faults)
        self.assertIn("roof/program/lib/roof/libdnnl.so.2 is missing", faults)

    def test_a_changed_file_is_a_fault(self):
        made, changed = self.make(), self.folder / "changed.whl"
        with zipfile.ZipFile(made) as archive, zipfile.ZipFile(changed, "w") as other:
            for entry in archive.infolist():
                other.writestr(entry, archive.read(entry) + (b"\n" if entry.filename == "roof/py.typed" else b""))
        self.assertEqual(["roof/py.typed is not as RECORD has it"], wheel.check(changed, c_library=(2, 99)))

    def test_a_gpu_part_without_the_code_of_a_card_is_a_fault(self):
        def faults_with(capabilities, words):
            # Headers of ELF files for NVIDIA's machine, with the capability where its binary utilities read it.
            begin = b"\x7fELF\x02\x01\x01".ljust(18, b"\0") + (190).to_bytes(2, "little") + bytes(28)
            code = b"".join(begin + (one << 8).to_bytes(4, "little") for one in capabilities) + words
            text = f'extern "C" const unsigned char code[] = {{{", ".join(map(str, code))}}};'
            self.compile(text, self.program / "roof_gpu.so", "-shared", "-fPIC")
            return wheel.check(self.make(), c_library=(2, 99))

        cards = (75, 80, 86, 89, 90, 100, 120)
        self.assertEqual([], faults_with(cards, b".target sm_90"))
        self.assertEqual([f"roof_gpu.so has no machine code for {lacking}" for lacking in ("8.6", "12.0")],
                         faults_with((75, 80, 89, 90, 100), b".target sm_90"))
        self.assertEqual(["roof_gpu.so has no PTX for newer GPUs"], faults_with(cards, b"sm_90"))

    def test_that_of_dist_has_no_fault(self):
        made = sorted((ROOT / "dist").glob("*.whl"))
        if not made:
            self.skipTest("there is no wheel in dist/: tools/package wheel makes one")
        self.assertEqual([[]] * len(made), [wheel.check(one) for one in made])


PACKAGE = """#!/bin/sh
touch "$3/roof.$1"
"""


@unittest.skipUnless(shutil.which("git"), "git is not installed")
class Release(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.tree = Path(place.name)
        for name, text in (("CMakeLists.txt", "project(roof VERSION 1.2.3 LANGUAGES CXX)\n"), ("tools/package", PACKAGE),
                           ("tools/python/pyproject.toml", 'version = "1.2.3"\n'), ("tools/python/roof/__init__.py", '__version__ = "1.2.3"\n'),
                           ("CHANGELOG.md", "# Changelog\n\n## [1.2.3] - 2026-01-02\n\n- new\n\n## [1.2.2] - 2026-01-01\n\n- old\n")):
            (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
            (self.tree / name).write_text(text, encoding="utf-8")
        (self.tree / "tools/package").chmod(0o755)
        shutil.copy2(ROOT / "tools/release", self.tree / "tools/release")
        self.git("init", "--quiet")
        self.commit("v1.2.3")

    def git(self, *words):
        names = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        subprocess.run(["git", *words], cwd=self.tree, check=True, capture_output=True, env={**os.environ, **names})

    def commit(self, tag):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "all")
        self.git("tag", tag)

    def release(self, tag, *words, cwd=None):
        return subprocess.run([self.tree / "tools/release", tag, *words], capture_output=True, text=True, check=False, cwd=cwd)

    def test_it_has_every_kind_the_changes_and_checksums_of_all(self):
        done = self.release("v1.2.3")
        self.assertEqual((0, f"{self.tree}/dist/1.2.3\n"), (done.returncode, done.stdout), done.stderr)
        made = self.tree / "dist/1.2.3"
        self.assertEqual({"roof.wheel", "roof.deb", "roof.archive", "CHANGES.md", "SHA256SUMS"}, {file.name for file in made.iterdir()})
        self.assertEqual("## [1.2.3] - 2026-01-02\n\n- new\n\n", (made / "CHANGES.md").read_text(encoding="utf-8"))
        sums = dict(reversed(line.split("  ")) for line in (made / "SHA256SUMS").read_text(encoding="utf-8").splitlines())
        self.assertEqual({file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in made.iterdir() if file.name != "SHA256SUMS"}, sums)
        self.assertIn("exists already", self.release("v1.2.3").stderr)

    def test_it_goes_to_the_folder_that_is_named(self):
        for out, due in (("made", self.tree / "tools/made"), (str(self.tree / "elsewhere/made"), self.tree / "elsewhere/made")):
            done = self.release("v1.2.3", "--out", out, cwd=self.tree / "tools")
            self.assertEqual((0, f"{due}\n"), (done.returncode, done.stdout), done.stderr)
            self.assertTrue((due / "SHA256SUMS").exists())

    def test_a_tag_that_is_not_there_or_of_another_version_is_refused(self):
        self.assertIn("there is no tag v9.9.9", self.release("v9.9.9").stderr)
        (self.tree / "CHANGELOG.md").write_text("## [1.2.3] - unreleased\n", encoding="utf-8")
        self.commit("v1.2.3.1")
        self.assertIn('CMakeLists.txt of v1.2.3.1 does not have: project(roof VERSION 1.2.3.1 ', self.release("v1.2.3.1").stderr)
        self.git("tag", "--force", "v1.2.3")
        refused = self.release("v1.2.3")
        self.assertEqual(1, refused.returncode)
        self.assertIn("CHANGELOG.md of v1.2.3 has no dated section 1.2.3", refused.stderr)
        self.assertFalse((self.tree / "dist").exists())


if __name__ == "__main__":
    unittest.main()
