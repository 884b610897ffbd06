"""The clock of a run (docs/method.md, section 2): whether rates follow it, and what it was under each work."""

import math
import statistics


class RunClock:
    """Rates that follow the clock: section 2."""

    def __init__(self, points):
        of_work, least = {}, {}
        for point in points:
            for place, round_ in zip(point.places, point.samples):
                told = [s for s in round_ if not s.disturbed and s.clock > 0]
                if told:
                    of_work.setdefault(self.work(point), []).append((place, point, statistics.median(s.rate for s in told), statistics.median(s.clock for s in told)))
                    least[self.work(point)] = min(least.get(self.work(point), math.inf), point.set or math.inf)
        votes = {}
        for key, rounds in of_work.items():
            device, role = key[:2]
            for at, (_, point, rate, clock) in enumerate(rounds):
                for _, other, other_rate, other_clock in rounds[at + 1:]:
                    if point is other and (role == "compute" or point.set is not None and point.set <= least[key]):
                        votes[device] = votes.get(device, 0) + vote(math.log(clock / other_clock), math.log(rate / other_rate))
        self.varying = {device for device, sum_ in votes.items() if sum_ > 0}
        self.shares, self.clocks = {}, {}
        for device in dict.fromkeys(key[0] for key in of_work):
            mine = {key: {place: clock for place, _, _, clock in rounds} for key, rounds in sorted(of_work.items(), key=lambda i: self.text(i[0])) if key[0] == device}
            commonest = max(mine.values(), key=len)
            for key, clocks in mine.items():
                self.shares[key] = beside(clocks, commonest) if device in self.varying else statistics.median(clocks.values()) / statistics.median(commonest.values())
                self.clocks.setdefault(device, []).extend(clock / self.shares[key] for clock in clocks.values())
            self.clocks[device].sort()

    @staticmethod
    def work(point):
        return point.row["device"], point.row["role"], point.row["isa"], point.row["threads"]

    @staticmethod
    def text(key):
        return " ".join(word for word in key if word)

    def under(self, point):
        key = self.work(point)
        if key not in self.shares:
            return None
        clocks = self.clocks[key[0]]
        return tuple(self.shares[key] * clock for clock in (clocks[len(clocks) // 2], clocks[0], clocks[-1]))


def vote(clock, rate):
    """Of a pair of rounds whose clocks differ by more than 0.4%: for, if the clock explains a part of the difference of rates; else against."""
    if abs(clock) < 0.004 or abs(rate) > 0.15:
        return 0
    return 1 if abs(rate - clock) < abs(rate) else -1


def beside(clocks, commonest):
    """The median ratio of each round's clock to that of the commonest work's round that was nearest in time (the later of two)."""
    near = lambda place: commonest[min(commonest, key=lambda other: (abs(other - place), -other))]
    return statistics.median(clock / near(place) for place, clock in clocks.items())
