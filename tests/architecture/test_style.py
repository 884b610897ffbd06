"""Checks the rules of CONTRIBUTING.md that a program can check."""

import ast
import os
import re
import shutil
import subprocess
import unittest

import layering
import tree

MOST_LINES = 400
CONDITIONAL = re.compile(r"^\s*#\s*(if|ifdef|ifndef|elif)\b", re.MULTILINE)
MACRO = re.compile(r"^\s*#\s*define\s+(?!CATCH_CONFIG_RUNNER\b)", re.MULTILINE)


#: Private words of earlier versions, which must not return (CONTRIBUTING.md).
RETIRED = re.compile(
    r"\b(?i:weather|strangers?|agenda|witness|witnesses|foretell|foretells|foretold\w*|obstacles?|handovers?)\b"
    r"|\b(Sustained|FoundSizes|WatchedTeam|WatchedStream|BetweenVisits|Lab|promise_of|books_of|far_below|most_rounds"
    r"|most_visits|further_until\w*)\b")

#: Ways to open a file; ert/base/files.cpp has the functions for all others.
OPENS = re.compile(r"\bstd::[io]?fstream\s+(?!open_)\w+\s*[({]|[^\w]::open\(|\bfopen\(|YAML::LoadFile")


def offenders(pattern):
    return [str(path) for path in tree.files(tree.SOURCES) if pattern.search(tree.text(path))]


#: All that the repository has at its top level.
TOP_LEVEL = {"CHANGELOG.md", "CMakeLists.txt", "CMakePresets.json", "CONTRIBUTING.md", "LICENSE", "README.md", "analysis", "configs",
             "cpu", "docs", "ert", "results", "tests", "tools", "workloads"}


def silent_ends():
    """Places in tests where one may end without a word: "return;" in C++, a bare return in a test method in Python."""
    tests = [path for path in tree.files(folders=("tests",)) if path.name.startswith("test_")]
    places = []
    for path in tests:
        text = tree.text(path)
        if path.suffix == ".py":
            methods = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
            lines = {node.lineno for method in methods for node in ast.walk(method)
                     if isinstance(node, ast.Return) and node.value is None}
        else:
            lines = {number for number, line in enumerate(text.splitlines(), 1) if re.search(r"\breturn;", line)}
        places += [f"{path}:{line}" for line in sorted(lines)]
    return places


class Files(unittest.TestCase):
    def test_none_ends_a_test_without_a_word(self):
        self.assertEqual([], silent_ends(), "a test that cannot run here says why: return skip(...), or self.skipTest(...)")

    def test_those_of_the_audits_faults_have_the_text_to_replace(self):
        try:
            import yaml
        except ImportError:
            self.skipTest("without PyYAML")
        faults = yaml.safe_load((tree.ROOT / "tests" / "audit" / "faults.yaml").read_text(encoding="utf-8"))
        gone = [fault["name"] for fault in faults if fault["replace"] not in (tree.ROOT / fault["file"]).read_text(encoding="utf-8")]
        self.assertEqual([], gone, "adapt tests/audit/faults.yaml")

    def test_none_is_added_to_the_top_level(self):
        if not (tree.ROOT / ".git").exists():
            self.skipTest("not a git checkout")
        names = subprocess.run(["git", "-C", tree.ROOT, "ls-tree", "--name-only", "HEAD"], capture_output=True, text=True)
        self.assertEqual([], [name for name in names.stdout.split() if not name.startswith(".") and name not in TOP_LEVEL])

    def test_none_has_more_than_400_lines(self):
        lengths = {str(path): tree.text(path).count("\n") for path in tree.files()}
        self.assertEqual({}, {path: lines for path, lines in lengths.items() if lines > MOST_LINES})

    def test_none_is_compiled_conditionally(self):
        self.assertEqual([], offenders(CONDITIONAL))

    def test_none_defines_a_macro(self):
        self.assertEqual([], offenders(MACRO))

    def test_none_but_one_opens_files_itself(self):
        found = [path for path in offenders(OPENS) if not path.startswith("tests/")]
        self.assertEqual(["ert/base/files.cpp"], found)

    def test_none_uses_a_retired_word(self):
        sources = [path for path in tree.files() if path.suffix in (".cpp", ".hpp", ".cu", ".cuh", ".js", ".yaml")]
        found = {str(path): sorted({match.group(0) for match in RETIRED.finditer(tree.text(path))}) for path in sources
                 if path.parts[:2] != ("tests", "method") or path.suffix != ".yaml"}
        self.assertEqual({}, {path: words for path, words in found.items() if words})

    def test_every_header_says_what_it_is_and_is_included_once(self):
        for path in tree.files((".hpp", ".cuh")):
            with self.subTest(str(path)):
                self.assertRegex(tree.text(path), r"\A// \S(.*\n)+?#pragma once\n")


