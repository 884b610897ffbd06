"""Scripts that measure many nodes with the engine that a site already has. `roof` starts nothing itself.

Each script runs one exclusive task per node, at most --at-once of them, and passes over nodes with whole digests, so
that it can be run again. A node that is down, or that the engine does not know, is named and holds up no other. The
texts are the files in the folder templates; @name@ stands for what is filled in, which is checked: no shell reads
anything else into it. And names and lists of nodes. No library is needed."""

import re
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Dict, List

from roof.texts import InputError

NODE_NAME = re.compile(r"[0-9A-Za-z][0-9A-Za-z._-]{0,63}")
MOST_NODES = 100_000
#: The template of each engine, and how it names a node and the results to its shell, and the node to a task.
ENGINES = {"slurm": ("slurm.sh", '"$node"', '"$results"', r"\$SLURMD_NODENAME"),
           "pbs": ("pbs.sh", '"$node"', '"$results"', "$node"), "kubernetes": ("kubernetes.yaml", "", "", ""),
           "parallel": ("parallel.sh", "{}", "", "{}")}


@dataclass
class Script:
    engine: str
    plan: str = ""  #: empty: the calibration of each device
    devices: List[str] = field(default_factory=list)  #: cpu, gpu (every GPU of a node); empty: as the plan says
    nodes: List[str] = field(default_factory=list)  #: may be empty for slurm and pbs: all nodes that they list
    results: str = "fleet"  #: a folder on a shared file system, with a folder for each node
    at_once: int = 20
    minutes: int = 30  #: the time limit of a task
    image: str = ""  #: kubernetes: the container's image
    claim: str = ""  #: kubernetes: the PersistentVolumeClaim that holds `results`
    gpus: int = 8  #: kubernetes: of each node, requested where `devices` has gpu

    def check(self) -> None:
        if self.engine not in ENGINES:
            raise InputError(f"unknown engine '{self.engine}'; legal values: {', '.join(ENGINES)}")
        if unknown := [device for device in self.devices if device not in ("cpu", "gpu")]:
            raise InputError(f"--device: '{unknown[0]}' is neither cpu nor gpu (every GPU of a node)")
        if not self.plan if not self.devices else len(self.devices) > 1 and self.plan:
            raise InputError("--plan: one plan, with one device or as the plan says")
        if not self.nodes and self.engine in ("kubernetes", "parallel"):
            raise InputError(f"--nodes: {self.engine} needs a list of nodes")
        words = {"--plan": self.plan or "none", "--out": self.results}
        if self.engine == "kubernetes":
            words.update({"--image": self.image, "--claim": self.claim})
        for option, text in words.items():  # a shell and YAML take the text as one plain word
            if not re.fullmatch(r"[0-9A-Za-z/._:@+][0-9A-Za-z/._:@+-]*", text):
                raise InputError(f"{option}: '{text}' is no word of letters, digits and /._:@-+")
        if self.engine == "kubernetes" and not self.results.startswith("/"):
            raise InputError("--out: where the volume is mounted, such as /results")

    def commands(self, node: str, results: str) -> str:
        """A task's commands on one node. `node` and `results` are what the shell expands."""
        if not self.devices:
            return f"roof sweep {self.plan} --node {node} --out {results}/{node}"
        plan, sides = f" --plan {self.plan}" if self.plan else "", {"gpu": " --side-by-side"}
        return "; ".join(f"roof calibrate --device {device}{sides.get(device, '')}{plan} --node {node} "
                         f"--out {results}/{node}/{device}" for device in self.devices)

    def has_digests(self, node: str, results: str) -> str:
        """A condition of the shell: the node has all its digests, each with its last line, in either form."""
        folders = [f"{results}/{node}/{device}" for device in self.devices] or [f"{results}/{node}"]
        return " && ".join(f"zcat -f {folder}/digest.csv 2> /dev/null | tail -n 1 | grep -q ^end,"
                           for folder in folders)


