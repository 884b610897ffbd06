"""A sentence expected, and the index of all that an output may say: a text fits the one that is the same but for its figures."""

import re

from figures import NUMBER, UNIT, printed

DUMMY = "987654321"  # stands for a figure in a pattern
TOKEN = re.compile(rf"(\d+ h \d+ min|\d+ min \d+ s|{NUMBER})(?:\s?({UNIT})(?![\w/]))?")
# What a sentence may leave out: the access of a roof, which the tables show too, and what a note advises.
OPTIONAL = [(re.compile(pattern), to) for pattern, to in (
    (r"\b(L\d|DRAM) (?:mix [\d.>]+:[\d.>]+|[a-z_]+) roof allows", r"\1 roof allows"),
    (r"most of it (L\d|DRAM) (?:mix [\d.>]+:[\d.>]+|[a-z_]+):", r"most of it \1:"),
    (r"of this step, (?:mix [\d.>]+:[\d.>]+|[a-z_]+)", "of this step"),
    (r" No link between the devices was measured\.|; no link between the devices was measured|(?<= )No link between the devices was measured; ", ""),
    (r"; (?:at the \S+ roof|above the compute roof[^.]*|above the \S+ roof, a lower bound[^.]*)(?=\.)", ""),
    (r" At the \S+ roof\.| Above the compute roof[^.]*\.| Above the \S+ roof, a lower bound[^.]*\.", ""))]
SECONDS = {"h": 3600, "min": 60, "s": 1}


def plain(words):
    words = re.sub(r"\s+", " ", words).strip()
    for pattern, to in OPTIONAL:
        words = pattern.sub(to, words)
    return words


def skeleton(words):
    """(the text without its numbers, [(number, unit)])"""
    tokens = []

    def token(match):
        tokens.append((match[1], match[2] or ""))
        return "\0"
    return TOKEN.sub(token, words), tokens


def is_shown(number, unit, value):
    if " " in number:  # 3 min 51 s
        parts = number.split(" ")
        seconds = sum(int(amount) * SECONDS[its] for amount, its in zip(parts[::2], parts[1::2]))
        return abs(seconds - value) <= SECONDS[parts[-1]] * 0.5 * (1 + 1e-9)
    return printed(number, unit, value)


class Said:
    """A sentence expected: a pattern with {} for each figure, the figures, and whether it has to be shown. `at`: where its mark is drawn."""

    def __init__(self, pattern, *values, needed=True, at=None, of=""):
        self.pattern, self.values, self.needed, self.at, self.of, self.found = pattern, values, needed, at, of, False
        self.skeleton, tokens = skeleton(plain(pattern.replace("{}", DUMMY)))
        left = iter(values)
        self.wanted = [next(left) if number == DUMMY else (number, unit) for number, unit in tokens]  # a figure, or a number of a name

    def shown(self, words, tokens):
        """(as shown, number, unit, figure): the ends of an interval have the unit of its middle."""
        parts, last = words.split("\0"), ""
        for at, ((number, unit), value) in enumerate(zip(tokens, self.wanted)):
            inside = parts[at].endswith(" [") or parts[at] == ", " and parts[at + 1].startswith("]")
            last = last if inside and not unit else unit
            if not isinstance(value, tuple):
                yield f"{number} {unit}", number, last, value

    def named(self, tokens):
        return all(token == value for token, value in zip(tokens, self.wanted) if isinstance(value, tuple))

    def right(self, words, tokens):
        return all(is_shown(number, unit, value) for _, number, unit, value in self.shown(words, tokens))


class Starts(Said):
    """A sentence whose end is copied from the program's messages (the reason of damage names file and line)."""


class Index:
    """Sentences by their text without numbers."""

    def __init__(self, said):
        self.said, self.of, self.starts = list(said), {}, [one for one in said if isinstance(one, Starts)]
        for one in self.said:
            self.of.setdefault(one.skeleton, []).append(one)

    def check(self, findings, place, words):
        """The sentences that a text shows, all its figures right; none, and a failure, where there is none."""
        text, tokens = skeleton(plain(words))
        fits = [one for one in self.of.get(text, ()) if one.named(tokens)]
        begun = [one for one in self.starts if words.startswith(one.pattern)]
        for one in begun:
            one.found = True
        if not fits:
            findings.checked += 1
            return [] if begun else findings.lacks(f"{place}: sentence", words[:300]) or []
        right = [one for one in fits if one.right(text, tokens)]
        for one in right or fits[:1]:
            one.found = True
        findings.checked += len(tokens)
        if not right:
            findings.subject = fits[0].of
            for shown, number, unit, value in fits[0].shown(text, tokens):
                if not is_shown(number, unit, value):
                    findings.differs(f"{place}: {fits[0].pattern[:60]}", shown, value)
        return right