def folders_described():
    folders = tree.text("docs/architecture.md").split("## Folders", 1)[1].split("\n## ", 1)[0]
    return set(re.findall(r"^\| `([^`]+)` \|", folders, re.MULTILINE))


class Documentation(unittest.TestCase):
    def test_names_every_folder_of_sources(self):
        page = tree.text("docs/architecture.md")
        folders = {"/".join(path.parts[:2]) if path.parts[0] in ("ert", "workloads", "analysis", "tools") else path.parts[0]
                   for path in tree.files(tree.SOURCES)}
        self.assertEqual([], sorted(folder for folder in folders if f"`{folder}`" not in page))

    def test_says_of_every_folder_what_it_holds(self):
        table = layering.read_table(tree.text("docs/architecture.md"))
        self.assertEqual([], sorted(table.keys() - folders_described()))

    def test_contributing_names_files_that_are_there(self):
        for row in tree.text("CONTRIBUTING.md").splitlines():
            named = [re.sub(r"[^/]*<.*", "", name) for name in re.findall(r"`([\w./<>-]+)`", row) if re.search(r"/|\.(cpp|hpp|py|md|yaml|csv|cmake)$", name)]
            folders = {tree.ROOT / name if (tree.ROOT / name).is_dir() else (tree.ROOT / name).parent for name in named if "/" in name}
            for name in named:
                with self.subTest(name):
                    self.assertTrue(any((folder / name).exists() for folder in {tree.ROOT, *folders}), row)

    def test_names_no_folder_that_is_not_there(self):
        named = folders_described()
        self.assertGreater(len(named), 10)
        self.assertEqual([], [name for name in named if not (tree.ROOT / name).is_dir()])


class Scripts(unittest.TestCase):
    def test_are_found(self):
        names = {path.name for path in tree.scripts()}
        self.assertLessEqual({"quickstart", "test", "install_dependencies", "bench_ceilings", "stages.bash", "run"}, names)

    def test_are_executable_unless_sourced(self):
        for path in tree.scripts():
            self.assertEqual(path.suffix != ".bash", os.access(path, os.X_OK), path)

    def test_are_sound_bash_or_python(self):
        for path in tree.scripts():
            if path in tree.bash_scripts():
                subprocess.run(["bash", "-n", path], check=True)
            else:
                compile(path.read_text(encoding="utf-8"), path, "exec")

    @unittest.skipUnless(shutil.which("shellcheck"), "shellcheck is not installed")
    def test_please_shellcheck(self):
        subprocess.run(["shellcheck", "--external-sources", *tree.bash_scripts()], check=True, cwd=tree.ROOT)

    def test_tell_their_usage(self):
        for path in tree.scripts():
            if path.parent.name == "tools" and path.suffix != ".bash":
                shown = subprocess.run([path, "--help"], check=True, capture_output=True, text=True, cwd="/")
                self.assertIn(f"usage: tools/{path.name}", shown.stdout)

    def test_refuse_what_they_do_not_know(self):
        for path in tree.scripts():
            if path.parent.name == "tools" and path.suffix != ".bash":
                self.assertEqual(2, subprocess.run([path, "--no-such-option"], capture_output=True).returncode)


if __name__ == "__main__":
    unittest.main()
