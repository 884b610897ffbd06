"""Writes the PTX that an object of nvcc holds uncompressed, without the lines of the source, as nvcc writes it by itself.

    python3 embedded_ptx.py KERNELS.o sm_80 KERNELS.ptx"""
import pathlib
import re
import sys


def main(source, target, to):
    found = re.findall(rb"\.version \d[^\0]*?\.target " + target.encode() + rb"\n[^\0]*", pathlib.Path(source).read_bytes())
    if len(found) != 1:
        sys.exit(f"{source}: {len(found)} texts of PTX for {target}, not one")
    pathlib.Path(to).parent.mkdir(exist_ok=True)
    pathlib.Path(to).write_text(re.sub(r"^\s*\.(loc|file)\b.*\n", "", found[0].decode(), flags=re.MULTILINE), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
