"""The environment of the steps: results folder, build, and properties of this machine, each queried once."""

import functools
import json
import os
import shutil
import sys
from pathlib import Path

import pages

from measuring import Failed, TimeOver, run

ROOT = Path(__file__).resolve().parents[2]
#: In place of the plans of the steps where all is to be small.
SMALL_PLANS = ROOT / "tests" / "acceptance" / "small"
#: The layers of AlexNet and ResNet, each kind once.
SMALL_NETWORK = ("{name: small, image: [3, 12, 12], layers: [{convolution: {channels: 8, window: 3, padding: 1, bias: false}}, batch_norm, "
                 "{relu: {name: stem}}, {convolution: {channels: 8, window: 3, padding: 1, bias: false}}, {batch_norm: {name: branch}}, "
                 "{add: {from: [branch, stem]}}, relu, {max_pool: {window: 2}}, {convolution: {channels: 8, window: 3, padding: 1}}, "
                 "relu, average_pool, flatten, {linear: {features: 10}}]}")
#: The same without what mixes the images of a batch, so that two ranks with half of it see the same losses.
SMALL_UNMIXED = ("{name: unmixed, image: [3, 8, 8], layers: [{convolution: {channels: 4, window: 3, padding: 1}}, relu, "
                 "{convolution: {channels: 4, window: 3, padding: 1}}, relu, {max_pool: {window: 2}}, flatten, {linear: {features: 10}}]}")
PEERS = ROOT / "tests" / "acceptance" / "peers"  #: programs of PyTorch that steps run
WITH_BF16 = WITH_ATTENTION = 8.0  # compute capability; of attention: by cuDNN


class Scene:
    def __init__(self, out, build, is_small=False):
        self.is_small = is_small
        self.out = out
        self.bin = build / "bin"
        self.roof = self.bin / "roof"
        self.libraries = library_path(build)

    def run(self, command, log, seconds, accepted=(0,), **environment):
        """Standard output of the command, which runs with the build's libraries; `log` is a file in the results folder. Raises Failed."""
        return run(command, self.out / log, seconds, accepted, **{"LD_LIBRARY_PATH": self.libraries, **environment}).text

    def measure(self, step, words, seconds):
        """Rows of these words of roof, as many as time allows, in the folder of the step; the same command continues with the rest. Raises
        Failed if a row failed, or none was measured."""
        cut_off = ""
        try:
            self.run([self.roof, *words, "--out", self.out / step], f"{step}.log", seconds, accepted=(0, 1))
        except TimeOver:
            cut_off = f"; the rest: tools/gpu_acceptance --only {step} --minutes 60"
        rows = pages.rows(self.out / step / "measurements.csv")
        measured = [row for row in rows if row["status"] == "ok"]
        failed = [f"{row['id']}: {row['reason']}" for row in rows if row["status"] == "failed"]
        if failed or not measured:
            raise Failed("; ".join(failed) or f"no row was measured in the time; {step}.log says more")
        return f"{len(measured)} rows measured{cut_off}"

    def network(self, name, batch):
        """Model and batch of a training step: those, or a small network with each kind of layer."""
        return (SMALL_NETWORK, 2) if self.is_small else (name, batch)

    def unmixed_network(self):
        """Model and batch of a rank, without batch norm."""
        return (SMALL_UNMIXED, 2) if self.is_small else ("alexnet", 32)

    def fresh(self, name):
        """A path for new results. Deletes results of an earlier round."""
        folder = self.out / name
        shutil.rmtree(folder, ignore_errors=True)
        return folder

    @functools.cache
    def doctor(self):
        """The output of `roof doctor --json`; a text with the reason if there is none."""
        if not self.roof.exists():
            return f"the build has no {self.roof.name} in {self.bin.parent.name}/bin"
        try:
            return json.loads(self.run([self.roof, "doctor", "--json"], "doctor.json", 60))
        except (Failed, ValueError) as error:
            return f"roof doctor: {error}"

    @property
    def capability(self):
        """Compute capability of the first GPU; that of an H100 where it is not known."""
        found = self.doctor()
        devices = [] if isinstance(found, str) else found["machine"]["devices"]
        known = [device["facts"].get("compute capability") for device in devices if device["kind"] == "gpu"]
        return float(known[0]) if known and known[0] else 9.0

    @property
    def narrow(self):
        """The narrow format that the GPU multiplies."""
        return "bf16" if self.capability >= WITH_BF16 else "fp16"


# ------------------------------------------------------------------------------- needs: the reason why a step cannot run here

def gpu(scene):
    found = scene.doctor()
    if isinstance(found, str):
        return found
    if any(device["kind"] == "gpu" for device in found["machine"]["devices"]):
        return None
    said = [one["reason"] for one in found["machine"]["capabilities"] + found["absent"] if one["name"] == "gpu"]
    return "no GPU: " + (said[0] if said and said[0] else "this build has no part for one")


def program(name):
    def need(scene):
        return None if (scene.bin / name).exists() else f"the build has no {name}"
    return need


def attention(scene):
    if scene.capability >= WITH_ATTENTION:
        return None
    return f"cuDNN has attention from {WITH_ATTENTION} on, and this GPU has {scene.capability}"


def part(name):
    """The need for a shared part that is built and can be opened here."""
    def need(scene):
        found = scene.doctor()
        if isinstance(found, str):
            return found
        return next((f"part {name} is absent: {one['reason']}" for one in found["absent"] if one["name"] == name), None)
    return need


@functools.cache
def torch(_scene):
    code = "import torch, sys; sys.exit(None if torch.cuda.is_available() else f'PyTorch {torch.__version__} sees no GPU')"
    try:
        run([sys.executable, "-c", code], seconds=60)
    except Failed as failure:
        return str(failure)
    return None


def ncu(_scene):
    return None if shutil.which("ncu") else "Nsight Compute (ncu) is not on the path"


def library_path(build):
    """Library path of a packed build and of PyTorch's libraries. Measurements are compared with PyTorch's cuBLAS."""
    folders = [build / "lib"]
    for folder in run([sys.executable, "-c", "import nvidia; print(*nvidia.__path__)"], accepted=(0, 1)).text.split():
        folders += [Path(folder) / name / "lib" for name in ("cu13", "cublas", "cudnn", "nccl")]
    known = [str(folder) for folder in folders if folder.is_dir()]
    return ":".join(known + [word for word in [os.environ.get("LD_LIBRARY_PATH", "")] if word])
