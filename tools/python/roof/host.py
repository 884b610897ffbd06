"""The machine: its description for machine.yaml, from `roof doctor` where the program is found; and what else used it,
by the kernel's counts: the columns that `roof run` writes (docs/method.md, A busy machine)."""

import os
import platform
import re
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any, Dict, List, Optional, Tuple

from roof.program import NotFound, run_json

THROTTLED = "the control group's limit throttled this process in "  #: as ert/method/bench/process_limits.hpp has it
NOTICED = 0.02  #: the least share of the periods that is told


@dataclass
class Counts:
    """So far, in seconds; None where the kernel does not say."""

    at: float
    own: float
    busy: Optional[float] = None
    stolen: Optional[float] = None
    waited: Dict[str, float] = field(default_factory=dict)  #: of each thread
    #: Of each control group with a limit: all, and throttled ones.
    periods: Dict[Path, Tuple[int, int]] = field(default_factory=dict)


def read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def groups(system: Path) -> List[Path]:
    """cpu.stat of this process's groups and those above, of both versions."""
    found = []
    for line in read(system / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        root = system / "sys/fs/cgroup" / ("cpu" if controllers else "")
        own = root / path.lstrip("/")
        found += [folder / "cpu.stat" for folder in (own, *own.parents) if root in (folder, *folder.parents)]
    return found


def counts(system: Path = Path("/")) -> Counts:
    used = os.times()
    now = Counts(monotonic(), used.user + used.system)
    total = read(system / "proc/stat").split("\n", 1)[0].split()
    if total[:1] == ["cpu"] and len(total) > 8:
        ticks = [int(number) / os.sysconf("SC_CLK_TCK") for number in total[1:9]]
        now.busy, now.stolen = sum(ticks[i] for i in (0, 1, 2, 5, 6)), ticks[7]
    for file in (system / "proc/self/task").glob("*/schedstat"):
        times = read(file).split()
        if len(times) > 1:
            now.waited[file.parent.name] = 1e-9 * int(times[1])
    for file in groups(system):
        lines = (line.split() for line in read(file).splitlines())
        fields = {words[0]: int(words[1]) for words in lines if len(words) == 2}
        if "nr_periods" in fields:
            now.periods[file] = (fields["nr_periods"], fields.get("nr_throttled", 0))
    return now


def use_between(before: Counts, after: Counts) -> Dict[str, float]:
    """The columns that are known."""
    elapsed = after.at - before.at
    found: Dict[str, float] = {}
    if elapsed <= 0:
        return found
    if before.busy is not None and after.busy is not None:
        found["others_processors"] = max(0.0, after.busy - before.busy - (after.own - before.own)) / elapsed
    if before.stolen is not None and after.stolen is not None:
        found["stolen_processors"] = max(0.0, after.stolen - before.stolen) / elapsed
    waited = [time - before.waited[thread] for thread, time in after.waited.items() if thread in before.waited]
    if waited:
        found["waited_share"] = min(1.0, max(0.0, *waited) / elapsed)
    return found


def throttling_between(before: Counts, after: Counts) -> List[str]:
    """A remark, if a quota of the own container stopped this process."""
    both = [(*then, *after.periods[group]) for group, then in before.periods.items() if group in after.periods]
    most = max(((stopped - was) / (now - then) for then, was, now, stopped in both if now > then), default=0.0)
    return [f"{THROTTLED}{100 * most:.0f}% of its periods"] if most >= NOTICED else []


def node_name() -> str:
    """Which machine of several equal ones this is, as ert/method/bench/identity.cpp names it; empty if nothing tells."""
    for name in (os.environ.get("SLURMD_NODENAME"), os.environ.get("NODE_NAME"), platform.node()):
        legal = re.sub(r"^[._-]+", "", re.sub(r"[^A-Za-z0-9._-]", "-", name or ""))[:64]
        if legal:
            return legal
    return ""


def describe(name: Optional[str] = None) -> Dict[str, Any]:
    """Name, processor and devices. Without the program `roof` only what Python knows, under `name` or the host's
    name."""
    try:
        known = run_json("doctor", "--json")["machine"]
    except NotFound:
        model = platform.processor() or platform.machine()
        known = {"name": name or platform.node(), "cpu_model": model, "threads": os.cpu_count() or 1,
                 "node": node_name(), "devices": [{"name": "cpu", "kind": "cpu", "model": model}]}
    keys = ("name node host quota cpu_model vendor family model stepping sockets cores threads smt numa_nodes isa "
            "features").split()
    machine = {key: known[key] for key in keys if known.get(key) is not None}
    if name:
        machine["name"] = name
    machine["devices"] = [_device(device) for device in known["devices"]]
    machine["versions"] = {"python": platform.python_version(), "kernel": f"{platform.system()} {platform.release()}"}
    return machine


def _device(device: Dict[str, Any]) -> Dict[str, Any]:
    keys = ("name", "capacity_bytes", "instances", "shared_by_threads")
    levels = [{key: level[key] for key in keys if level.get(key) is not None} for level in device.get("levels", [])]
    return {"name": device["name"], "kind": device["kind"], "model": device.get("model") or "", "levels": levels}
