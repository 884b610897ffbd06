"""Made-up fleets: digests of equal nodes whose rates scatter, with intervals of five rounds; on several days; with links between them.

`tests/tools/other_fleets.py` is the second generator, which knows the form of digest.csv and nothing of the program."""

import base64
import math
import sys
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools/python"))
from roof.fleet.digests import Digest, Rates, seconds_of  # noqa: E402
from roof.fleet.folders import Fleet  # noqa: E402

ROUNDS = 5
STUDENT = 3.495  # half the width of an interval over five rounds, in standard errors: 98.75%, 4 degrees of freedom

#: Names of a CPU's ceilings: eight of memory, eight of caches, eight of compute.
CPU_NAMES = ([f"cpu bandwidth DRAM {a} threads=26" for a in ("load", "store", "copy", "triad", "update", "accumulate", "store_nt", "copy_nt")]
             + [f"cpu bandwidth {level} {a} threads=26" for level in ("L1", "L2") for a in ("load", "store", "copy", "triad")]
             + [f"cpu compute core {m} {p} {isa} threads=26" for isa in ("sse", "avx2") for p in ("fp64", "fp32") for m in ("fma", "add")])
MEMORY = range(8)
WEEKS = ["2026-09-01", "2026-09-08", "2026-09-15", "2026-09-22", "2026-09-29", "2026-10-06", "2026-10-13", "2026-10-20"]


def rates(names, usual, x, noise, chance):
    """The rates with Student's intervals that five rounds about `usual` show. `x`: ln of the true rates to `usual`."""
    rounds = np.asarray(x) + noise * chance.standard_normal((ROUNDS, len(names)))
    half = STUDENT * rounds.std(axis=0, ddof=1) / math.sqrt(ROUNDS)
    value = usual * np.exp(rounds.mean(axis=0))
    numbers = np.stack((value, value * np.exp(-half), value * np.exp(half), np.zeros(len(names)), np.full(len(names), float(ROUNDS))))
    return Rates(tuple(names), ("B/s",) * len(names), ("steady",) * len(names), numbers)


NONE = rates((), np.zeros(0), np.zeros(0), 0, np.random.default_rng(0))


def digest(node, day, ceilings=NONE, links=NONE, plan="p"):
    time = f"{day}T00:00:00Z"
    return Digest(node, "made-26cpu", plan, "r", time, "", {}, ceilings, links, seconds_of(time))


def make_fleet(nodes=100, ceilings=20, scatter=0.01, daily=0.0, noise=0.005, freedom=0, daily_freedom=0, days=("2026-11-22",), seed=1, names=()):
    """Healthy nodes, on each day once. `scatter`: between nodes, `daily`: of a node from day to day, relative, of Student's distribution with so many
    degrees of freedom, or normal."""
    chance = np.random.default_rng(seed)

    def drawn(degrees):
        return chance.standard_t(degrees, ceilings) if degrees else chance.standard_normal(ceilings)

    names = (*names[:ceilings], *(f"ceiling {c}" for c in range(len(names), ceilings)))
    usual = 1e11 * np.arange(1, ceilings + 1)
    digests = []
    for i in range(nodes):
        own = scatter * drawn(freedom)
        digests += [digest(f"n{i:05}", day, rates(names, usual, own + daily * drawn(daily_freedom), noise, chance)) for day in days]
    return Fleet(digests)


def slow_down(fleet, place, ceiling, share):
    """Makes ceilings of one digest slower: 0.1 is 10%."""
    fleet.digests[place].ceilings.numbers[:3, ceiling] *= 1 - share


def as_bound(fleet, place, share=1.0):
    """Leaves only lower bounds of a digest."""
    fleet.digests[place].ceilings.numbers[:2] *= share
    fleet.digests[place].ceilings.numbers[2] = np.inf


def changed(fleet, place, **fields):
    """Other fields of one digest."""
    fleet.digests[place] = replace(fleet.digests[place], **fields)
    if "time" in fields:
        fleet.digests[place].seconds = seconds_of(fields["time"])


