"""Errors that a user can cause: one sentence, exit status 2."""


class InputError(Exception):
    """A file, an option or a folder is wrong. The text is one sentence for the user."""


class Missing(InputError):
    """A library is not installed."""

    def __init__(self, library: str, extra: str) -> None:
        super().__init__(f"{library} is not installed: apt-get install python3-{library}, or pip install \"measured-roof[{extra}]\"")
