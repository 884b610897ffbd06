"""`python3 roof/__main__.py COMMAND ARGUMENTS`: a command of the package, as the program `roof` starts it (tools/roof/programs)."""

import os
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
#: command: the module of roof.commands, whose main(arguments) returns the exit status
MODULES = {"estimate": "estimate", "import": "import_"}


def main() -> int:
    # In place of the package's own folder, whose names would hide those of others, and never the current folder.
    sys.path[:] = [str(PACKAGE.parent), *(place for place in sys.path if place and Path(place).resolve() != PACKAGE)]
    from importlib import import_module

    from roof.errors import InputError, printable

    command, arguments = sys.argv[1], sys.argv[2:]
    try:
        return import_module(f"roof.commands.{MODULES[command]}").main(arguments)
    except InputError as error:
        print(f"roof: {printable(error)}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing more is written at the end
        return 141
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
