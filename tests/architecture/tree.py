"""The files of this project, for the tests that read them."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("ert", "cpu", "workloads", "analysis", "tools", "tests")
SOURCES = (".hpp", ".cpp", ".cu", ".in")
TEXTS = SOURCES + (".cmake", ".py", ".yaml", ".bash")


def files(suffixes=TEXTS, folders=FOLDERS):
    """Paths relative to the root, build folders left out."""
    found = (path for folder in folders for path in sorted((ROOT / folder).rglob("*")))
    return [path.relative_to(ROOT) for path in found if path.suffix in suffixes and path.is_file()]


def text(path):
    return (ROOT / path).read_text(encoding="utf-8")


def scripts():
    """Bash scripts by their first line, and those that are sourced by their suffix."""
    candidates = [*(ROOT / "tools").iterdir(), *(ROOT / ".ci").iterdir()]
    return sorted(path for path in candidates if path.is_file() and is_script(path))


def is_script(path):
    with path.open(encoding="utf-8") as file:
        return path.suffix == ".bash" or file.readline().startswith("#!")