def fleet_script(script: Script) -> str:
    """Raises InputError for an unknown engine or device, for missing nodes, image, claim or plan, for a plan and
    several devices, and for a plan or folder that a shell could misread."""
    script.check()
    words: Dict[str, object] = {"at_once": script.at_once, "results": script.results, "minutes": script.minutes,
                                "seconds": 60 * script.minutes,
                                "walltime": f"{script.minutes // 60:02}:{script.minutes % 60:02}:00"}

    def filled(file: str, **more: object) -> str:
        text = (Path(__file__).parent / "templates" / file).read_text(encoding="utf-8")
        return re.sub(r"@(\w+)@", lambda found: str({**words, **more}[found[1]]), text)

    template, node, results, own = ENGINES[script.engine]
    if script.engine == "kubernetes":
        gpus = f"          resources: {{limits: {{nvidia.com/gpu: {script.gpus}}}}}\n"
        gpus = gpus if "gpu" in script.devices else ""
        text = filled(template)
        for place, node in enumerate(script.nodes):
            name = re.sub(r"[_.]", "-", f"roof-{place}-{node.lower()}")[:63].rstrip("-")  # of a Kubernetes object
            text += filled("kubernetes_job.yaml", name=name, node=node, image=script.image, claim=script.claim,
                           resources=gpus, has_digests=script.has_digests(node, script.results),
                           commands=script.commands(node, script.results))
        return text
    results = results or script.results
    nodes = " ".join(script.nodes) or r"""$(printf '%s\n' "${!state[@]}" | sort)"""
    return filled(template, nodes=nodes, has_digests=script.has_digests(node, results),
                  commands=script.commands(own, results))


def read_expected(file: str) -> Dict[str, Dict[str, str]]:
    """A node on each line, then blanks and KEY=VALUE; empty lines and those with # are skipped. Raises InputError."""
    nodes: Dict[str, Dict[str, str]] = {}
    try:
        lines = Path(file).read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror}") from error
    for number, line in enumerate(lines, 1):
        node, *facts = line.split() or ["#"]
        if node.startswith("#"):
            continue
        fault = next((f"'{word}' is not of the form KEY=VALUE" for word in facts if word.find("=") < 1), "")
        fault = f"'{node}' stands twice" if node in nodes else fault
        fault = fault if NODE_NAME.fullmatch(node) else f"'{node}' is no node's name"
        if fault:
            raise InputError(f"{file}:{number}: {fault}")
        nodes[node] = dict(word.split("=", 1) for word in facts)
    return nodes


def node_list(text: str) -> List[str]:
    """ "r[1-2]n[01-03],login1" -> r1n01 r1n02 r1n03 r2n01 r2n02 r2n03 login1. Raises InputError."""
    nodes: List[str] = []
    for word in re.findall(r"(?:[^][,\s]|\[[^][\s]*\]|[][])+", text):
        parts, number = [], 1
        for ranges, plain in re.findall(r"\[([^][]*)\]|([^][]+|[][])", word):
            parts.append([plain] if plain else [one for each in ranges.split(",") for one in _numbers(each, word)])
            number *= len(parts[-1])
            if number + len(nodes) > MOST_NODES:
                raise InputError("--nodes: more than 100,000 nodes")
        for name in map("".join, product(*parts)):
            if not NODE_NAME.fullmatch(name):
                raise InputError(f"--nodes: '{name}' is no node's name")
            nodes.append(name)
    return nodes


def _numbers(part: str, word: str) -> List[str]:
    for first, last in re.findall(r"\A(\d{1,9})(?:-(\d{1,9}))?\Z", part, re.ASCII):
        numbers = range(int(first), int(last or first) + 1)
        if 0 < len(numbers) <= MOST_NODES:
            return [f"{number:0{len(first)}}" for number in numbers]
    raise InputError(f"--nodes: '{part}' in '{word}' is no range such as 01-32")
