"""What was done, in how long, and how it ended: steps.json and summary.md, written after every step, so that what is finished is kept
when the rest is cut off."""

import json

#: ok; failed: it ran, and something is wrong; cut off: its time was over; unavailable: it cannot run here; left out: no time for it.
ENDS = ("ok", "failed", "cut off", "unavailable", "left out")


FIELDS = {"step", "status", "seconds", "reason", "proves", "build"}


class Journal:
    """`build` says which one the steps are run with: what another has shown does not count, nor does what an older form of this file
    says."""

    def __init__(self, folder, build=""):
        self.folder = folder
        self.build = build
        self.file = folder / "steps.json"
        rows = json.loads(self.file.read_text(encoding="utf-8")) if self.file.exists() else []
        self.rows = [row for row in rows if FIELDS <= row.keys()]

    def is_done(self, name):
        return any((row["step"], row["status"], row["build"]) == (name, "ok", self.build) for row in self.rows)

    def add(self, step, status, seconds=0.0, reason=""):
        """In place of what the folder had of that step before."""
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
        """The exit status: 0 if all of these ended well."""
        return 0 if all(self.is_done(name) for name in names) else 1


def alone(name):
    return f"tools/gpu_acceptance --only {name}"
