"""`python3 roof/__main__.py COMMAND ARGUMENTS`: a command of the package, as the program `roof` starts it (tools/roof/programs)."""

import codecs
import fcntl
import io
import os
import signal
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
#: command: the module of roof.commands, whose main(arguments) returns the exit status
MODULES = {"atlas": "atlas", "estimate": "estimate", "fleet": "fleet", "import": "import_"}
IN_ASCII = {"≤": "<=", "≥": ">=", "…": "...", "×": "x", "²": "^2", "·": "*", "–": "-", "→": "->"}


def encoding() -> str:
    """ASCII where the locale is not of UTF-8, as the program's output is. The first variable that is set decides."""
    locale = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_CTYPE", "LANG"))), "")
    return "utf-8" if "UTF8" in locale.upper().replace("-", "") else "ascii"


def in_ascii(error: UnicodeError):
    assert isinstance(error, UnicodeEncodeError)
    letters = error.object[error.start:error.end]
    return "".join(IN_ASCII.get(one) or one.encode("ascii", "backslashreplace").decode() for one in letters), error.end


def run(command: str, arguments: list) -> int:
    from importlib import import_module

    from roof.program import NotFound
    from roof.texts import InputError, printable

    try:
        if command not in MODULES:
            raise InputError(f"the Python package has the commands {', '.join(MODULES)}; the others are the program's")
        return import_module(f"roof.commands.{MODULES[command]}").main(arguments)
    except (InputError, NotFound) as error:
        print(f"roof: {printable(error)}", file=sys.stderr)
    except OSError as error:
        print(printable(f"roof: cannot use {error.filename or 'a file'}: {error.strerror or error}"), file=sys.stderr)
    except ImportError as error:  # of a library that is installed
        print(printable(f"roof: a library of Python cannot be loaded: {error}"), file=sys.stderr)
    except MemoryError:
        print("roof: there is not enough memory for this command", file=sys.stderr)
        return 1
    return 2


def main() -> int:
    codecs.register_error("in_ascii", in_ascii)
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # NumPy's threads wait for ever where memory is short
    if fcntl.fcntl(2, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:  # closed, and opened by the program so that no file gets its number
        sys.stderr = open(os.devnull, "w", encoding="utf-8")
    sys.stderr.reconfigure(encoding=encoding(), errors="in_ascii")  # type: ignore[union-attr]
    sys.stdout = said = io.StringIO()
    # In place of the package's own folder, whose names would hide those of others, and never the current folder.
    sys.path[:] = [str(PACKAGE.parent), *(place for place in sys.path if place and Path(place).resolve() != PACKAGE)]
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        command, *arguments = sys.argv[1:] or [""]
        status = run(command, arguments)
        text = said.getvalue().encode(encoding(), "in_ascii")
        while text:
            text = text[os.write(1, text):]
        return status
    except KeyboardInterrupt:  # the program, which started this one, ends by the signal
        return 130
    except BrokenPipeError:
        return 141
    except OSError:
        print("roof: standard output cannot be written", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
