"""The events of a trace in JSON, read piece by piece: files may have gigabytes."""

import json
import re
from typing import Any, Iterator, List

from roof.importing.files import PIECE, Source
from roof.texts import InputError, printable

BLANKS = re.compile(r"[ \t\r\n]*")
BETWEEN = re.compile(r"\}(?=\s*,\s*\{\s*\")")  #: two events, or others
LAST = 64 << 10  #: characters at the end of a piece, in which two events meet
LONGEST = 16 << 20  #: an event
#: A text with quotes that PyTorch did not escape, up to the key that it writes next.
QUOTED = re.compile(r'("(?:name|CallFrom)": ")(.*?)(",\s*"(?:pid|ts|args|Python [a-z]+ id)":)', re.DOTALL)


class Document:
    """The events of a trace, one by one, and its other values by their keys. Floating numbers are text."""

    def __init__(self, source: Source) -> None:
        self.source, self.others = source, {}  # type: ignore[var-annotated]
        self.decoder = json.JSONDecoder(parse_float=str, parse_constant=str, strict=False)
        self.at = self.before = self.mended = 0
        self.text, self.ended = "", False
        self.is_new = True  #: the piece, of which nothing was decoded at once

    def fail(self, what: str, at: int) -> InputError:
        byte = self.before + len(self.text[:at].encode())
        last = printable(self.text[max(0, at - 20):at])
        return InputError(f"{self.source.name}: byte {byte}: {what}; last read: '{last}'")

    def more(self, length: int) -> bool:
        """Drops what was read, and reads on. False at the end of the file."""
        self.before += len(self.text[:self.at].encode())
        piece = self.source.read(self.stream, length)
        self.text, self.at, self.ended, self.is_new = self.text[self.at:] + piece, 0, not piece, True
        return not self.ended

    def next(self) -> str:
        """The next character that is no blank; empty at the end."""
        while True:
            self.at = BLANKS.match(self.text, self.at).end()  # type: ignore[union-attr]
            if self.at < len(self.text) or not self.more(PIECE):
                return self.text[self.at:self.at + 1]

    def take(self, expected: str) -> str:
        letter = self.next()
        if letter not in tuple(expected):
            raise self.fail(f"expected {' or '.join(expected)}" if letter else "the file ends early", self.at)
        self.at += 1
        return letter

    def value(self) -> Any:
        if not self.next():
            raise self.fail("the file ends early", self.at)
        while True:
            try:
                value, end = self.decoder.raw_decode(self.text, self.at)
                if end < len(self.text) or self.ended:  # a number could go on
                    self.at = end
                    return value
            except json.JSONDecodeError as error:
                mended = self.mend()
                if mended is not None:
                    return mended
                if self.ended or len(self.text) - error.pos > LONGEST:
                    raise self.fail("it is no JSON from here on", error.pos) from None
            except ValueError:  # an integer of thousands of digits
                raise self.fail("a number is too long", self.at) from None
            self.more(max(PIECE, len(self.text) - self.at))  # twice as much each time

    def mend(self) -> Any:
        """An event with quotes in its texts; None if that is not what is wrong with it."""
        end = self.text.find("\n  }", self.at)
        event = QUOTED.sub(lambda found: found[1] + json.dumps(found[2])[1:-1] + found[3], self.text[self.at:end + 4])
        try:
            value = self.decoder.decode(event)
        except ValueError:
            return None
        self.at, self.mended = end + 4, self.mended + 1
        return value

    def members(self, close: str) -> Iterator[None]:
        """Once before each member of a list or object whose first character was read."""
        if self.next() == close:
            self.at += 1
            return
        while True:
            yield
            if self.take("," + close) == close:
                return

    def many(self) -> List[Any]:
        """The events of this piece but the last, at once; none where they are not what they seem."""
        self.is_new = False
        between = BETWEEN.finditer(self.text, max(self.at, len(self.text) - LAST))
        end = max((one.end() for one in between), default=self.at)
        try:
            found = self.decoder.decode(f"[{self.text[self.at:end]}]")
        except (ValueError, RecursionError):
            return []
        self.at = end
        return found  # type: ignore[no-any-return]

    def list_of_events(self) -> Iterator[Any]:
        for _ in self.members("]"):
            found = self.many() if self.is_new else []
            yield from found or [self.value()]

    def events(self) -> Iterator[Any]:
        with self.source.stream() as self.stream:
            if self.take("{[") == "[":
                yield from self.list_of_events()
                return
            for _ in self.members("}"):
                if self.next() != '"':
                    raise self.fail("expected a key", self.at)
                key = self.value()
                self.take(":")
                if key == "traceEvents" and self.next() == "[":
                    self.at += 1
                    yield from self.list_of_events()
                else:
                    self.others[key] = self.value()
            if self.next():
                raise self.fail("text after the end of the document", self.at)
