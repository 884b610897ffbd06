"""Checks every #include against the table "Who may include whom" in docs/architecture.md, which is its only copy."""

import re
from dataclasses import dataclass

import tree

SYSTEM = (
    "cpuid.h", "dlfcn.h", "fcntl.h", "fnmatch.h", "linux/", "pthread.h", "sched.h", "signal.h", "spawn.h", "sys/", "termios.h", "unistd.h",
    "x86intrin.h", "immintrin.h",
)
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]', re.MULTILINE)


@dataclass(frozen=True)
class Permitted:
    folders: frozenset
    libraries: tuple


def read_table(markdown):
    """Reads the table under the heading: folder name -> what it may include."""
    section = markdown.split("## Who may include whom", 1)[1].split("\n## ", 1)[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    table = {}
    for row in rows:
        name, folders, libraries = (re.findall(r"`([^`]+)`", cell) for cell in row.strip("|").split("|"))
        expanded = [word for library in libraries for word in (SYSTEM if library == "system" else (library,))]
        table[name[0]] = Permitted(frozenset(folders), tuple(expanded))
    return table


def arrows_up(table):
    """One sentence for each permitted folder that has no earlier row. Without such folders there is no cycle."""
    above = set()
    for name, permitted in table.items():
        yield from (f"{name} may include {other}, whose row is below" for other in sorted(permitted.folders - above))
        above.add(name)


def folder_of(path, table):
    """The longest folder name in the table that contains the path; None without one."""
    holders = [folder for folder in table if str(path).startswith(folder + "/")]
    return max(holders, key=len, default=None)


def violations(path, source, table):
    """One sentence for each #include of the file that the table does not allow."""
    folder = folder_of(path, table)
    for kind, target in INCLUDE.findall(source):
        if kind == '"':
            yield from quoted(path, folder, target, table)
        elif not is_standard(target) and not target.startswith(table[folder].libraries):
            yield f"{path}: {folder} may not use <{target}>"


def quoted(path, folder, target, table):
    other = folder_of(target, table)
    if other is None:
        yield f'{path}: "{target}" is not written from the root of the tree'
    elif other != folder and other not in table[folder].folders:
        yield f"{path}: {folder} may not include {other} ({target})"


def is_standard(header):
    return re.fullmatch(r"[a-z_]+", header) is not None


def violations_of_tree():
    table = read_table(tree.text("docs/architecture.md"))
    for path in tree.files(tree.SOURCES):
        if path.parts[0] == "tests":
            continue
        if folder_of(path, table) is None:
            yield f"{path}: this folder is not in the table"
        else:
            yield from violations(path, tree.text(path), table)
