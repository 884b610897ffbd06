"""Lists and reads the files of this project for the tests."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("ert", "cpu", "workloads", "analysis", "tools", "tests")
SOURCES = (".hpp", ".cpp", ".cu", ".cuh", ".in")
TEXTS = SOURCES + (".cmake", ".py", ".yaml", ".bash", ".js", ".mjs", ".css")


def files(suffixes=TEXTS, folders=FOLDERS):
    """Paths relative to the root, without build folders."""
    found = (path for folder in folders for path in sorted((ROOT / folder).rglob("*")))
    return [path.relative_to(ROOT) for path in found if path.suffix in suffixes and path.is_file()]


def text(path):
    return (ROOT / path).read_text(encoding="utf-8")


def scripts():
    """Executable scripts, found by their first line, and sourced scripts, found by their suffix."""
    candidates = [*(ROOT / "tools").iterdir(), *(ROOT / ".ci").iterdir()]
    return sorted(path for path in candidates if path.is_file() and (path.suffix == ".bash" or first_line(path)))


def bash_scripts():
    return [path for path in scripts() if "python" not in first_line(path)]


def first_line(path):
    """The interpreter line; empty if there is none."""
    with path.open(encoding="utf-8") as file:
        line = file.readline()
    return line if line.startswith("#!") else ""
