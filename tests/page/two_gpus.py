"""A results folder with a CPU, one GPU and two: the example's rows once more, faster, on GPUs that are marked as emulated."""

import csv

MARK = "Emulated, not a measurement: "


def read(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def write(path, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def on_gpu(identity, device, ranks):
    """The identity of a row of the CPU, as a row of a GPU has it."""
    words = [device if word == "cpu" else word for word in identity.split(" ") if not word.startswith(("threads=", "placement="))]
    return " ".join(words + ([f"ranks={ranks}"] if ranks > 1 else []))


def add(path, device, factor, ranks=1):
    """Appends the rows with the most threads again, `factor` times as fast. Rows without an `id` of two threads are left out."""
    header, *rows = read(path)
    column = {name: at for at, name in enumerate(header)}
    for row in [row for row in rows if " cpu " in row[0] and "threads=2" in row[0] and "placement=siblings" not in row[0]]:
        copy = list(row)
        copy[0] = on_gpu(row[0], device, ranks)
        for name, value in (("device", device), ("threads", ""), ("placement", ""), ("ranks", str(ranks) if ranks > 1 else "")):
            if name in column:
                copy[column[name]] = value
        for name, mark in (("description", MARK), ("variant", "Emulated: ")):
            if name in column:
                copy[column[name]] = mark + copy[column[name]]
        for name, at in column.items():
            if name.endswith("_s") and copy[at]:
                copy[at] = repr(float(copy[at]) / factor)
        rows.append(copy)
    write(path, [header, *rows])


def add_devices(path):
    text = path.read_text(encoding="utf-8")
    begin = text.index("  - name: cpu")
    end = begin + next_key(text[begin:])
    cpu = text[begin:end]
    gpus = "".join(cpu.replace("name: cpu", f"name: gpu:{number}", 1).replace("kind: cpu", "kind: gpu", 1)
                   .replace("model: AMD EPYC", "model: Emulated H100", 1) for number in (0, 1))
    path.write_text(text[:end] + gpus + text[end:], encoding="utf-8")


def next_key(text):
    """Where the next line without indent begins."""
    at = 0
    for line in text.splitlines(keepends=True):
        if at and not line.startswith(" "):
            return at
        at += len(line)
    return at


def add_two_gpus(run, calibration):
    for folder in {run, calibration}:
        add_devices(folder / "machine.yaml")
    for device in ("gpu:0", "gpu:1"):
        add(calibration / "measurements.csv", device, 10)
    for name in ("measurements.csv", "samples.csv", "layers.csv"):
        cpu = read(run / name)
        add(run / name, "gpu:0", 5)
        one = read(run / name)
        write(run / name, cpu)
        add(run / name, "gpu:0,1", 8, 2)
        write(run / name, one + read(run / name)[len(cpu):])
