"""Checks that clang-format changes no C++, CUDA or JavaScript file. Exit status 77 (skipped) without clang-format."""

import shutil
import subprocess
import sys

import tree

formatter = shutil.which("clang-format")
if formatter is None:
    print("clang-format is not installed")
    sys.exit(77)
sources = [str(path) for path in tree.files((".hpp", ".cpp", ".cu", ".cuh", ".js", ".mjs"))]
sys.exit(subprocess.run([formatter, "--dry-run", "-Werror", *sources], cwd=tree.ROOT).returncode)
