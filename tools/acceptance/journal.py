"""Records each step, its time and its status in steps.json and summary.md. Both are written after every step, so
finished steps are kept after an interruption."""

import json

#: ok; failed: a check failed; cut off: its time was over; unavailable: cannot run on this machine; left out: not enough
#: time.
ENDS = ("ok", "failed", "cut off", "unavailable", "left out")


FIELDS = {"step", "status", "seconds", "reason", "proves", "build"}


class Journal:
    """The record of all steps. Results of another `build`, or in an older format of the file, do not count."""

    def __init__(self, folder, build=""):
        self.folder = folder
        self.build = build
        self.file = folder / "steps.json"
        rows = json.loads(self.file.read_text(encoding="utf-8")) if self.file.exists() else []
        self.rows = [row for row in rows if FIELDS <= row.keys()]

    def is_done(self, name):
        return any((row["step"], row["status"], row["build"]) == (name, "ok", self.build) for row in self.rows)

    def add(self, step, status, seconds=0.0, reason=""):
        """Replaces earlier results of the step in this folder."""
        assert status in ENDS, status
        row = {"step": step.name, "status": status, "seconds": round(seconds, 1), "reason": reason, "proves": step.proves,
               "build": self.build}
        self.rows = [old for old in self.rows if old["step"] != step.name] + [row]
        print(f"[{row['seconds']:6.1f} s] {step.name}: {status}{': ' if reason else ''}{reason}", flush=True)
        self.write()

    def write(self):
        self.file.write_text(json.dumps(self.rows, indent=1) + "\n", encoding="utf-8")
        lines = ["| step | end | seconds | proves | reason | alone |", "|---|---|---|---|---|---|"]
        for row in self.rows:
            reason = row["reason"].replace("|", "\\|").replace("\n", " ")
            lines.append(f"| {row['step']} | {row['status']} | {row['seconds']} | {row['proves']} | {reason} | "
                         f"`{alone(row['step'])}` |")
        pages = [self.folder / name for name in ("peers.md", "pytorch.md")]
        tables = [page.read_text(encoding="utf-8") for page in pages if page.exists()]
        (self.folder / "summary.md").write_text("\n\n".join(["\n".join(lines), *tables]) + "\n", encoding="utf-8")

    def status(self, names):
        """The exit status: 0 if all these steps are ok."""
        return 0 if all(self.is_done(name) for name in names) else 1


def alone(name):
    return f"tools/gpu_acceptance --only {name}"
