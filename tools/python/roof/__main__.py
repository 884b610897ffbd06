"""`python3 roof/__main__.py COMMAND ARGUMENTS`: a command of the package, as the program `roof` starts it (tools/roof/programs)."""

import codecs
import os
import signal
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
#: command: the module of roof.commands, whose main(arguments) returns the exit status
MODULES = {"atlas": "atlas", "estimate": "estimate", "fleet": "fleet", "import": "import_"}
IN_ASCII = {"≤": "<=", "≥": ">=", "…": "...", "×": "x", "²": "^2", "·": "*", "–": "-", "→": "->"}


def keep_to_the_locale() -> None:
    """Output in ASCII where the locale is not of UTF-8, as the program's. The first variable that is set decides."""
    locale = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_CTYPE", "LANG"))), "")
    if locale.upper().replace("-", "").find("UTF8") < 0:
        codecs.register_error("in_ascii", lambda error: ("".join(IN_ASCII.get(one) or one.encode("ascii", "backslashreplace").decode()
                                                                 for one in error.object[error.start:error.end]), error.end))
        for stream in filter(None, (sys.stdout, sys.stderr)):
            stream.reconfigure(encoding="ascii", errors="in_ascii")


def main() -> int:
    keep_to_the_locale()
    # In place of the package's own folder, whose names would hide those of others, and never the current folder.
    sys.path[:] = [str(PACKAGE.parent), *(place for place in sys.path if place and Path(place).resolve() != PACKAGE)]
    from importlib import import_module

    from roof.errors import InputError, printable
    from roof.program import NotFound

    command, *arguments = sys.argv[1:] or [""]
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        if command not in MODULES:
            raise InputError(f"the Python package has the commands {', '.join(MODULES)}; the others are the program's")
        return import_module(f"roof.commands.{MODULES[command]}").main(arguments)
    except KeyboardInterrupt:  # the program, which started this one, ends by the signal
        return 130
    except (InputError, NotFound) as error:
        print(f"roof: {printable(error)}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing more is written at the end
        return 141


if __name__ == "__main__":
    sys.exit(main())
