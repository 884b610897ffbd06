"""Builds the programs of the acceptance, and packs a build for a machine with a GPU."""

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

from acceptance.scene import ROOT, library_path
from measuring import Failed, run

CONFIGURE_SECONDS, BUILD_SECONDS = 120, 3600
PROGRAMS = ("roof", "roof_gpu.so", "roof_cupti.so", "roof_inject.so", "test_gpu", "nccl_ranks", "roof_cudnn.so", "test_cudnn_device")
#: Libraries that every machine with a driver has, or that PyTorch brings.
EVERYWHERE = ("libcudnn", "libcublas", "libc.so", "libm.so", "libpthread.so", "libdl.so", "librt.so", "ld-linux", "libstdc++.so",
              "libgcc_s.so")


def build(folder, out):
    """Configures and builds with the GPU parts."""
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    text = run(["cmake", *generator, "-S", ROOT, "-B", folder, "-DROOF_CUDA=ON", "-DROOF_TESTS=ON", "-DCMAKE_BUILD_TYPE=Release"],
               out / "configure.log", CONFIGURE_SECONDS).text
    targets = ["roof_exe", "roof_gpu", "roof_cupti", "roof_inject", "test_gpu", "nccl_ranks"]
    if "built   cudnn" in text:
        targets += ["roof_cudnn", "test_cudnn_device"]
    run(["cmake", "--build", folder, "--parallel", os.cpu_count() or 1, "--target", *targets], out / "build.log", BUILD_SECONDS)


def is_archive(path):
    return path.name.endswith(".tar.gz")


def pack(build_folder, target):
    """Copies the programs, and libraries that another machine may lack, into a folder with the layout of a build. With
    the suffix .tar.gz it makes an archive, a third of the size."""
    if not is_archive(target):
        return copy(build_folder, target)
    with tempfile.TemporaryDirectory() as folder:
        copy(build_folder, Path(folder))
        shutil.make_archive(str(target).removesuffix(".tar.gz"), "gztar", folder)


@contextlib.contextmanager
def unpacked(build):
    """The folder of the build. An archive is unpacked into a temporary folder."""
    if not is_archive(build):
        yield build
        return
    with tempfile.TemporaryDirectory(prefix="roof-build-") as folder:
        shutil.unpack_archive(build, folder)
        yield Path(folder)


def copy(build_folder, target):
    for folder in ("bin", "lib"):
        (target / folder).mkdir(parents=True, exist_ok=True)
    for path in [build_folder / "bin" / name for name in PROGRAMS]:
        if not path.exists():
            print(f"{path.name}: not in this build; steps that need it will say so")
            continue
        shutil.copy2(path, target / "bin" / path.name)
        for line in run(["ldd", path]).text.splitlines():
            words = line.split()
            if "=>" in words and words[2].startswith("/") and not words[0].startswith(EVERYWHERE):
                shutil.copy2(os.path.realpath(words[2]), target / "lib" / words[0])


def identity(folder):
    """Version and revision as printed by its `roof`; empty without one."""
    try:
        return run([folder / "bin" / "roof", "--version"], LD_LIBRARY_PATH=library_path(folder)).text.strip()
    except Failed:
        return ""
