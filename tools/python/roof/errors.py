"""Errors that a user can mend: one sentence each, without a traceback."""

from roof.texts import printable


class InputError(Exception):
    """A wrong file, option or environment. The sentence names it, and holds nothing that a terminal would obey."""

    def __init__(self, sentence: object) -> None:
        super().__init__(printable(sentence))


class Missing(InputError):
    """A library that only this command needs."""

    def __init__(self, library: str, extra: str):
        super().__init__(f"{library} is not installed for this Python: apt-get install python3-{library}, or pip "
                         f"install \"measured-roof[{extra}]\"")
