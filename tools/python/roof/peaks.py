"""The measured denominator: peaks, bandwidths and shares of them, of the machine that runs the program.

    roof.peak("bf16")                       FLOP/s
    roof.bandwidth("DRAM")                  B/s
    roof.mfu(flops, seconds)                share of the peak
    roof.place(flops, seconds, bytes)       under all roofs

The first call finds a calibration: the folder in ROOF_CALIBRATION, else what an earlier call remembered for this
machine, else the newest full calibration of this CPU, else a probe of at most ten seconds, which is remembered. Another
processor, driver, microcode or power limit is another machine."""

import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, Dict, Iterator, Optional

from roof.program import installed, run, run_json

#: What the program says of a calibration that ran out of time.
LEFT_OUT = " not measured."


class Rate(float):
    """A measured rate in SI units, with its interval. It is used as a number."""

    low: float  #: nan where a single sample cannot tell
    high: float
    is_lower_bound: bool  #: too few undisturbed samples showed what is possible
    reason: str  #: why, and how good the calibration is; empty for a steady rate
    source: str  #: the folder of the calibration

    def __repr__(self) -> str:
        return f"{'>= ' if self.is_lower_bound else ''}{float(self):.4g} [{self.low:.4g}, {self.high:.4g}]"


def peak(precision: str = "bf16", device: Optional[str] = None) -> Rate:
    """FLOP/s of the fastest multiply-adds in a precision: fp64, fp32, tf32, fp16, bf16, fp8, int8. `device`: cpu,
    gpu:0, … [the first GPU that PyTorch has been asked for, else cpu]. Raises ValueError for a precision that was not
    measured."""
    return _fastest("compute", "precision", precision, device)


def bandwidth(level: str = "DRAM", device: Optional[str] = None) -> Rate:
    """B/s of the fastest access to a memory level: L1, L2, L3, DRAM. Raises ValueError for a level that was not
    measured."""
    return _fastest("bandwidth", "level", level.upper(), device)


class Share(float):
    """A share of a measured peak. It is used as a number."""

    is_upper_bound: bool  #: the peak is a lower bound
    reason: str  #: why; empty for a steady peak


def mfu(flops: float, seconds: float, precision: str = "bf16", device: Optional[str] = None, devices: int = 1) -> Share:
    """The share of the measured peak of `devices` equal devices: 0.4 is 40%. At most true where the peak is a lower
    bound. FLOPs of a model leave out what is computed again, and count a multiply-add as two. Raises ValueError for
    what is not above 0, and for a share above 1 and above the peak's interval."""
    _above_zero(flops=flops, seconds=seconds, devices=devices)
    rate = peak(precision, device)
    each = flops / seconds / devices
    if each > (rate.high if rate < rate.high < float("inf") else rate):
        bound = f", or the peak is, which is only a lower bound ({rate.reason})" if rate.is_lower_bound else ""
        raise ValueError(f"{each:.4g} FLOP/s of each device are above its peak in {precision}, {rate!r}: the FLOPs or "
                         f"the seconds are wrong{bound}; {rate.source}")
    share = Share(each / rate)
    share.is_upper_bound, share.reason = rate.is_lower_bound, rate.reason
    return share


def place(flops: float, seconds: float, bytes: Optional[float] = None, precision: str = "fp32",
          device: Optional[str] = None) -> Any:
    """The point under the roofs, as `roof place --json` has it: what binds, the share of attainable, the least time.
    Raises ValueError for what is not above 0."""
    _above_zero(flops=flops, seconds=seconds, **({} if bytes is None else {"bytes": bytes}))
    words = ["place", "--flops", repr(flops), "--seconds", repr(seconds), "--precision", precision,
             "--device", device or default_device()]
    words += ["--bytes", repr(bytes)] if bytes is not None else []
    return run_json(*words, "--on", calibration(device), "--json")["points"][0]


def _above_zero(**amounts: float) -> None:
    for name, amount in amounts.items():
        if not 0 < amount < float("inf"):
            raise ValueError(f"{name} must be a number above 0, not {amount!r}")


def default_device() -> str:
    torch = sys.modules.get("torch")
    return "gpu:0" if torch is not None and torch.cuda.is_available() else "cpu"


def calibration(device: Optional[str] = None) -> str:
    """The folder whose ceilings are used for a device. It is measured now if none is known."""
    if os.environ.get("ROOF_CALIBRATION"):
        return os.environ["ROOF_CALIBRATION"]
    folder = Path(_found(device or default_device()))
    if folder.parent == _memory() and not _serves(folder):
        _found.cache_clear()
        folder = Path(_found(device or default_device()))
    return str(folder)


@lru_cache(maxsize=None)
def _found(device: str) -> str:
    machine = run_json("doctor", "--json")["machine"]
    folder = _memory() / fingerprint(machine, device)
    known = None if device != "cpu" or _serves(folder) else newest(machine)
    if known is not None:
        return known
    with _one_at_a_time():
        if not _serves(folder):
            _measure(folder, device, machine["threads"])
    return str(folder)


