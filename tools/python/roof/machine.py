"""The machine's description for machine.yaml, from `roof doctor` where the program is found."""

import os
import platform
import re
from typing import Any, Dict, Optional

from roof.program import NotFound, run_json


def node_name() -> str:
    """Which machine of several equal ones this is, as ert/method/bench/node.cpp names it; empty if nothing tells."""
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
