#!/usr/bin/env python3
"""Made-up fleets by a second generator, which knows the documented format of digest.csv and nothing of the program, and their judgement.

usage: other_fleets.py ROOF [--fleets N] [--seed S] [--only WORD]

Writes the digests of fleets, has `roof fleet` judge them, and prints in how many a healthy node was found, and in how many all planted nodes were.
Each fleet has its own seed: a row of the table can be repeated alone.
"""

import argparse
import base64
import json
import math
import random
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

HEADER = "what,name,value,low,high,unit,state,n,spec,rounds"
ROUNDS = 5
FACTOR = 3.495  # half the width of an interval over five rounds, in standard errors (docs/method.md, section 2)

MEMORY = [f"cpu bandwidth DRAM {access} threads=64" for access in ("load", "store", "copy", "update", "accumulate", "triad", "store_nt", "copy_nt")]
CACHES = [f"cpu bandwidth {level} {access} threads=64" for level in ("L1", "L2", "L3") for access in ("load", "store", "copy", "triad")]
COMPUTE = [f"cpu compute core {mix} {precision} {isa} threads=64" for isa in ("scalar", "sse", "avx2", "avx512") for precision in ("fp64", "fp32")
           for mix in ("fma", "mul+add")]
LATENCY = [f"cpu latency {level} chase threads=1" for level in ("L1", "L2", "L3", "DRAM")]
QUANTITIES = MEMORY + CACHES + COMPUTE + LATENCY  # 40


def checksum(lines):
    """Of a block with the header before it (docs/reliability.md)."""
    total = 0
    for line in lines:
        total = (total * 0x5DEECE66D + zlib.crc32(line.encode())) % 2**48
    return base64.urlsafe_b64encode(total.to_bytes(6, "big")).decode()


def digest_text(node, time, rates, kind="made-64cpu", plan="00000000000000aa", revision="other0", facts=()):
    """`rates`: name, value, low and high (None for a lower bound)."""
    lines = [f"fact,{name},{text},,,,,,," for name, text in
             (("node", node), ("kind", kind), ("plan", plan), ("revision", revision), ("time", time), *facts)]
    for name, value, low, high in rates:
        unit = "FLOP/s" if " compute " in name else "lines/s" if " latency " in name else "B/s"
        state = "at least" if high is None else "steady"
        lines.append(f"ceiling,{name},{value:.5g},{low:.5g},{'' if high is None else format(high, '.5g')},{unit},{state},25,,{ROUNDS}")
    lines.append(f"end,,{len(lines)},,,,,,,")
    return f"{HEADER},block_checksum\n" + "".join(f"{line},\n" for line in lines[:-1]) + f"{lines[-1]},{checksum([HEADER, *lines])}\n"


def student(chance, degrees):
    """Of standard deviation 1."""
    return chance.gauss(0, 1) / math.sqrt(2 * chance.gammavariate(degrees / 2, 1) / degrees) * math.sqrt((degrees - 2) / degrees)


SCATTERS = {
    "normal": lambda chance: chance.gauss(0, 1),
    "t3": lambda chance: student(chance, 3),
    "t4": lambda chance: student(chance, 4),
    "logistic": lambda chance: math.log(1 / (1 - chance.random()) - 1) * math.sqrt(3) / math.pi,
    "spoilt": lambda chance: chance.gauss(0, 1) * (5 if chance.random() < 0.02 else 1),  # one value in fifty scatters by five times as much
}


def rounds_about(chance, usual, x, noise):
    """Value and interval of five rounds."""
    rounds = [x + noise * chance.gauss(0, 1) for _ in range(ROUNDS)]
    mean = sum(rounds) / ROUNDS
    half = FACTOR * math.sqrt(sum((r - mean) ** 2 for r in rounds) / (ROUNDS - 1) / ROUNDS)
    return tuple(usual * math.exp(mean + side * half) for side in (0, -1, 1))


