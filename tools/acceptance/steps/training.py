"""Training steps on the GPU: in turns with PyTorch's, on several ranks, and as much of the training plan as time
allows."""

import csv
import sys

import read_back

from acceptance.programs import Countdown, Failed, TimeOver
from acceptance.scene import ROOT

PLAN = ROOT / "configs" / "run" / "gpu_training.yaml"
BENCH = ROOT / "tools" / "bench_training"
#: The most informative first: a usual step, one limited by launches, one of large convolutions, one in between.
HANDFUL = ("resnet50:32", "alexnet:4", "vgg16:32", "resnet18:4")
ROW_SECONDS = 100  # PyTorch starts once per variant, and its import takes about 10 s
ROUNDS = 3  # only complete rows are kept
ALL_SECONDS = 900
TABLE_SECONDS = 10


def rows_for(seconds):
    """(arguments of bench_training, a text about what they leave out)."""
    if seconds >= ALL_SECONDS:
        return ["--models", "alexnet,resnet18,resnet50,vgg16", "--batches", "4,32,256", "--minutes", f"{0.8 * seconds / 60:.2f}"], ""
    rows = HANDFUL[:max(1, int(seconds // ROW_SECONDS))]
    words = ["--rounds", ROUNDS, "--seconds", 1, "--models", ",".join(row.split(":")[0] for row in rows), "--batches", "4,32",
             "--rows", ",".join(rows), "--modes", "bf16:auto", "--layouts", "channels_last", "--no-compile"]
    return words, (f"{len(rows)} rows in bf16, and PyTorch channels-last without torch.compile; all of them: "
                   f"tools/gpu_acceptance --only training-beside-pytorch --minutes {ALL_SECONDS // 60}")


def beside_pytorch(scene, seconds):
    """Writes pytorch.csv row by row, and the table of the rows that were finished in time."""
    chosen, left_out = rows_for(seconds)
    measuring = seconds - TABLE_SECONDS
    table = scene.out / "pytorch.csv"
    try:
        scene.run([sys.executable, BENCH, "--device", "gpu:0", "--roof", scene.roof, "--python", sys.executable, *chosen,
                   "--csv", table], "pytorch.log", measuring)
    except TimeOver:
        if not table.exists():
            raise
        left_out = f"cut off after {measuring:.0f} s; {left_out}"
    text = scene.run([sys.executable, BENCH, "--from", table], "pytorch.txt", TABLE_SECONDS)
    (scene.out / "pytorch.md").write_text(f"```\n{text}```\n", encoding="utf-8")
    return left_out


def time_kernels(scene, seconds):
    """Times each of the own kernels of a step of ResNet-50, and says which of the slow ones take the most time."""
    model, batch = scene.network("resnet50", 256)
    text = scene.run([scene.bin / "test_cudnn_device", "[.kernel_times]"], "kernel-times.csv", seconds, MODEL=model, BATCH=str(batch))
    sums = [words for words in csv.reader(text.splitlines()) if words and words[0].endswith(" (all)")]
    if not sums:
        raise Failed("no kernel was timed; kernel-times.csv says more")
    return "; ".join(f"{words[0].removesuffix(' (all)')} {words[3]} TB/s" for words in sums)


def require_measured(rows):
    """Throws Failed unless all rows are ok. A row with a reason for a missing measurement also fails."""
    reasons = dict.fromkeys(row["reason"] or row["status"] for row in rows if row["status"] != "ok")
    if reasons or not rows:
        raise Failed("; ".join(reasons) or "no row was measured")


def on_ranks(scene, seconds):
    """Runs steps with gradients through NCCL: one rank with each communication method, and two ranks with the usual
    one. Two ranks on one GPU show that it works; their speed is not meaningful."""
    time_left = Countdown(seconds)
    model, batch = scene.network("resnet18", 32)
    steps = ["--steps", 2] if scene.is_small else []
    for ranks, variants in ((1, "overlapped,serial,broadcast"), (2, "overlapped")):
        folder = scene.fresh(f"training-ranks-{ranks}")
        shared = {"NCCL_HOSTID": "roof", "NCCL_IB_DISABLE": "1", "NCCL_SOCKET_IFNAME": "lo"} if ranks > 1 else {}
        scene.run([scene.roof, "run", model, "--batch", batch, *steps, "--precision", "bf16", "--device", "gpu:0", "--ranks", ranks,
                   "--communication", variants, "--out", folder], f"{folder.name}.log", time_left.left, **shared)
        require_measured(read_back.rows(folder / "measurements.csv"))


def sweep(scene, seconds):
    """Measures as many rows as time allows. The same command continues with the rest."""
    folder, cut_off = scene.out / "training", ""
    small = ["run", scene.network("", 0)[0], "--batch", "1,2", "--steps", 2, "--precision", "fp32,bf16", "--device", "gpu:0"]
    try:
        scene.run([scene.roof, *(small if scene.is_small else ["sweep", PLAN]), "--out", folder], "training.log", seconds, accepted=(0, 1))
    except TimeOver:
        cut_off = "; the rest: tools/gpu_acceptance --only training-sweep --minutes 60"
    rows = read_back.rows(folder / "measurements.csv")
    measured = [row for row in rows if row["status"] == "ok"]
    failed = [f"{row['id']}: {row['reason']}" for row in rows if row["status"] == "failed"]
    if failed or not measured:
        raise Failed("; ".join(failed) or "no row was measured in the time; training.log says more")
    return f"{len(measured)} rows measured{cut_off}"
