"""Training steps on the GPU: in turns with PyTorch's, on several ranks, and as much of the training plan as time
allows."""

import csv
import re
import sys

import pages

from acceptance.scene import ROOT
from measuring import Countdown, Failed, TimeOver

PLAN = ROOT / "configs" / "run" / "gpu_training.yaml"
BENCH = ROOT / "tools" / "bench_training"
#: The pages' headlines first, then a step limited by launches, one of large convolutions, one in between.
HANDFUL = ("resnet50:256", "gpt2@1024:16", "vit_b_16:64", "llama_1b@4096/decode:1", "alexnet:4", "vgg16:32", "resnet18:4")
ROW_SECONDS = 100  # PyTorch starts once per variant, and its import takes about 10 s
COMPILED_ROW_SECONDS = 300  # three more starts, in which PyTorch compiles or tunes
ROUNDS = 3  # only complete rows are kept
TABLE_SECONDS = 10
MODES = "overlapped,serial,broadcast"
STEPS_ON_RANKS = 10
LOSSES_WITHIN = 1e-5


def rows_for(seconds, narrow):
    """(arguments of bench_training, a text about what they leave out). PyTorch is at its best where every row has the time to compile."""
    compiles = seconds >= len(HANDFUL) * COMPILED_ROW_SECONDS
    rows = HANDFUL[:max(1, int(seconds // ROW_SECONDS))]
    models, batches = (dict.fromkeys(row.rpartition(":")[k] for row in rows) for k in (0, 2))
    words = ["--rounds", ROUNDS, "--seconds", 1, "--models", ",".join(models), "--batches", ",".join(batches),
             "--rows", ",".join(rows), "--modes", f"{narrow}:auto"]
    if compiles:
        return words, ""
    return [*words, "--layouts", "channels_last", "--no-compile"], (
        f"{len(rows)} rows in {narrow}, and PyTorch channels-last without torch.compile, so not at its best; all of them: "
        f"tools/gpu_acceptance --only training-beside-pytorch --minutes {len(HANDFUL) * COMPILED_ROW_SECONDS // 60}")


def beside_pytorch(scene, seconds):
    """Writes pytorch.csv row by row, and the table of the rows that were finished in time."""
    chosen, left_out = rows_for(seconds, scene.narrow)
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
    text = scene.run([scene.bin / "test_cudnn_device", "[.kernel_times]"], "kernel-times.csv", seconds, MODEL=model, BATCH=str(batch),
                     PRECISION=scene.narrow)
    sums = [words for words in csv.reader(text.splitlines()) if words and words[0].endswith(" (all)")]
    if not sums:
        raise Failed("no kernel was timed; kernel-times.csv says more")
    return "; ".join(f"{words[0].removesuffix(' (all)')} {words[3]} TB/s" for words in sums)


def time_attention(scene, seconds):
    """Compares attention by cuDNN with our kernels and with whole matrices, and times both."""
    small = {"SMALL": "1"} if scene.is_small else {}
    text = scene.run([scene.bin / "test_cudnn_device", "[.attention]"], "attention.csv", seconds, **small)
    rows = [row for row in csv.reader(text.splitlines()) if len(row) == 8 and row[1] in ("bf16", "fp16")]
    if not rows:
        raise Failed("no pass of attention was timed; attention.csv says more")
    return f"cuDNN's attention takes {' to '.join(f'{one(float(row[5]) / float(row[4]) for row in rows):.3g}' for one in (min, max))} of our kernels' time"


def require_measured(rows):
    """Raises Failed unless all rows are ok. A row with a reason for a missing measurement also fails."""
    reasons = dict.fromkeys(row["reason"] or row["status"] for row in rows if row["status"] != "ok")
    if reasons or not rows:
        raise Failed("; ".join(reasons) or "no row was measured")


def on_ranks(scene, seconds):
    """Runs steps of one rank with gradients through NCCL, in each way to communicate."""
    model, batch = scene.network("resnet18", 32)
    steps = ["--steps", 2] if scene.is_small else []
    folder = scene.fresh("training-ranks")
    scene.run([scene.roof, "run", model, "--batch", batch, *steps, "--precision", scene.narrow, "--device", "gpu:0", "--ranks", 1,
               "--communication", MODES, "--out", folder], f"{folder.name}.log", seconds)
    require_measured(pages.rows(folder / "measurements.csv"))


def losses_by_row(folder):
    """{row: its losses}."""
    found = {}
    for sample in pages.rows(folder / "samples.csv"):
        found.setdefault(sample["id"], []).append(float(sample["loss"]))
    return found


def require_losses(due, folder):
    """Raises Failed unless each row has these losses, to LOSSES_WITHIN."""
    for row, losses in losses_by_row(folder).items():
        pairs = list(zip(due, losses))
        if len(losses) != len(due) or any(abs(other - one) > LOSSES_WITHIN * abs(one) for one, other in pairs):
            raise Failed(f"{row} has the losses {losses}, one rank with both batches {due}")


def two_ranks(scene, seconds):
    """Trains on two ranks of one GPU, and on one with both batches; roof itself compares the ranks' parameters bit by bit. By NCCL_HOSTID, and
    where NCCL can, by its own variable, which takes another transport. Their speed is not meaningful."""
    time_left = Countdown(seconds)
    model, batch = scene.unmixed_network()

    def run(name, *words, **environment):
        folder = scene.fresh(f"two-ranks-{name}")
        scene.run([scene.roof, "run", model, "--precision", "fp32", "--data", "hashed", "--parameters", "hashed", "--deterministic", "--steps",
                   STEPS_ON_RANKS, "--device", "gpu:0", *words, "--out", folder], f"{folder.name}.log", time_left.left, accepted=(0, 1), **environment)
        require_measured(pages.rows(folder / "measurements.csv"))
        return folder

    (due,) = losses_by_row(run("alone", "--batch", 2 * batch)).values()
    own_machines = {"NCCL_HOSTID": "roof", "NCCL_IB_DISABLE": "1", "NCCL_SOCKET_IFNAME": "lo"}
    took = 0
    for variables in (own_machines, {"NCCL_MULTI_RANK_GPU_ENABLE": "1"}):
        for graph in ([], ["--no-graph"]):
            name = f"{next(iter(variables)).lower()}{'-launches' if graph else '-graph'}"
            before = time_left.left
            if before < took:
                return f"no time for {name}: unseen"
            folder = run(name, "--batch", batch, "--ranks", 2, "--communication", MODES, *graph, **variables)
            require_losses(due, folder)
            took = 1.2 * (before - time_left.left)
        version = re.search(r"NCCL (\d+)\.(\d+)", pages.rows(folder / "measurements.csv")[0]["variant"])
        if (int(version[1]), int(version[2])) < (2, 30):
            return f"{version[0]} has no NCCL_MULTI_RANK_GPU_ENABLE: unseen"
    return None


def sweep(scene, seconds):
    small = ["run", scene.network("", 0)[0], "--batch", "1,2", "--steps", 2, "--precision", f"fp32,{scene.narrow}", "--device", "gpu:0"]
    return scene.measure("training-sweep", small if scene.is_small else ["sweep", PLAN], seconds)
