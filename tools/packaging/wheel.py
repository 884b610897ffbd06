"""Puts the wheel together, and checks it: the Python package, in it `program` with the program and its libraries.

    wheel.py make PROGRAM ROOT OUT    from the folder of a built program and the root that it was built against; prints the wheel
    wheel.py check WHEEL              every fault of a wheel, one a line; exit status 1 if there is one
"""

import base64
import csv
import hashlib
import io
import re
import shutil
import stat
import struct
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PYTHON = HERE.parent / "python"
PROGRAM = "roof/program"
LARGEST = 60 * 10**6  # bytes
CAPABILITIES = {75, 80, 86, 89, 90, 100, 120}  # of which the GPU parts have machine code, 75 for 7.5
CUBIN = b"\x7fELF\x02\x01\x01"
MACHINE_CUDA = 190
C_LIBRARY = (2, 31)  # Debian 11's
# What every system with this C library has.
SYSTEM = re.compile(r"(ld-linux-x86-64|libc|libm|libdl|libpthread|librt|libresolv|libgcc_s|libutil)\.so(\.\d+)?")
NVIDIA = re.compile(r"lib(cuda|cudart|cudnn|cublas|cublasLt|nccl|cupti)\.so(\.\d+)?")
DESCRIPTION = """roof measures the ceilings of a machine and places training steps, or any program, under them.

    roof calibrate && roof run resnet18 --batch 8 && roof report
    python -c 'import roof; print(roof.peak("fp32"), roof.bandwidth("DRAM"))'

The program is within, for x86-64 and glibc 2.31 or newer. For NVIDIA's GPUs it opens an installed CUDA, or the wheels of the extra `cuda`.
"""


