"""Steps for the machine's description, the tests that need its GPU, and NCCL's ranks."""

import json
import platform
import sys
import time

from acceptance.scene import ROOT, SMALL_PLANS
from measuring import Countdown, Failed, run

COMMANDS = {"nvidia-smi": ["nvidia-smi", "-q", "-d", "CLOCK,POWER,TEMPERATURE,MEMORY,PERFORMANCE"],
            "nvcc": ["nvcc", "--version"], "ncu": ["ncu", "--version"], "libc": ["ldd", "--version"],
            "torch": [sys.executable, "-c", "import torch; print(torch.__version__, torch.version.cuda, torch.backends.cudnn.version())"],
            "revision": ["git", "-C", ROOT, "describe", "--always", "--dirty"]}


def said_by(command, seconds):
    try:
        return run(command, seconds=seconds).text.strip()
    except Failed as failure:
        return f"not to be had: {failure}"


def provenance(scene, seconds):
    """Writes provenance.json, which identifies the machine, and roof's own description of it."""
    time_left = Countdown(seconds)
    found = {"utc": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "python": sys.version, "kernel": platform.platform()}
    for name, command in COMMANDS.items():
        found[name] = said_by(command, max(1, time_left.left))
    (scene.out / "provenance.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    doctor = scene.doctor()
    if isinstance(doctor, str):
        return doctor
    gpus = [device["model"] for device in doctor["machine"]["devices"] if device["kind"] == "gpu"]
    return ", ".join(gpus) or "no GPU"


def device_tests(scene, seconds):
    """Every kernel at every usual size, or at one small size."""
    small = {"ROOF_PLAN": str(SMALL_PLANS / "device-tests.yaml")} if scene.is_small else {}
    scene.run([scene.bin / "test_gpu", "~[fake]"], "device-tests.txt", seconds, ROOF_GPU_PART=str(scene.bin / "roof_gpu.so"), ROOF_TREE=str(ROOT),
              **small)


def parity(scene, seconds):
    """With PyTorch's numbers of whole networks, unless all is to be small."""
    only = ["On a GPU the small networks*,On a GPU the engines*"] if scene.is_small else []
    scene.run([scene.bin / "test_cudnn_device", *only], "parity.txt", seconds, ROOF_TREE=str(ROOT))


def nccl(scene, seconds):
    """Runs two ranks on one GPU. This shows that NCCL works; the speed is not meaningful."""
    time_left = Countdown(seconds)
    for ranks in (1, 2):
        scene.run([scene.bin / "nccl_ranks", ranks], f"nccl-{ranks}.txt", time_left.left)
