"""What of a group's nodes is compared: each ceiling, and the mean of the ceilings of one kind of a device (memory, cache, compute, link, latency),
which shows a small difference that all of them have."""

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Dict, List, NamedTuple, Optional, Tuple

import numpy as np

from roof.fleet.digests import Digest
from roof.fleet.members import Member
from roof.fleet.scale import MATERIAL, MATERIAL_MEAN, Group, errors_in_half_width


class Logs(NamedTuple):
    """Rates on the scale of ln, an array each; NaN where a rate lacks. `variance`: of the interval; infinite of a lower bound."""

    x: np.ndarray
    variance: np.ndarray
    low: np.ndarray
    high: np.ndarray
    spec: np.ndarray  #: not a logarithm; 0 if there is none
    rounds: np.ndarray

    def at(self, *index) -> "Logs":
        return Logs(*(part[index] for part in self))


def logs_of(value, low, high, spec, rounds) -> Logs:
    """The half-width of the interval on the scale of ln, over the factor of its rounds, is the standard error."""
    x, lowest, highest = np.log(value), np.log(low), np.log(high)
    return Logs(x, ((highest - lowest) / (2 * errors_in_half_width(rounds))) ** 2, lowest, highest, spec, rounds)


def logs_in(digests: List[Digest], names: List[str]) -> Logs:
    """[digest, name] of ceilings."""
    columns = {name: k for k, name in enumerate(names)}
    parts = np.full((5, len(digests), len(names)), np.nan)
    layouts: Dict[Tuple[str, ...], List[int]] = {}
    for row, digest in enumerate(digests):
        layouts.setdefault(digest.ceilings.names, []).append(row)
    for layout, rows in layouts.items():
        at = np.array([columns.get(name, -1) for name in layout], dtype=int)
        known = at >= 0
        numbers = np.stack([digests[row].ceilings.numbers for row in rows], axis=1)
        parts[np.ix_(range(5), rows, at[known])] = numbers[:, :, known]
    return logs_of(*parts)


@dataclass
class Quantity:
    """A ceiling, or the weighted mean of several, on the members that have it."""

    name: str
    unit: str
    material: float  #: ln of the ratio that matters, below 0
    members: np.ndarray  #: with a rate that is no lower bound, rising
    newest: Logs  #: theirs; of a mean x and variance alone
    joined: int = 1  #: ceilings
    #: [member, day]: x and variance, the newest last, after NaN where there are fewer; None where no member has several days
    days: Optional[Tuple[np.ndarray, np.ndarray]] = None
    bounds: np.ndarray = field(default_factory=lambda: np.array([], dtype=int))  #: members with a lower bound
    bound_logs: Optional[Logs] = None
    #: [bound, day]: ln of its other days' rates, bounds or not; NaN where there is none
    bound_days: Optional[np.ndarray] = None
    without: np.ndarray = field(default_factory=lambda: np.array([], dtype=int))  #: members whose digest lacks it


def to_the_right(values: np.ndarray, *others: np.ndarray) -> Tuple[np.ndarray, ...]:
    """Each row with its numbers last, in their order."""
    order = np.argsort(~np.isnan(values), axis=1, kind="stable")
    return tuple(np.take_along_axis(part, order, axis=1) for part in (values, *others))


