"""`cmake --install` into a temporary prefix, which is then moved: programs, parts, manual pages and completion."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path


def said_by(*words, **options):
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120, **options)
    return done.returncode, done.stdout, done.stderr


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        first = cls.folder / "first"
        subprocess.run([os.environ["ROOF_CMAKE"], "--install", os.environ["ROOF_BUILD"], "--prefix", first],
                       check=True, capture_output=True, timeout=120)
        cls.prefix = cls.folder / "moved" / "here"
        cls.prefix.parent.mkdir()
        first.rename(cls.prefix)
        cls.roof = cls.prefix / "bin" / "roof"

    def test_it_lists_describes_and_finds_its_plans_in_any_folder(self):
        for words in (["list"], ["doctor"], ["sweep", "calibrate/cpu", "--dry-run"], ["estimate", "alexnet", "--batch", "1"]):
            with self.subTest(words=words):
                status, out, err = said_by(self.roof, *words, cwd="/")
                self.assertEqual((0, ""), (status, err))
                self.assertTrue(out)

    def test_every_shared_part_of_the_build_lies_in_lib_roof_and_is_found_there(self):
        built = {file.name for file in (Path(os.environ["ROOF_BUILD"]) / "bin").glob("roof_*.so")}
        built.discard("roof_announcing_part.so")
        self.assertEqual(built, {file.name for file in (self.prefix / "lib" / "roof").glob("*.so")})
        reasons = [part["reason"] for part in json.loads(said_by(self.roof, "doctor", "--json")[1])["absent"]]
        not_found = tuple(f"{file} is missing: " for file in built)
        self.assertEqual([], [reason for reason in reasons if reason.startswith(not_found)])

    def test_the_version_is_printed_by_either_option(self):
        self.assertEqual(said_by(self.roof, "--version"), said_by(self.roof, "-V"))
        self.assertRegex(said_by(self.roof, "-V")[1], r"^roof \d+\.\d+\.\d+ \(\S+\)\n$")

    def test_no_file_names_the_build_folder_as_a_place_of_libraries(self):
        if not shutil.which("readelf"):
            self.skipTest("readelf is not installed")
        for file in [*(self.prefix / "bin").iterdir(), *(self.prefix / "lib" / "roof").glob("*.so")]:
            self.assertNotIn(os.environ["ROOF_BUILD"], said_by("readelf", "-d", file)[1])
        self.assertIn("$ORIGIN/../lib/roof", said_by("readelf", "-d", self.roof)[1])

    def test_no_search_path_of_libraries_has_an_empty_or_relative_element(self):
        if not shutil.which("readelf"):
            self.skipTest("readelf is not installed")
        build = Path(os.environ["ROOF_BUILD"])
        files = [file for place in (build / "bin", build / "tests", build / "emulated", self.prefix) for file in place.rglob("*")
                 if file.is_file() and not file.is_symlink() and file.open("rb").read(4) == b"\x7fELF"]
        self.assertIn(build / "bin" / "roof", files)
        for file in files:
            for path in re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", said_by("readelf", "-d", file)[1]):
                for element in path.split(":"):
                    self.assertRegex(element, r"^(/|\$ORIGIN(/|$))", f"{file}: {path}")

    def test_a_library_in_the_current_folder_is_not_loaded(self):
        compiler = shutil.which("cc")
        if not compiler:
            self.skipTest("there is no C compiler")
        place = self.folder / "received"
        place.mkdir()
        (place / "a.c").write_text('#include <stdio.h>\n__attribute__((constructor)) static void f(void) { puts("loaded"); }\n')
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", said_by("readelf", "-d", self.roof)[1])
        subprocess.run([compiler, "-shared", "-fPIC", "-o", place / "a.so", place / "a.c"], check=True, timeout=60)
        for name in needed:
            if not name.startswith(("libc.", "ld-linux", "libm.")):
                shutil.copy(place / "a.so", place / name)
        for program in (self.roof, Path(os.environ["ROOF_BUILD"]) / "bin" / "roof"):
            self.assertNotIn("loaded", said_by(program, "--version", cwd=place)[1])

    def test_every_command_has_a_manual_page_with_its_name_summary_and_options(self):
        if not (self.prefix / "share" / "man").exists():
            self.skipTest("no manual pages: this build found no lowdown")
        pages = {file.stem for file in (self.prefix / "share" / "man" / "man1").iterdir()}
        helps = {file.stem for file in (self.prefix / "share" / "doc" / "roof" / "help").glob("*.md")}
        self.assertEqual({"roof" if name == "roof" else "roof-" + name for name in helps}, pages)
        if not shutil.which("man"):
            self.skipTest("man is not installed")
        for name, summary, option in (("roof", "rooflines", "calibrate"), ("roof-run", "train one model", "--batch N,N")):
            status, page, complaints = said_by("man", "--warnings", "-l", self.prefix / "share/man/man1" / (name + ".1"),
                                               env={**os.environ, "MANWIDTH": "120", "LC_ALL": "C.UTF-8"})
            self.assertEqual((0, ""), (status, complaints))
            self.assertRegex(page, rf"NAME\n +{name} - .*{summary}")
            self.assertIn(option, page)

    def with_roof(self, **variables):
        return {**os.environ, "PATH": f"{self.prefix / 'bin'}:{os.environ['PATH']}", "HOME": str(self.folder), **variables}

    def test_bash_completes_commands_options_models_and_precisions(self):
        script = self.prefix / "share" / "bash-completion" / "completions" / "roof"
        for line, expected in (("roof cal", "calibrate"), ("roof run --preci", "--precision"), ("roof run resnet15", "resnet152"),
                               ("roof run alexnet --precision bf", "bf16"), ("roof help swe", "sweep"),
                               ("roof sweep run/quick", "run/quickstart")):
            words = line.split()
            code = f"source '{script}'; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _roof; echo ${{COMPREPLY[*]}}"
            with self.subTest(line=line):
                self.assertEqual((0, expected + "\n", ""), said_by("bash", "-c", code, env=self.with_roof()))

    def test_zsh_and_fish_accept_their_scripts(self):
        for shell, script in (("zsh", "zsh/vendor-completions/_roof"), ("fish", "fish/vendor_completions.d/roof.fish")):
            with self.subTest(shell=shell):
                if not shutil.which(shell):
                    self.skipTest(f"{shell} is not installed")
                self.assertEqual((0, "", ""), said_by(shell, "-n", self.prefix / "share" / script))

    def test_fish_completes_a_model(self):
        if not shutil.which("fish"):
            self.skipTest("fish is not installed")
        script = self.prefix / "share" / "fish" / "vendor_completions.d" / "roof.fish"
        code = f"source '{script}'; complete -C 'roof run resnet15'"
        self.assertIn("resnet152", said_by("fish", "--no-config", "-c", code, env=self.with_roof())[1])

    def test_fish_completes_a_run_among_the_results(self):
        if not shutil.which("fish"):
            self.skipTest("fish is not installed")
        script = self.prefix / "share" / "fish" / "vendor_completions.d" / "roof.fish"
        (self.folder / "all" / "machine" / "2026-01-02").mkdir(parents=True)
        code = f"source '{script}'; complete -C 'roof report '; set ROOF_RESULTS nowhere; complete -C 'roof check '"
        shown = said_by("fish", "--no-config", "-c", code, env=self.with_roof(ROOF_RESULTS=str(self.folder / "all")))
        self.assertEqual(1, shown[1].split().count(f"{self.folder}/all/machine/2026-01-02"), shown)

    def test_a_copied_program_names_the_part_that_is_missing(self):
        parts = [file.name for file in (self.prefix / "lib" / "roof").iterdir() if file.name == "roof_gpu.so"]
        if not parts:
            self.skipTest("this build has no GPU part")
        alone = self.folder / "alone"
        alone.mkdir()
        shutil.copy2(self.roof, alone / "roof")
        status, out, _ = said_by(alone / "roof", "doctor")
        self.assertEqual(0, status)
        self.assertIn(f"roof_gpu.so is missing: it is neither in {alone} nor in {self.folder}/lib/roof\n", out)


@unittest.skipUnless(shutil.which("dpkg-shlibdeps"), "dpkg-shlibdeps is not installed")
class Package(unittest.TestCase):
    def test_the_debian_package_installs_into_usr_and_depends_on_the_libraries_of_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([Path(os.environ["ROOF_CMAKE"]).with_name("cpack"), "-G", "DEB", "-B", folder, "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=none"],
                           cwd=os.environ["ROOF_BUILD"], check=True, capture_output=True, timeout=300)
            package = next(Path(folder).glob("roof_*.deb"))
            files = said_by("dpkg-deb", "-c", package)[1]
            for file in ("./usr/bin/roof\n", "./usr/include/roof.h\n", "./usr/share/doc/roof/copyright\n",
                         "./usr/share/bash-completion/completions/roof\n"):
                self.assertIn(file, files)
            needed = said_by("dpkg-deb", "-f", package, "Depends")[1]
            for library in ("libc6 (>=", "libhwloc15 (>=", "libgomp1 (>="):
                self.assertIn(library, needed)
            self.assertNotIn("openmpi", needed)


if __name__ == "__main__":
    unittest.main()
