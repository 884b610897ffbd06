"""A tree of files that is put back after each accident to it: only what has changed is written again."""

import os
import stat
from dataclasses import dataclass
from typing import Dict, Optional


@dataclass
class Entry:
    state: os.stat_result
    content: Optional[bytes] = None  #: of a file; the target of a link
    inode: int = 0  #: in the tree that is put back


class KeptTree:
    """`whole`: the tree as it should be, whose times are long ago, so that a change shows; it may be removed. `place`: where it is put."""

    def __init__(self, whole, place):
        self.place, self.entries = str(place), {}  # type: ignore[var-annotated]
        self.names: Dict[str, set] = {}
        self._read(str(whole), "")

    def _read(self, path, name):
        state = os.lstat(path)
        if not stat.S_ISDIR(state.st_mode):
            with open(path, "rb") as file:
                self.entries[name] = Entry(state, file.read())
            return
        self.entries[name] = Entry(state)
        self.names[name] = set(os.listdir(path))
        for inner in sorted(self.names[name]):
            self._read(f"{path}/{inner}", f"{name}/{inner}")

    @staticmethod
    def _remove(path):
        if os.path.isdir(path) and not os.path.islink(path):
            os.chmod(path, 0o700)
            for inner in os.listdir(path):
                KeptTree._remove(f"{path}/{inner}")
            os.rmdir(path)
        else:
            os.unlink(path)

    @staticmethod
    def _state(path):
        try:
            return os.lstat(path)
        except OSError:
            return None

    def restore(self):
        for name, entry in self.entries.items():  # folders before what is in them
            path, kept = self.place + name, entry.state
            now = self._state(path)
            if now is not None and stat.S_IFMT(now.st_mode) != stat.S_IFMT(kept.st_mode):
                self._remove(path)
                now = None
            if entry.content is None:
                if now is None:
                    os.mkdir(path)
                elif now.st_mode != kept.st_mode:
                    os.chmod(path, 0o700)
            elif now is None or any((now.st_ino != entry.inode, now.st_mtime_ns != kept.st_mtime_ns, now.st_size != kept.st_size,
                                     now.st_mode != kept.st_mode, now.st_uid != kept.st_uid, now.st_nlink != 1)):
                if now is not None:
                    os.unlink(path)
                with open(path, "xb") as file:
                    file.write(entry.content)
                self._finish(path, kept)
                entry.inode = os.lstat(path).st_ino
        for name in reversed(self.names):
            path, kept = self.place + name, self.entries[name].state
            now = os.lstat(path)
            if now.st_mtime_ns != kept.st_mtime_ns or now.st_mode != kept.st_mode or now.st_uid != kept.st_uid:
                for inner in set(os.listdir(path)) - self.names[name]:
                    self._remove(f"{path}/{inner}")
                self._finish(path, kept)

    @staticmethod
    def _finish(path, kept):
        if os.geteuid() == 0:
            os.chown(path, kept.st_uid, kept.st_gid)
        os.chmod(path, stat.S_IMODE(kept.st_mode))
        os.utime(path, ns=(kept.st_atime_ns, kept.st_mtime_ns))