def output_of(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"}).stdout


def needed(file):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", output_of("readelf", "-d", file))


def symbols(file):
    """(name, version or "", is defined) of each dynamic symbol."""
    for line in output_of("readelf", "--dyn-syms", "--wide", file).splitlines():
        words = re.sub(r" \(\d+\)$", "", line).split()
        if len(words) >= 8 and words[0].rstrip(":").isdigit():
            name, _, version = words[-1].replace("@@", "@").partition("@")
            yield name, version, words[-2] != "UND"


def libraries_for(programs, root):
    """The files in the root that the programs need, without those of every system."""
    places = [root / "opt/roof/lib", root / "usr/lib/x86_64-linux-gnu", root / "lib/x86_64-linux-gnu"]
    found, to_read = {}, list(programs)
    while to_read:
        for name in needed(to_read.pop()):
            if name in found or SYSTEM.fullmatch(name) or NVIDIA.fullmatch(name):
                continue
            found[name] = next(place / name for place in places if (place / name).exists())
            to_read.append(found[name])
    return found


def licence_of(file, root):
    """The package of the root, and its file of licences."""
    listings = (listing for listing in root.glob("var/lib/dpkg/info/*.list")
                if any(line.endswith("/" + file.name) for line in listing.read_text(encoding="utf-8").splitlines()))
    if file.parent == root / "opt/roof/lib":
        package = {"libdnnl.so.2": "onednn", "libstdc++.so.6": "libstdc++-12-dev"}[file.name]
    elif listing := next(listings, None):
        package = listing.stem.partition(":")[0]
    else:
        package = output_of("dpkg-query", "--search", "*/" + file.name).partition(":")[0]  # copied from this system
    return package, root / "usr/share/doc" / package / "copyright"


def stage(program, root, folder):
    package = folder / "roof"
    shutil.copytree(PYTHON / "roof", package, ignore=shutil.ignore_patterns("__pycache__"))
    within = folder / PROGRAM
    for place in ("bin", "lib/roof", "include", "licences"):
        (within / place).mkdir(parents=True)
    programs = [program / "roof", *(part for part in sorted(program.glob("roof_*.so")) if part.name != "roof_announcing_part.so")]
    for file in programs:
        shutil.copy2(file, within / ("bin" if file.name == "roof" else "lib/roof"))
    for name, file in libraries_for(programs, root).items():
        shutil.copy(file, within / "lib/roof" / name)
        owner, licence = licence_of(file, root)
        shutil.copy(licence, within / "licences" / owner)
    for file in [within / "bin/roof", *(within / "lib/roof").iterdir()]:
        subprocess.run(["strip", "--strip-unneeded", file], check=True)
        file.chmod(0o755)
    for name in ("roof.h", "roof.f90"):
        shutil.copy(HERE.parent / "regions" / name, within / "include")


def metadata():
    """The name and version of the project; the files of its folder .dist-info by name, without RECORD."""
    project = tomllib.loads((PYTHON / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {project['version']}", f"Summary: {project['description']}",
             "License: MIT", f"Requires-Python: {project['requires-python']}", "Description-Content-Type: text/markdown"]
    for extra, requirements in project["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f'Requires-Dist: {one}; extra == "{extra}"' for one in requirements]
    tag = f"py3-none-manylinux_{C_LIBRARY[0]}_{C_LIBRARY[1]}_x86_64"
    return f"{project['name'].replace('-', '_')}-{project['version']}", tag, {"METADATA": "\n".join(lines) + "\n\n" + DESCRIPTION,
        "WHEEL": f"Wheel-Version: 1.0\nGenerator: tools/package\nRoot-Is-Purelib: false\nTag: {tag}\n",
        "entry_points.txt": "[console_scripts]\nroof = roof.program:main\n",
        "licenses/LICENSE": (HERE.parents[1] / "LICENSE").read_text(encoding="utf-8")}


def line_of_record(name, content):
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return [name, f"sha256={digest}", str(len(content))]


def write(folder, out):
    """The wheel of a folder. Its times are fixed, so that equal files make an equal wheel."""
    name, tag, described = metadata()
    wheel = out / f"{name}-{tag}.whl"
    record = []
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        def add(path, content, mode):
            entry = zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0))
            entry.external_attr = (stat.S_IFREG | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            path, content = str(file.relative_to(folder)), file.read_bytes()
            add(path, content, 0o755 if content.startswith(b"\x7fELF") else 0o644)
            record.append(line_of_record(path, content))
        for path, text in described.items():
            add(f"{name}.dist-info/{path}", text, 0o644)
            record.append(line_of_record(f"{name}.dist-info/{path}", text.encode()))
        rows = io.StringIO()
        csv.writer(rows, lineterminator="\n").writerows([*record, [f"{name}.dist-info/RECORD", "", ""]])
        add(f"{name}.dist-info/RECORD", rows.getvalue(), 0o644)
    return wheel


def make(program, root, out):
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        stage(program, root, Path(folder))
        return write(Path(folder), out)


def faults_of_record(archive):
    names = set(archive.namelist())
    record = next(name for name in names if name.endswith(".dist-info/RECORD"))
    rows = {row[0]: row for row in csv.reader(io.StringIO(archive.read(record).decode()))}
    yield from (f"{name} is not in RECORD" for name in sorted(names - rows.keys()))
    for name in sorted(names & rows.keys() - {record}):
        if rows[name] != line_of_record(name, archive.read(name)):
            yield f"{name} is not as RECORD has it"
    for name in ("roof/__init__.py", f"{PROGRAM}/bin/roof", f"{PROGRAM}/lib/roof/libdnnl.so.2", f"{PROGRAM}/licences/onednn"):
        if name not in names:
            yield f"{name} is missing"
    if not (archive.getinfo(f"{PROGRAM}/bin/roof").external_attr >> 16) & stat.S_IXUSR:
        yield f"{PROGRAM}/bin/roof cannot be executed"


def faults_of_programs(files, c_library):
    """Of unpacked programs and libraries: what they need has to be among them or on every system."""
    defined = {symbol[:2] for file in files for symbol in symbols(file) if symbol[2]}
    present = {file.name for file in files}
    for file in files:
        yield from (f"{file.name} needs {name}" for name in needed(file)
                    if name not in present and not SYSTEM.fullmatch(name) and not NVIDIA.fullmatch(name))
        for place in re.findall(r"\(R(?:UN)?PATH\).*\[(.*)\]", output_of("readelf", "-d", file)):
            yield from (f"{file.name} looks for libraries in {one}" for one in place.split(":") if not one.startswith("$ORIGIN"))
        for name, version, is_defined in symbols(file):
            glibc = re.fullmatch(r"GLIBC_(\d+)\.(\d+)(\.\d+)?", version)
            if not is_defined and glibc and (int(glibc[1]), int(glibc[2])) > c_library:
                yield f"{file.name} needs {name} of C library {version[6:]}"
            if not is_defined and version.startswith(("GLIBCXX_", "CXXABI_")) and (name, version) not in defined:
                yield f"{file.name} needs {name} of {version}"


def capabilities(data):
    """Compute capabilities of the machine code within: 90 for 9.0."""
    at = data.find(CUBIN)
    while at >= 0:
        if data[at + 18:at + 20] == struct.pack("<H", MACHINE_CUDA):
            yield struct.unpack_from("<I", data, at + 48)[0] >> 8 & 0xFF
        at = data.find(CUBIN, at + 1)


def faults_of_gpu_parts(files):
    for file in files:
        if file.name in ("roof_gpu.so", "roof_cudnn.so"):
            data = file.read_bytes()
            for one in sorted(CAPABILITIES - set(capabilities(data))):
                yield f"{file.name} has no machine code for {one // 10}.{one % 10}"
            if b".target sm_" not in data:
                yield f"{file.name} has no PTX for newer GPUs"


def check(wheel, c_library=C_LIBRARY, largest=LARGEST):
    faults = [] if wheel.stat().st_size <= largest else [f"it has {wheel.stat().st_size} bytes, more than {largest}"]
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as folder:
        faults += faults_of_record(archive)
        archive.extractall(folder)
        within = Path(folder) / PROGRAM
        files = [file for file in sorted(within.rglob("*")) if file.is_file() and file.read_bytes()[:4] == b"\x7fELF"]
        faults += faults_of_programs(files, c_library)
        faults += faults_of_gpu_parts(files)
    return faults


def main(words):
    if words[0] == "make":
        print(make(*map(Path, words[1:4])))
        return 0
    faults = check(Path(words[1]))
    print(*faults, sep="\n", end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
