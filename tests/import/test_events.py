"""Traces in JSON are read in pieces of any size, with the same events and refusals, and little of them is held."""

import io
import json
import unittest
from unittest import mock

from roof.importing.events import Document
from roof.texts import InputError

PIECES = (1, 2, 3, 7, 40, 1000)


class Text:
    """As files.Source."""

    def __init__(self, text):
        self.name, self.text, self.read = "x", text, io.StringIO.read

    def stream(self):
        return io.StringIO(self.text)


def read(text, piece=1000):
    """The events, the other values, the number of events with quotes, and how much was held at most."""
    document, events, held = Document(Text(text)), [], 0
    with mock.patch("roof.importing.events.PIECE", piece):
        for event in document.events():
            events.append(event)
            held = max(held, len(document.text))
    return events, document.others, document.mended, held


def refusal(text, piece=1000):
    try:
        read(text, piece)
    except InputError as error:
        return str(error)
    return ""


class Events(unittest.TestCase):
    def test_pieces_of_any_size_hold_the_same(self):
        events = [{"ph": "X", "name": f'}}, {{ "{at}', "ts": 1.5, "args": {"é": [[at, -2e3], {}], "n": None}}
                  for at in range(9)]
        whole = {"schemaVersion": 12, "of": {"a": [1, {"b": 2}]}, "traceEvents": events, "ms": 0.25, "last": 345}
        for indent in (None, 0, 1, 2):
            for piece in PIECES:
                text = "\n" + json.dumps(whole, indent=indent, ensure_ascii=False) + " \n"
                expected = json.loads(text, parse_float=str)
                self.assertEqual((expected.pop("traceEvents"), expected, 0), read(text, piece)[:3])
                text = json.dumps(events, indent=indent)
                self.assertEqual((json.loads(text, parse_float=str), {}, 0), read(text, piece)[:3])

    def test_little_of_a_long_file_is_held(self):
        for indent in (None, 2):
            self.assertLess(read(json.dumps([{"ph": "X", "ts": at} for at in range(500)], indent=indent), 100)[3], 400)
        for longest, held in ((75, 76), (76, 152)):  # after the first 10: 9 + 10, 19 + 19, …
            document = Document(Text("[x" + ", 2" * 1000))
            with mock.patch.multiple("roof.importing.events", PIECE=10, LONGEST=longest), self.assertRaises(InputError):
                list(document.events())
            self.assertEqual(held, len(document.text))

    def test_the_events_of_a_piece_but_the_last_are_read_at_once(self):
        for indent in (None, 2):
            document = Document(Text(json.dumps([{"ph": "X", "ts": at} for at in range(50)], indent=indent)))
            with mock.patch.object(document, "value", wraps=document.value) as value:
                self.assertEqual((50, 1), (len(list(document.events())), value.call_count))

    def test_quotes_that_were_not_escaped(self):
        text = '{"name": "f("a", "b")", "pid": 1, "args": {\n    "CallFrom": ""c" d",\n    "ts": 2}\n  }'
        event = {"name": 'f("a", "b")', "pid": 1, "args": {"CallFrom": '"c" d', "ts": 2}}
        for piece in PIECES:
            self.assertEqual(([event, 3, event], {}, 2), read(f"[{text}, 3,\n  {text}]", piece)[:3])
        self.assertEqual("x: byte 13: it is no JSON from here on; last read: '{\"name\": \"a\"'",
                         refusal('[{"name": "a"b", "of": 1\n  }]'))

    def test_what_is_wrong_is_refused_with_its_byte(self):
        for text, byte, what, last in (
                ("", 0, "the file ends early", ""), ("x", 0, "expected { or [", ""),
                (" [", 2, "the file ends early", ""),
                ('{"traceEvents": [1 2]}', 19, "expected , or ]", '{"traceEvents": [1 '),
                ('{"traceEvents": [1], 2: 3}', 21, "expected a key", '"traceEvents": [1], '),
                ('{"é": 1 2}', 9, "expected , or }", '{"é": 1 '), ('{"a" 1}', 5, "expected :", '{"a" '),
                ('{"a": ', 6, "the file ends early", ""), ('{"a": 1', 7, "the file ends early", ""),
                ('{"a": 1} b', 9, "text after the end of the document", '{"a": 1} '),
                ('{"a": tru}', 6, "it is no JSON from here on", ""),
                ('{"a": [tru]}', 7, "it is no JSON from here on", "["), ("[1,", 3, "the file ends early", ""),
                ('[{"a": 1}, {"b": 2}, {"c" 3}]', 26, "it is no JSON from here on", '{"c" ')):
            self.assertEqual(f"x: byte {byte}: {what}; last read: '{last}'", refusal(text))
            for piece in PIECES:
                self.assertEqual(f"x: byte {byte}: {what}", refusal(text, piece).partition(";")[0])

    def test_what_is_read(self):
        for text, events, others in (("[]", [], {}), ("{ }", [], {}), ("[ ] x", [], {}), ("[1]", [1], {}),
                                     ('{"traceEvents": {"b": 2}}', [], {"traceEvents": {"b": 2}}),
                                     ('{"a": [3], "traceEvents": [ ]}', [], {"a": [3]})):
            for piece in PIECES:
                self.assertEqual((events, others, 0), read(text, piece)[:3])


if __name__ == "__main__":
    unittest.main()