def ceilings_of(members: List[Member]) -> List[Quantity]:
    """The ceilings that at least half of the members have, by name."""
    number: Dict[str, int] = {}
    units: Dict[str, str] = {}
    layouts = Counter((member.days[-1].ceilings.names, member.days[-1].ceilings.units) for member in members)
    for layout, n in layouts.items():
        for name, unit in zip(*layout):
            number[name] = number.get(name, 0) + n
            units.setdefault(name, unit)
    names = sorted(name for name, n in number.items() if 2 * n >= len(members))
    newest = logs_in([member.days[-1] for member in members], names)
    is_bound = np.isinf(newest.high)
    most_days = max(len(member.days) for member in members)
    days = None
    if most_days > 1:
        digests = [digest for member in members for digest in member.days]
        places = [(i, most_days - len(m.days) + k) for i, m in enumerate(members) for k in range(len(m.days))]
        flat, days = logs_in(digests, names), [np.full((len(members), most_days, len(names)), np.nan) for _ in range(3)]
        rates = np.where(np.isinf(flat.high), np.nan, flat.x)
        for part, values in zip(days, (rates, flat.variance, flat.x)):
            part[tuple(np.array(places).T)] = values
    quantities = []
    for c, name in enumerate(names):
        has = np.flatnonzero(~np.isnan(newest.x[:, c]) & ~is_bound[:, c])
        bounds = np.flatnonzero(is_bound[:, c])
        quantity = Quantity(name, units[name], MATERIAL, has, newest.at(has, c), bounds=bounds, bound_logs=newest.at(bounds, c),
                            without=np.flatnonzero(np.isnan(newest.x[:, c])))
        if days is not None:
            quantity.days = to_the_right(days[0][has, :, c], days[1][has, :, c])
            quantity.bound_days = days[2][bounds, :-1, c]
        quantities.append(quantity)
    return quantities


def kind_of_ceiling(name: str) -> str:
    """ "cpu memory" of "cpu bandwidth DRAM load threads=26"; empty for a name of another form."""
    words = name.split(" ")
    if len(words) < 4 or words[1] not in ("compute", "latency", "bandwidth"):  # device, role, level, operation
        return ""
    if words[1] != "bandwidth":
        return f"{words[0]} {words[1]}"
    return words[0] + (" memory" if words[2] == "DRAM" else " cache" if re.fullmatch("core|L[1-7]", words[2]) else " link")


def means_of(ceilings: List[Quantity], groups: List[Optional[Group]], members: int) -> List[Quantity]:
    """The means over the ceilings of each kind that has two or more with a group.

    Each ceiling counts by one over its variance; for a member that lacks some, the variance of the rest is larger."""
    kinds: Dict[str, List[int]] = {}
    for c, ceiling in enumerate(ceilings):
        if kind_of_ceiling(ceiling.name) and groups[c] is not None:
            kinds.setdefault(kind_of_ceiling(ceiling.name), []).append(c)
    return [_mean(f"{kind}, mean of {len(of_kind)}", [ceilings[c] for c in of_kind], [groups[c] for c in of_kind], members) for kind,
            of_kind in sorted(kinds.items()) if len(of_kind) > 1]


def _mean(name: str, ceilings: List[Quantity], groups: List[Group], members: int) -> Quantity:
    has_days = any(ceiling.days is not None for ceiling in ceilings)
    most_days = max([1, *(ceiling.days[0].shape[1] for ceiling in ceilings if ceiling.days is not None)])
    x, variance = (np.full((len(ceilings), members, most_days), np.nan) for _ in range(2))
    for c, (ceiling, group) in enumerate(zip(ceilings, groups)):
        if ceiling.days is not None:
            x[c, ceiling.members], variance[c, ceiling.members] = ceiling.days
        x[c, ceiling.members, -1], variance[c, ceiling.members, -1] = group.x, group.own_variance
        x[c] -= group.median
    weights = np.array([1 / group.variance for group in groups])[:, None, None]
    known = np.where(np.isnan(x), 0, weights)
    weight, whole = known.sum(0), weights.sum()
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(weight < 0.5 * whole, np.nan, (known * np.nan_to_num(x)).sum(0) / weight)
        own = (known**2 * np.nan_to_num(variance)).sum(0) / weight**2 + 1 / weight - 1 / whole
    if has_days:  # as many as most of the ceilings have
        numbers = np.where((~np.isnan(x)).any(2), (~np.isnan(x)).sum(2).astype(float), np.nan)
        usual = np.zeros(members)
        some = ~np.isnan(numbers).all(0)
        usual[some] = np.floor(np.nanmedian(numbers[:, some], axis=0))
        mean[np.arange(most_days, 0, -1) > usual[:, None]] = np.nan
    has = np.flatnonzero(~np.isnan(mean[:, -1]))
    newest = Logs(mean[has, -1], own[has, -1], *(np.array([]),) * 4)
    days = to_the_right(mean[has], own[has]) if has_days else None
    return Quantity(name, "", MATERIAL_MEAN, has, newest, len(ceilings), days)
