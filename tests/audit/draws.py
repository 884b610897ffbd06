"""Which roof binds under drawn roofs (docs/method.md, Which bound is claimed). Draws of our own: figures agree within standard errors."""

import functools
import math
import random

from placing import allowed, interval_of, rounds_of

DRAWS = 1000


def within(t, degrees):
    """The share of Student's distribution between -t and t: Abramowitz and Stegun, 26.7.3 and 26.7.4."""
    angle = math.atan(t / math.sqrt(degrees))
    is_odd = degrees % 2
    term, total = (math.cos(angle) if is_odd else 1.0), 0.0
    for k in range(1 + is_odd, degrees, 2):
        total += term
        term *= k / (k + 1) * math.cos(angle) ** 2
    total *= math.sin(angle)
    return 2 / math.pi * (angle + total) if is_odd else total


@functools.cache
def half_width_in_errors(rounds):
    """Two-sided 97.5% of Student's distribution to three decimals, 30 degrees at most; 1.96 for an interval over samples."""
    if not rounds:
        return 1.96
    low, high = 0.0, 100.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if within(middle, min(rounds - 1, 30)) < 0.975 else (low, middle)
    return round(low, 3)


def drawn(generator, rounds):
    """In standard errors."""
    error = generator.gauss(0, 1)
    return error / math.sqrt(generator.gammavariate((rounds - 1) / 2, 2) / (rounds - 1)) if rounds else error


def deviations(part, roofs, precision):
    """For each roof of a part its median time, the deviation of the logarithm of its rate below and above the median, and its rounds."""
    found = {}
    for name, seconds in allowed(part, roofs, precision).by_roof.items():
        low, high = interval_of(roofs, precision, name)
        rounds = rounds_of(roofs, precision, name)
        factor = half_width_in_errors(rounds)
        found[name] = (seconds, -math.log(low) / factor if low > 0 else 0.0, math.log(high) / factor, rounds)
    return found


def shares_of_roofs(point, parts):
    """The share of draws in which each roof binds. `parts`: (times with deviations, measured time) of each part of the point."""
    if not point.bound:
        return {}
    clamp = point.scope != "layer"

    def range_of(times, measured, name, widths):
        seconds, below, above, rounds = times[name]
        seconds *= math.exp(widths * half_width_in_errors(rounds) * (below if widths > 0 else above))
        return min(seconds, measured) if clamp else seconds

    # No draws where twenty times the intervals change nothing: Student's with two degrees leaves that in one draw of 15,000.
    least, most = 0.0, {}
    for times, measured in parts:
        if not times:
            continue
        highest = {name: range_of(times, measured, name, 20) for name in times}
        first = max(times, key=lambda name: times[name][0])
        surely = first == point.bound and all(highest[name] < range_of(times, measured, first, -20) for name in times if name != first)
        if surely:
            least += range_of(times, measured, first, -20)
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
            for name, (seconds, below, above, rounds) in times.items():
                if name not in z:
                    z[name] = drawn(generator, rounds)
                seconds *= math.exp(-z[name] * (above if z[name] > 0 else below))
                if seconds > longest:
                    longest, bound = seconds, name
            if bound:
                under[bound] = under.get(bound, 0.0) + (min(longest, measured) if clamp else longest)
        first = max(under, key=under.get)
        count[first] = count.get(first, 0) + 1
    return {name: number / DRAWS for name, number in sorted(count.items(), key=lambda item: -item[1])}