class Fleet:
    """Healthy nodes; what is slower is planted as (nodes, quantities, share, days)."""

    def __init__(self, seed, nodes, scatter="normal", spread=0.01, noise=0.003, uneven=0.0, hot=0.0, rack=0.0, lacking=0.0, days=1, daily=0.0,
                 quantities=QUANTITIES, plans=1):
        self.chance = random.Random(seed)
        chance = self.chance
        self.planted = []
        self.quantities = quantities
        self.days = days
        self.names = [f"r{i // 16:03}n{i % 16:02}" for i in range(nodes)]
        own_spread = [spread * math.exp(uneven * chance.gauss(0, 1)) for _ in quantities]
        racks = [rack * chance.gauss(0, 1) for _ in range(nodes // 16 + 1)]
        draw = SCATTERS[scatter]
        self.own = []
        for i in range(nodes):
            warm = hot * chance.gauss(0, 1)
            self.own.append([racks[i // 16] + warm + s * draw(chance) for s in own_spread])
        self.noise, self.lacking, self.daily, self.plans = noise, lacking, daily, plans

    def plant(self, nodes, quantities, share, days=None):
        self.planted.append((frozenset(nodes), frozenset(quantities), share, days))
        return self

    def write(self, folder):
        for i, node in enumerate(self.names):
            for day in range(self.days):
                rates = []
                for q, name in enumerate(self.quantities):
                    x = self.own[i][q] + self.daily * self.chance.gauss(0, 1)
                    for nodes, quantities, share, days in self.planted:
                        if i in nodes and q in quantities and (days is None or day in days):
                            x += math.log(1 - share)
                    if self.chance.random() < self.lacking:
                        continue
                    rates.append((name, *rounds_about(self.chance, 1e10 * (q + 1), x, self.noise)))
                place = Path(folder, f"day{day}", node)
                place.mkdir(parents=True)
                text = digest_text(node, f"2025-03-{10 + day:02}T0{i % 5}:{i % 60:02}:00Z", rates, revision=f"other{i % self.plans}")
                Path(place, "digest.csv").write_text(text, encoding="ascii")

    def planted_nodes(self):
        return {self.names[i] for nodes, _, _, _ in self.planted for i in nodes}


FOUND = {"slow", "slower population", "changed kind", "implausible"}


def judge(run, folder, *words):
    """The exit status, and the nodes by state. `run`: of the words of a command, as subprocess.run does."""
    done = run("fleet", folder, "--json", *words)
    if done.returncode not in (0, 1, 2) or not done.stdout:
        raise RuntimeError(done.stderr)
    document = json.loads(done.stdout)
    states = {}
    for node in [node for group in document["groups"] for node in group["nodes"]] + document["aside"]:
        states[node["node"]] = node["finding"]
    return done.returncode, states


def share(found, of):
    """With the exact 95% interval of Clopper and Pearson."""
    def at_most(k, p):
        return sum(math.comb(of, j) * p**j * (1 - p) ** (of - j) for j in range(k + 1))
    def solved(is_low):
        low, high = 0.0, 1.0
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if is_low(middle) else (low, middle)
        return low
    least = solved(lambda p: 1 - at_most(found - 1, p) < 0.025) if found else 0.0
    most = solved(lambda p: at_most(found, p) > 0.025) if found < of else 1.0
    return f"{found}/{of} = {found / of:.1%} [{least:.1%}, {most:.1%}]"


MEMORY_PLACES = range(len(MEMORY))
HEALTHY = {
    "8 normal": dict(nodes=8), "16 normal": dict(nodes=16), "100 normal": dict(nodes=100), "1000 normal": dict(nodes=1000),
    "8 hot nodes": dict(nodes=8, hot=0.006), "100 hot nodes and racks": dict(nodes=100, hot=0.006, rack=0.004),
    "8 uneven scatter": dict(nodes=8, uneven=0.6), "100 uneven scatter": dict(nodes=100, uneven=0.6),
    "8 lacking rows": dict(nodes=8, lacking=0.05), "100 lacking rows": dict(nodes=100, lacking=0.05),
    "100 three revisions": dict(nodes=100, plans=3), "8 six days": dict(nodes=8, days=6, daily=0.005), "40 six days": dict(nodes=40, days=6, daily=0.005),
    "8 tails t3": dict(nodes=8, scatter="t3"), "16 tails t3": dict(nodes=16, scatter="t3"), "100 tails t3": dict(nodes=100, scatter="t3"),
    "8 tails t4": dict(nodes=8, scatter="t4"), "100 tails t4": dict(nodes=100, scatter="t4"),
    "8 tails logistic": dict(nodes=8, scatter="logistic"), "100 tails logistic": dict(nodes=100, scatter="logistic"),
    "8 tails spoilt": dict(nodes=8, scatter="spoilt"), "100 tails spoilt": dict(nodes=100, scatter="spoilt"),
}
PLANTED = {
    "one of 100, one quantity, 5%": (dict(nodes=100), lambda c: ({c.randrange(100)}, {c.randrange(40)}, 0.05)),
    "one of 16, one quantity, 5%": (dict(nodes=16), lambda c: ({c.randrange(16)}, {c.randrange(40)}, 0.05)),
    "one of 8, one quantity, 5%": (dict(nodes=8), lambda c: ({c.randrange(8)}, {c.randrange(40)}, 0.05)),
    "one of 8, one quantity, 10%": (dict(nodes=8), lambda c: ({c.randrange(8)}, {c.randrange(40)}, 0.1)),
    "one of 100, memory, 3%": (dict(nodes=100), lambda c: ({c.randrange(100)}, MEMORY_PLACES, 0.03)),
    "three of 100, memory, 5%": (dict(nodes=100), lambda c: (c.sample(range(100), 3), MEMORY_PLACES, 0.05)),
    "nine of 100, memory, 10%": (dict(nodes=100), lambda c: (c.sample(range(100), 9), MEMORY_PLACES, 0.1)),
    "twenty of 100, memory, 10%": (dict(nodes=100), lambda c: (c.sample(range(100), 20), MEMORY_PLACES, 0.1)),
    "forty of 100, memory, 30%": (dict(nodes=100), lambda c: (c.sample(range(100), 40), MEMORY_PLACES, 0.3)),
    "one of 40 on every second of six days, memory, 10%": (dict(nodes=40, days=6, daily=0.005),
                                                           lambda c: ({c.randrange(40)}, MEMORY_PLACES, 0.1, set(range(c.randrange(2), 6, 2)))),
    "one of 30 without any scatter, 5%": (dict(nodes=30, spread=0, noise=0), lambda c: ({c.randrange(30)}, {c.randrange(40)}, 0.05)),
}


def five_percent_rule(fleet):
    """Whether a node's rate lies more than 5% below the median of its quantity, and whether all such nodes are planted ones."""
    found = set()
    for q in range(len(fleet.quantities)):
        values = []
        for i in range(len(fleet.names)):
            low = sum(math.log(1 - s) for nodes, quantities, s, _ in fleet.planted if i in nodes and q in quantities)
            values.append(fleet.own[i][q] + low)
        middle = sorted(values)[len(values) // 2]
        found |= {fleet.names[i] for i, x in enumerate(values) if x < middle + math.log(0.95)}
    return found


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1][7:])
    parser.add_argument("roof")
    parser.add_argument("--fleets", type=int, default=100)
    parser.add_argument("--seed", type=int, default=7_000_000)
    parser.add_argument("--only", default="")
    options = parser.parse_args()

    def run(*words):
        return subprocess.run([options.roof, *words], capture_output=True, text=True, check=False)

    for name, settings in {**HEALTHY, **PLANTED}.items():
        if options.only not in name:
            continue
        made, plan = settings if name in PLANTED else (settings, None)
        false = found = rule = unclear = 0
        for k in range(options.fleets):
            fleet = Fleet(options.seed + k, **made)
            if plan:
                fleet.plant(*plan(fleet.chance))
            with tempfile.TemporaryDirectory() as folder:
                fleet.write(folder)
                status, states = judge(run, folder)
            slow = {node for node, state in states.items() if state in FOUND}
            planted = fleet.planted_nodes()
            false += bool(slow - planted)
            found += bool(planted) and planted <= slow and status == 1
            unclear += status == 2
            rule += bool(planted) and planted <= five_percent_rule(fleet)
        text = f"false {share(false, options.fleets)}"
        if plan:
            text += f"; all found {share(found, options.fleets)}; by the 5% rule {rule}"
        print(f"{name}: {text}; exit 2 in {unclear}", flush=True)


if __name__ == "__main__":
    main()