def _measure(folder: Path, device: str, threads: int) -> None:
    """A probe in `folder`, in the place of an older one. Raises RuntimeError for one that measured no ceilings, and
    keeps the older one."""
    print(f"roof: measuring the peaks of {device} once, in about ten seconds; they are kept in {folder}",
          file=sys.stderr)
    how = ["--plan", "calibrate/cpu-peak", "--threads", str(threads)] if device == "cpu" else ["--quick"]
    probed, old = (folder.with_name(f"{folder.name}-{os.getpid()}{end}") for end in ("", "-old"))
    try:
        run("calibrate", "--device", device, *how, "--out", str(probed), "--json")
        if _left_out(probed) is None:
            raise RuntimeError(f"the probe of {device} measured no ceilings: the machine was too busy; a later call "
                               "measures again")
        if folder.exists():
            folder.rename(old)
        probed.rename(folder)
    finally:
        _roofs.cache_clear()
        for rest in (probed, old):
            shutil.rmtree(rest, ignore_errors=True)


def _left_out(folder: Path) -> Optional[bool]:
    """Whether a probe there lacked the time for some rows. None if there is none with ceilings."""
    try:
        return LEFT_OUT in _roofs(str(folder))[1] if (folder / "measurements.csv").exists() else None
    except RuntimeError:
        return None


def _serves(folder: Path) -> bool:
    """Whether a kept probe is an answer. One that left rows out is for a minute: then the machine may be less busy."""
    left_out = _left_out(folder)
    return left_out is False or (left_out is True and time.time() - folder.stat().st_mtime < 60)


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Of several processes, such as the ranks of a training script, one measures, and the others take what it kept."""
    with ExitStack() as stack:
        with suppress(OSError):  # a file system without locks
            _memory().mkdir(parents=True, exist_ok=True)
            descriptor = os.open(_memory(), os.O_RDONLY)
            stack.callback(os.close, descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield


def _memory() -> Path:
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "roof"
    except RuntimeError:  # neither HOME nor an entry in the list of users
        raise RuntimeError("this user has no home for measured peaks: set XDG_CACHE_HOME, HOME or "
                           "ROOF_CALIBRATION") from None


def fingerprint(machine: Dict[str, Any], device: str) -> str:
    """A short name of the machine, by what `roof doctor` says of its identity and state, its driver and its power
    limit."""
    facts = {"name": machine["name"], "identity": machine.get("identity", machine.get("threads")),
             "state": machine.get("state", machine.get("versions")),
             "driver": machine.get("versions", {}).get("NVIDIA driver"),
             "devices": [(one["name"], one.get("model")) for one in machine["devices"]]}
    facts["power"] = power_limits() if device != "cpu" else None
    facts["cpus"] = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    text = json.dumps(facts, sort_keys=True, default=str)
    return f"{device.replace(':', '-')}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def power_limits() -> str:
    """Of each GPU, as nvidia-smi prints them; empty where it does not run."""
    try:
        words = [installed("nvidia-smi") or "", "--query-gpu=uuid,power.limit,driver_version", "--format=csv,noheader"]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""


def newest(machine: Dict[str, Any]) -> Optional[str]:
    """The newest full calibration of this machine, if its processor, threads and microcode are those of now."""
    try:
        folder = run_json("place", "--flops", "1", "--seconds", "1", "--json")["calibration"]
    except RuntimeError as error:
        if "has no calibration" not in str(error):
            print(f"roof: {error}", file=sys.stderr)
        return None
    if not all((Path(folder) / name).exists() for name in ("machine.yaml", "plan.yaml")):
        return None
    text = (Path(folder) / "machine.yaml").read_text(encoding="utf-8")
    then = dict(re.findall(r"^ *(cpu_model|threads|microcode): \"?(.*?)\"?$", text, flags=re.MULTILINE))
    now = {"cpu_model": machine["cpu_model"], "threads": str(machine["threads"]),
           "microcode": machine.get("versions", {}).get("microcode")}
    is_quick = "\nquick: true" in (Path(folder) / "plan.yaml").read_text(encoding="utf-8")
    is_same = all(then.get(key) == value for key, value in now.items() if value is not None)
    return folder if is_same and not is_quick else None


@lru_cache(maxsize=None)
def _roofs(folder: str) -> Any:
    """The roofs at the most threads, by the program's rule, and how good the calibration is."""
    said = run_json("place", "--flops", "1", "--seconds", "1", "--on", folder, "--json")
    return said["roofs"], said.get("quality") or ""


def _fastest(kind: str, column: str, name: str, device: Optional[str]) -> Rate:
    device = device or default_device()
    folder = calibration(device)
    roofs, quality = _roofs(folder)
    measured = [roof for roof in roofs if roof["kind"] == kind and roof["device"] == device]
    for roof in measured:
        if roof[column] == name:
            rate, state = Rate(roof["median"]), roof["steadiness"]
            rate.low = float("nan") if roof["low"] is None else roof["low"]
            rate.high = float("inf") if roof["high"] is None else roof["high"]
            rate.is_lower_bound, rate.source = state == "at least", folder
            rate.reason = "" if state == "steady" else f"{state}: {roof['stands_in'] or quality}"
            return rate
    known = ", ".join(sorted({roof[column] for roof in measured}))
    busy = f"; {quality}" if LEFT_OUT in quality else ""
    raise ValueError(f"{column} '{name}' was not measured on {device}; measured: {known or 'nothing'} ({folder}){busy}")

