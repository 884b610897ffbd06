"""Commands that are answered by a server that forks: its libraries are loaded once."""

import os
import subprocess

SEPARATOR = "\x1f"
NOBODY = 65534
USER = NOBODY if os.geteuid() == 0 else os.geteuid()


class Served:
    """`words`: of a server as fake_roof.cpp has one; `scratch`: a folder for the two streams."""

    def __init__(self, words, scratch, **environment):
        self.streams = [scratch / name for name in ("out", "err")]
        # In a session of its own: who stops this program lets the command end.
        self.server = subprocess.Popen([*words, "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
                                       env={**os.environ, **environment})

    def answer(self, folder, words):
        """Exit status, or minus the number of the signal, standard output and standard error."""
        for file in self.streams:
            file.write_bytes(b"")
            file.chmod(0o666)
        print(SEPARATOR.join(map(str, (USER, folder, *self.streams, *words))), file=self.server.stdin, flush=True)
        status = int(self.server.stdout.readline())
        return status, *(file.read_text(encoding="utf-8", errors="replace") for file in self.streams)

    def end(self):
        self.server.stdin.close()
        self.server.wait()
        self.server.stdout.close()
