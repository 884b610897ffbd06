"""What the tests of fleets need: NumPy, SciPy and pandas, and the program that ROOF_PROGRAM names."""

import contextlib
import gc
import io
import os
import subprocess
import sys

try:
    import numpy  # noqa: F401
    import pandas  # noqa: F401
    import scipy.special  # noqa: F401
except ImportError as error:
    print(f"skipped: {error.name} is not installed for this Python", file=sys.stderr)
    sys.exit(77)  # ctest shows it as skipped

ROOF = os.environ.get("ROOF_PROGRAM", "")


def roof(*words, **more):
    """Runs the program."""
    return subprocess.run([ROOF, *map(str, words)], capture_output=True, text=True, check=False, **more)


def called(command, *words):
    """Runs a command of the package as the program does, in this process, which has read the libraries already."""
    from roof.__main__ import run

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = run(command, [*map(str, words)])
    gc.enable()
    return subprocess.CompletedProcess((command, *words), status, out.getvalue(), err.getvalue())
