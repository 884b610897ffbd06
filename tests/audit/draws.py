"""Which roof binds under drawn roofs (docs/method.md, Which bound is claimed). Draws of our own: figures agree within standard errors."""

import math
import random

from placing import allowed, interval_of

DRAWS = 1000


def deviations(part, roofs, precision):
    """For each roof of a part its median time, and the deviation of the logarithm of its rate below and above the median."""
    found = {}
    for name, seconds in allowed(part, roofs, precision).by_roof.items():
        low, high = interval_of(roofs, precision, name)
        found[name] = (seconds, -math.log(low) / 1.96 if low > 0 else 0.0, math.log(high) / 1.96)
    return found


def shares_of_roofs(point, parts):
    """The share of draws in which each roof binds. `parts`: (times with deviations, measured time) of each part of the point."""
    if not point.bound:
        return {}
    clamp = point.scope != "layer"

    def range_of(times, measured, name, z):
        seconds, below, above = times[name]
        seconds *= math.exp(z * (below if z > 0 else above))
        return min(seconds, measured) if clamp else seconds

    # No draws where five deviations change nothing.
    least, most = 0.0, {}
    for times, measured in parts:
        if not times:
            continue
        highest = {name: range_of(times, measured, name, 5) for name in times}
        first = max(times, key=lambda name: times[name][0])
        surely = first == point.bound and all(highest[name] < range_of(times, measured, first, -5) for name in times if name != first)
        if surely:
            least += range_of(times, measured, first, -5)
        else:
            for name, seconds in highest.items():
                if name != point.bound:
                    most[name] = most.get(name, 0.0) + seconds
    if least > max(most.values(), default=0.0):
        return {point.bound: 1.0}
    generator, count = random.Random("draws"), {}
    for _ in range(DRAWS):
        z, under = {}, {}
        for times, measured in parts:
            longest, bound = -1.0, ""
            for name, (seconds, below, above) in times.items():
                if name not in z:
                    z[name] = generator.gauss(0, 1)
                seconds *= math.exp(-z[name] * (above if z[name] > 0 else below))
                if seconds > longest:
                    longest, bound = seconds, name
            if bound:
                under[bound] = under.get(bound, 0.0) + (min(longest, measured) if clamp else longest)
        first = max(under, key=under.get)
        count[first] = count.get(first, 0) + 1
    return {name: number / DRAWS for name, number in sorted(count.items(), key=lambda item: -item[1])}
