"""A results folder as data frames; and what `roof report` says of runs, as a notebook shows it: the answer and the
roofline of each step, in HTML that fetches nothing."""

import base64
import re
import tempfile
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, List, Union

from roof.program import NotFound, run_json

MOST_BYTES = 200_000  #: of a figure


class Report:
    """`document`: what `roof report --json` prints; `figures`: the rooflines as SVG, a file each; `page`: the whole
    report."""

    def __init__(self, document: Any, figures: List[str]) -> None:
        self.document = document
        self.figures = figures
        self.page = Path(document["page"])

    def answers(self) -> List[str]:
        """For each measured step what bounds it, and how well its roofs are known."""
        said = []
        for study in self.document["studies"]:
            for row in study["rows"]:
                answer = row.get("answer")
                bound = answer["headline"] if answer else row["reason"] or row["status"]
                where = f"batch {row['batch_images']}, {row['precision']} on {row['device']}"
                said.append(f"{row['model']}, {where}: {bound}")
            quality = (study["calibration"] or {}).get("quality")
            said.append(quality or "There are no roofs: roof.calibrate() measures them.")
        return said

    def __str__(self) -> str:
        return "\n".join([*self.answers(), str(self.page)])

    def _repr_html_(self) -> str:
        answers = [f"<p>{escape(answer)}</p>" for answer in self.answers()]
        return "".join([*answers, *map(inline, self.figures), f"<p>The whole report: {escape(str(self.page))}</p>"])


def inline(figure: str) -> str:
    """The figure as an image, whose styles reach nothing else; without what shows only under a pointer. A sentence
    where it is too large."""
    text = re.sub(r"<title>.*?</title>| data-[a-z]+=\"[^\"]*\"", "", figure, flags=re.DOTALL)
    label = re.search(r'aria-label="([^"]*)"', text)
    source = f"data:image/svg+xml;base64,{base64.b64encode(text.encode()).decode()}"
    image = f'<img alt="{label[1] if label else "roofline"}" src="{source}">'
    if len(image) > MOST_BYTES:
        return "<p>A roofline has too many points to be shown here; it is in the report.</p>"
    return image


def report(*folders: Union[str, Path], calibration: Union[str, Path, None] = None) -> Report:
    """`roof report` of these result folders [the newest run], which also writes its page into the first. Raises
    RuntimeError with its message."""
    with tempfile.TemporaryDirectory() as scratch:
        words = [str(folder) for folder in folders] + (["--calibration", str(calibration)] if calibration else [])
        document = run_json("report", *words, "--json", "--pictures", scratch)
        files = sorted(Path(scratch).glob("roofline-*.svg"), key=lambda file: (len(file.name), file.name))
        return Report(document, [file.read_text(encoding="utf-8") for file in files])


def html_of(folder: Path) -> str:
    """Of a recording; a sentence where the program is not installed."""
    try:
        return report(folder)._repr_html_()
    except (NotFound, RuntimeError) as error:
        return f"<p>recorded in {escape(str(folder))}; {escape(str(error))}</p>"


def pandas() -> Any:
    try:
        import pandas as found
    except ImportError as missing:
        raise ImportError("data frames need pandas: pip install pandas") from missing
    return found


@dataclass
class Run:
    """The tables of a results folder; `samples` and `layers` name their row of `measurements` in the column `id`."""

    folder: Path
    measurements: Any
    samples: Any
    layers: Any


def load(path: Union[str, Path]) -> Run:
    """Reads the folder of a run, a sweep, a calibration or a recording."""
    folder = Path(path)
    for name in ("machine.yaml", "measurements.csv", "samples.csv", "layers.csv"):
        if (folder / name).exists() and not (folder / name).is_file():  # a pipe would wait for a writer
            raise ValueError(f"{folder / name} is no regular file")
    first = (folder / "machine.yaml").read_text(encoding="utf-8").split("\n", 1)[0]
    if first not in ("format: 2", "format: 3"):
        raise ValueError(f"{folder} holds results of another format ({first}), which this version does not read")
    if not (folder / "measurements.csv").exists():
        raise ValueError(f"{folder} has no measurements.csv: its run was stopped before the first row, or it is lost")

    def table(name: str) -> Any:
        file = folder / name
        frame = pandas().read_csv(file) if file.exists() else pandas().DataFrame(columns=["id"])
        return frame.drop(columns=[name for name in frame.columns if name.startswith("row_checksum")])

    return Run(folder, table("measurements.csv"), table("samples.csv"), table("layers.csv"))