def again(fleet, place, **fields):
    """One more digest like another, with rates of its own."""
    old = fleet.digests[place]
    fleet.digests.append(replace(old, ceilings=old.ceilings._replace(numbers=old.ceilings.numbers.copy()), facts=dict(old.facts)))
    changed(fleet, -1, **fields)


def make_links(nodes=32, per_switch=8, permutations=0, scatter=0.01, noise=0.005, seed=1, slow_node=0.0, slow_uplink=0.0, slow_link=0.0):
    """Links of nodes behind switches; all pairs, or with `permutations` that many random pairings. Slow by so much: every link of the first node;
    every link between the nodes of the second switch and the others; the link between the last two nodes."""
    chance = np.random.default_rng(seed)
    pairs = {(nodes - 2, nodes - 1)}
    for _ in range(permutations):
        pairs |= {tuple(sorted(pair)) for pair in chance.permutation(nodes)[: nodes // 2 * 2].reshape(-1, 2).tolist()}
    if not permutations:
        pairs = {(i, j) for i in range(nodes) for j in range(i + 1, nodes)}
    pairs = sorted(pairs)
    x = scatter * chance.standard_normal(len(pairs))
    for k, (a, b) in enumerate(pairs):
        x[k] += math.log1p(-slow_node) if a == 0 else 0
        x[k] += math.log1p(-slow_uplink) if (a // per_switch == 1) != (b // per_switch == 1) else 0
        x[k] += math.log1p(-slow_link) if (a, b) == (nodes - 2, nodes - 1) else 0
    fleet = Fleet([], expected={f"n{i:05}": {"switch": f"s{i // per_switch}"} for i in range(nodes)})
    for k in range(0, len(pairs), 100):
        names = [f"n{a:05} n{b:05}" for a, b in pairs[k : k + 100]]
        fleet.digests.append(digest(names[0].split()[0], "2026-11-22", links=rates(names, 3e9, x[k : k + 100], noise, chance), plan="network"))
    return fleet


def checksum(lines):
    """Of a block with the header before it (docs/reliability.md)."""
    total = 0
    for line in lines:
        total = (total * 0x5DEECE66D + zlib.crc32(line.encode())) % 2**48
    return base64.urlsafe_b64encode(total.to_bytes(6, "big")).decode()


def sealed(lines, run=""):
    """A file of a header and lines, with checksums."""
    header = f"{lines[0]},block_checksum" + (f":{run}" if run else "")
    proof = checksum([*lines, *([header] if run else [])])
    return header + "\n" + "".join(f"{line},\n" for line in lines[1:-1]) + f"{lines[-1]},{proof}\n"


def lines_of(one):
    """The lines of digest.csv without checksums."""
    lines = ["what,name,value,low,high,unit,state,n,spec,rounds"]
    facts = {"node": one.node, "kind": one.kind, "plan": one.plan, "revision": one.revision, "time": one.time, **one.facts}
    lines += [f'fact,{name},"{text}",,,,,,,' for name, text in facts.items()]
    for what, some in (("ceiling", one.ceilings), ("link", one.links)):
        for name, unit, state, (value, low, high, spec, rounds) in zip(some.names, some.units, some.states, some.numbers.T):
            ends = [f"{end:.5g}" if math.isfinite(end) and end else "" for end in (value, low, high)]
            lines.append(f"{what},{name},{','.join(ends)},{unit},{state},30,{f'{spec:.5g}' if spec else ''},{rounds:.0f}")
    return [*lines, f"end,,{len(lines) - 1},,,,,,,"]


def write(fleet, place, prefix=""):
    for number, one in enumerate(fleet.digests):
        folder = Path(place, f"{prefix}{number}")
        folder.mkdir(parents=True, exist_ok=True)
        Path(folder, "digest.csv").write_text(sealed(lines_of(one)), encoding="utf-8")


def nodes_with(findings, state):
    return [node.node for group in findings.groups for node in group.nodes if node.finding == state]
