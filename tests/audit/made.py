"""Results folders drawn by seed: ranks, scaling, threads, precisions, data, devices, machines, failed and damaged rows, unknown bytes,
recordings and lower bounds. A folder is written as results/README.md and docs/reliability.md describe it."""

import csv
import io
import itertools
import random
import statistics
import zlib

import yaml

from made_records import Records
from reading import checksum

AXES = ["model", "batch", "operation", "intensity", "isa", "precision", "algorithm", "data", "parameters", "lr", "optimizer", "tokens", "phase", "threads", "placement", "pages",
        "cpu_node", "memory_node", "path", "size", "working_set_bytes", "graph", "deterministic", "ranks", "scaling", "communication", "bucket_mb",
        "batch_norm", "round"]
#: With what says that the bytes are those of what ran (docs/method.md, section 5): without it the row of a GPU is not judged.
STEP = "One made training step; the bytes are those of the tensors that its operations read and write"
TIMES = ["launch", "data", "forward", "backward", "update", "exposed", "hidden"]
COLUMNS = (["id", "bench", "role", "device", *AXES, "status", "reason", "launch_median_s", "launch_low_s", "launch_high_s", "samples", "discarded"]
           + [f"{name}_{part}_s" for name in TIMES[1:] for part in ("median", "low", "high")]
           + ["messages_bytes", "clock_median_hz", "clock_low_hz", "clock_high_hz", "variant", "flops", "executed_flops", "compulsory_bytes",
              "no_reuse_bytes", "read_bytes", "written_bytes", "work_known", "memory_bytes", "started_utc", "description", "remarks"])
HOST_COLUMNS = ["others_processors", "stolen_processors", "waited_share", "shared_share"]  # of format 3
JOULES = ["energy", "forward_energy", "backward_energy", "update_energy"]
SUSTAINED_COLUMNS = ([f"sustained_{part}_s" for part in ("median", "low", "high")] + ["sustained_clock_hz", "instant_power_w", "power_limit_w"]
                     + [f"{name}_{part}_j" for name in JOULES for part in ("median", "low", "high")])
SAMPLE_COLUMNS = ["id", "launch_s", "data_s", "forward_s", "backward_s", "update_s", "loss", "clock_hz", "memory_clock_hz", "power_w",
                  "temperature_c", "exposed_s", "hidden_s", "messages_bytes", "disturbance", "used"]
LAYER_COLUMNS = ["id", "layer", "kind", "phase", "time_median_s", "time_low_s", "time_high_s", "samples", "flops", "executed_flops",
                 "compulsory_bytes", "no_reuse_bytes", "read_bytes", "written_bytes", "work_known", "refetched_bytes", "implementation"]
SIZES = {"fp64": 8, "fp32": 4, "tf32": 4, "fp16": 2, "bf16": 2}


def line(cells):
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(["" if cell is None else cell for cell in cells])
    return text.getvalue()


def digits(value):
    return repr(value) if isinstance(value, float) else value


def identity(bench, device, axes):
    words = [f"{'working_set' if name == 'working_set_bytes' else name}={axes[name]}" for name in AXES if axes.get(name) not in (None, "")]
    return " ".join([bench, device, *words])


def interval(values):
    """Median and order statistics: docs/method.md, section 2."""
    ordered, n = sorted(values), len(values)
    k, below, total = 1, 0.0, 2.0**n
    if n >= 6:
        chosen, term, k = 0.0, 1.0, 0
        while True:  # P(Binomial(n, 1/2) < k + 1)
            chosen += term / total
            if 1 - 2 * chosen < 0.95:
                break
            k += 1
            term = term * (n - k + 1) / k
    return statistics.median(ordered), ordered[k - 1], ordered[n - k]


class Writer:
    """Collects rows and writes a folder with checksums."""

    def __init__(self):
        self.rows = []

    def add(self, bench, role, device, axes, cells, samples=(), layers=()):
        row = {"id": identity(bench, device, axes), "bench": bench, "role": role, "device": device, "time_known": "measured", **axes, **cells}
        self.rows.append((row, samples, layers))
        return row

    def write(self, folder, machine, plan, damage=(), records=()):
        folder.mkdir(parents=True)
        if "run" in machine:  # each folder is a run of its own
            machine = {**machine, "run": "".join(random.Random(str(folder)).choices("abcdefghij", k=10))}
        (folder / "machine.yaml").write_text(yaml.safe_dump(machine, sort_keys=False), encoding="utf-8")
        (folder / "plan.yaml").write_text(yaml.safe_dump(plan, sort_keys=False), encoding="utf-8")
        run = machine.get("run")
        columns, sample_columns = (COLUMNS + HOST_COLUMNS + SUSTAINED_COLUMNS + ["time_known"], SAMPLE_COLUMNS + HOST_COLUMNS) if run else (COLUMNS, SAMPLE_COLUMNS)
        header, sample_header, layer_header = line(columns), line(sample_columns), line(LAYER_COLUMNS)
        whole = header + (f",row_checksum:{run}" if run else ",row_checksum")
        measurements, all_samples, all_layers, before = [whole], [sample_header], [layer_header], header
        for row, samples, layers in self.rows:
            body = line(digits(row.get(name)) for name in columns)
            sample_lines = [line([row["id"], *(digits(sample.get(name, "" if name in HOST_COLUMNS else 0)) for name in sample_columns[1:])]) for sample in samples]
            layer_lines = [line([row["id"], *(digits(layer.get(name, "")) for name in LAYER_COLUMNS[1:])]) for layer in layers]
            block = [body] + ([sample_header, *sample_lines] if samples else []) + ([layer_header, *layer_lines] if layers else [])
            before = checksum(before, block + ([whole] if run else []))
            measurements.append(f"{body},{before}")
            all_samples += sample_lines
            all_layers += layer_lines
        for number in damage:  # a digit of the row's time, after the checksum was made
            at = 1 + number
            row = self.rows[number][0]
            measurements[at] = measurements[at].replace(repr(row["launch_median_s"]), repr(row["launch_median_s"] * 2), 1)
        texts = {"measurements.csv": measurements}
        if len(all_samples) > 1:
            texts["samples.csv"] = all_samples
        if len(all_layers) > 1:
            texts["layers.csv"] = all_layers
        for name, lines in texts.items():
            (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        for name, text in records:
            (folder / name).write_text(text, encoding="utf-8")
        self.index(folder, before, run)

    @staticmethod
    def index(folder, last, run):
        """checksums.csv: each line is a block."""
        header = "file,bytes,end,edited"
        lines, before = [header + (f",block_checksum:{run}" if run else ",block_checksum")], header
        for path in sorted(folder.iterdir()):
            data = path.read_bytes()
            end = format(zlib.crc32(data), "08x") if path.suffix == ".yaml" else last if path.name == "measurements.csv" else ""
            body = f"{path.name},{len(data)},{end},"
            before = checksum(before, [body] + lines[:1] * bool(run))
            lines.append(f"{body},{before}")
        (folder / "checksums.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


class Draw:
    """One case: machines, each with a calibration and a run."""

    def __init__(self, seed):
        self.random = random.Random(f"audit {seed}")
        self.seed = seed

    def chance(self, share):
        return self.random.random() < share

    def machine(self, name, devices, threads):
        levels = [{"name": "L1", "capacity_bytes": 32768, "instances": threads, "shared_by_threads": 1},
                  {"name": "L2", "capacity_bytes": 1048576, "instances": threads, "shared_by_threads": 1}]
        stated = {"format": 3, "run": "".join(self.random.choices("abcdefghij", k=10))} if self.chance(0.5) else {"format": 2}
        return {**stated, "name": name, "cpu_model": f"Made CPU {name}", "vendor": "", "family": 0, "model": 0, "stepping": 0, "sockets": 1,
                "cores": threads, "threads": threads, "smt": 1, "numa_nodes": 1, "isa": ["scalar", "sse", "avx2"], "features": [],
                "hypervisor": "", "governor": "", "huge_pages": "", "clock_reported_hz": 0,
                "devices": [{"name": device, "kind": "cpu" if device == "cpu" else "gpu", "model": f"Made {device.split(':')[0]}",
                             "levels": levels, "memory_bytes": 0, "memory_available_bytes": 0, "facts": {}} for device in devices],
                "capabilities": [], "inconsistencies": [], "versions": {"roof": "0.1.0"}}

    def rows_of_a_ceiling(self, writer, bench, role, device, axes, flops, moved, seconds):
        """Rounds with samples. Their spread decides whether the ceiling is steady, unsteady or a lower bound."""
        rounds = self.random.choice([1, 3, 3, 3]) if not self.fixed_rounds else self.fixed_rounds
        spread = self.random.choice([0.0005, 0.002, 0.03])
        for number in range(1, rounds + 1):
            times = [seconds * (1 + abs(self.random.gauss(0, spread))) for _ in range(9)]
            median, low, high = interval(times)
            samples = [{"launch_s": time, "used": 1, "disturbance": ""} for time in times]
            writer.add(bench, role, device, {**axes, "round": number},
                       {"status": "ok", "launch_median_s": median, "launch_low_s": low, "launch_high_s": high, "samples": 9, "discarded": 0,
                        "flops": flops, "compulsory_bytes": moved, "no_reuse_bytes": moved, "work_known": "analytic", "memory_bytes": 0,
                        "started_utc": "2026-01-01T00:00:00Z", "description": "Made."}, samples)

    def calibration(self, devices, thread_counts):
        writer, seconds = Writer(), 1e-3
        self.fixed_rounds = self.random.choice([None, 3])
        scale = 10 ** self.random.uniform(-0.3, 0.7)
        operations = ["load", "copy"] + [name for name in ("store", "update", "triad", "accumulate") if self.chance(0.5)]
        for device in devices:
            gpu = device != "cpu"
            for threads in [None] if gpu else thread_counts:
                times = (threads or 1) * scale * (10 if gpu else 1)
                edges = [(2**13, 2**16, 2e11), (2**17, 2**20, 6e10), (2**22, 2**26, 1e10 * self.random.uniform(0.8, 2.5) / max(1, (threads or 1) ** 0.5))]
                for operation in operations:
                    factor = self.random.uniform(0.6, 1.3) if operation != "load" else 1.0
                    if gpu and operation in ("update", "accumulate"):
                        continue
                    for first, last, per_thread in edges:
                        size = first
                        while size <= last:
                            axes = {"operation": operation, "isa": "cuda" if gpu else "avx2", "threads": threads, "working_set_bytes": size}
                            self.rows_of_a_ceiling(writer, "bandwidth", "bandwidth", device, axes, 0, int(per_thread * times * factor * seconds) // 8 * 8, seconds)
                            size *= 2
                for precision, width in (("fp64", 0.5), ("fp32", 1.0), ("bf16", 4.0)):
                    rate = 5e10 * times * width * self.random.uniform(0.8, 1.2)
                    fma = "tile" if precision == "bf16" and gpu else "dot" if precision == "bf16" else "fma"
                    isa = ("mma" if fma == "tile" else "cuda") if gpu else "avx512" if fma == "dot" else "avx2"
                    kinds = [(fma, 1.0)] + ([("add", 0.5)] if fma == "fma" else []) + ([("best", 1.4)] if fma == "fma" and not gpu and self.chance(0.5) else [])
                    for operation, factor in kinds:
                        axes = {"operation": operation, "isa": isa, "precision": precision, "threads": threads}
                        self.rows_of_a_ceiling(writer, "flops", "compute", device, axes, int(rate * factor * seconds), 0, seconds)
                if gpu or threads == thread_counts[0]:
                    for size, wait in ((2**14, 1.2e-9), (2**19, 4e-9), (2**25, 9e-8)):
                        axes = {"isa": "cuda" if gpu else None, "working_set_bytes": size}
                        lines = 10000
                        self.rows_of_a_ceiling(writer, "latency", "latency", device, axes, 0, lines * 64, lines * wait)
        if "gpu:1" in devices and self.chance(0.7):
            axes = {"operation": "bus", "path": "nccl", "size": 2**26}
            self.rows_of_a_ceiling(writer, "allreduce", "bandwidth", "gpu:0", axes, 0, 2**26, 2**26 / (2e10 * scale))
        return writer, scale

    def layers(self, precision, batch, speed, reads):
        """Layers of one step with times drawn around what made roofs allow."""
        size, layers, kinds = SIZES[precision], [], ["convolution", "relu", "batch_norm", "linear", "max_pool", "gelu", "concat", "layer_norm", "attention", "rms_norm"]
        names = [(f"{kind}{at}", kind) for at, kind in enumerate(["convolution", *self.random.choices(kinds, k=self.random.randint(2, 6)), "linear"])]
        shapes = {name: (self.random.randint(10, 400) * 1000, self.random.randint(4, 300) * 1000, self.random.randint(1, 900) * 100000) for name, _ in names}

        def layer(name, kind, phase, products, elements, weights):
            dense = kind in ("convolution", "linear")
            flops = 2 * products * batch if dense else elements * batch
            if phase == "update":
                flops, low, high, read, written = 6 * weights, 20 * weights, 20 * weights, 12 * weights, 8 * weights
            else:
                read, written = size * elements * batch + (size * weights if dense else 0), size * elements * batch
                low = read + written
                high = 2 * products * batch * size + written if dense else low
                high = max(high, low)
            executed = int(flops * self.random.uniform(0.8, 1.0)) if dense and phase != "update" and self.chance(0.4) else flops if dense and phase != "update" else 0
            least = max((executed or flops) / (5e10 * speed * (4 if precision == "bf16" else 1)), low / (1e10 * speed))
            time = least / min(1.3, max(0.02, self.random.choice([self.random.gauss(0.75, 0.12), self.random.uniform(0.05, 1.25)])))
            spread = self.random.uniform(0.005, 0.08)
            unknown = self.chance(self.unknown_bytes)
            cells = {"layer": name, "kind": kind, "phase": phase, "time_median_s": time, "time_low_s": time * (1 - spread), "time_high_s": time * (1 + spread),
                     "samples": 9, "flops": flops, "executed_flops": executed, "compulsory_bytes": None if unknown else low,
                     "no_reuse_bytes": None if unknown else high, "work_known": "analytic", "implementation": self.random.choice(["made", "jit:avx2", "roof:direct:avx2", "winograd"])}
            if reads and not unknown:
                cells |= {"read_bytes": read, "written_bytes": written}
            if dense and phase != "update" and not unknown and self.chance(0.4):
                cells["refetched_bytes"] = " ".join(f"{self.random.choice((3e4, 4e5, 1e7))}:{low * self.random.uniform(0.1, 20)}" for _ in range(3))
            return cells

        for name, kind in names:
            elements, weights, products = shapes[name]
            layers.append(layer(name, kind, "forward", products, elements, weights))
        for name, kind in reversed(names):
            elements, weights, products = shapes[name]
            layers.append(layer(name, kind, "backward", 2 * products if name != names[0][0] else products, 2 * elements, weights))
        for name, kind in reversed(names):
            elements, weights, products = shapes[name]
            if kind in ("convolution", "linear"):
                layers.append(layer(name, kind, "update", products, elements, weights))
        return layers

    def step(self, writer, device, axes, scale, reads):
        ranks = int(axes.get("ranks") or 1)
        images = axes["batch"] * (ranks if axes.get("scaling") != "strong" else 1)
        speed = scale * ((10 * device.count(":") * (1 + device.count(","))) if device != "cpu" else axes["threads"] ** 0.8)
        layers = self.layers(axes["precision"], images, speed, reads)
        totals = {phase: sum(layer["time_median_s"] for layer in layers if layer["phase"] == phase) for phase in ("forward", "backward", "update")}
        gap = self.random.uniform(0.01, 0.12)
        exposed = self.random.uniform(0, 0.3) * totals["backward"] if ranks > 1 else 0
        count = self.random.choice([2, 3, 5, 7, 9, 12])
        wait = self.random.choice([0, 0, 1e-6, 0.2]) * sum(totals.values())
        samples = []
        for number in range(count + 1):
            noise = 1 + abs(self.random.gauss(0, 0.02))
            phases = {f"{phase}_s": seconds * (1 + gap) * noise for phase, seconds in totals.items()}
            samples.append({**phases, "launch_s": sum(phases.values()) * (1 + gap / 4) + exposed * noise, "data_s": wait * noise, "loss": 6.9 / (1 + number),
                            "exposed_s": exposed * noise, "hidden_s": exposed * 0.7 * noise, "messages_bytes": 2500000 if ranks > 1 else 0,
                            "used": int(number > 0)})
        used, cells = samples[1:], {}
        if self.chance(0.6):
            busy = self.random.choice([0, 0.5, 1])
            for sample in samples:
                sample["waited_share"] = self.random.uniform(0.05, 0.6) if self.chance(busy) else 0.001
                sample["others_processors"] = self.random.uniform(0, 0.3)
            for name in ("waited_share", "others_processors"):
                cells[name] = sum(sample[name] * sample["launch_s"] for sample in used) / sum(sample["launch_s"] for sample in used)
            cells["stolen_processors"] = self.random.choice([None, 0, 0.3])
        for name in TIMES:
            cells[f"{name}_median_s"], cells[f"{name}_low_s"], cells[f"{name}_high_s"] = interval([sample[f"{name}_s"] for sample in used])
        dense = [layer for layer in layers if layer["kind"] in ("convolution", "linear") and layer["phase"] != "update"]
        sums = {name: sum(layer.get(name) or 0 for layer in layers) for name in ("compulsory_bytes", "no_reuse_bytes", "read_bytes", "written_bytes")}
        cells |= sums | {"flops": sum(layer["flops"] for layer in dense), "executed_flops": sum(layer["executed_flops"] for layer in dense),
                         "work_known": "analytic", "memory_bytes": self.random.randint(10**8, 10**10), "samples": count, "discarded": 0,
                         "started_utc": "2026-01-02T00:00:00Z", "description": STEP, "messages_bytes": 2500000 if ranks > 1 else 0}
        status = self.random.choice(["ok"] * 9 + ["failed", "out_of_memory", "diverged", "unsupported"])
        if status != "ok":
            writer.add("train", "step", device, axes, {"status": status, "reason": f"made to be {status}", "work_known": "analytic", "description": "One made training step."})
            return False
        writer.add("train", "step", device, axes, {"status": "ok", **cells}, samples, layers)
        return True

    def run(self, devices, thread_counts, scale):
        writer = Writer()
        reads = self.chance(0.6)
        self.unknown_bytes = self.random.choice([0, 0, 0, 0.15])
        batches = sorted(self.random.sample([1, 2, 4, 8, 16, 32, 64], self.random.randint(1, 3)))
        precisions = ["fp32"] if self.chance(0.6) else ["fp32", "bf16"]
        data = ["synthetic"] if self.chance(0.7) else ["synthetic", "made-images"]
        models = self.random.sample(["netA", "netB", "netC"], self.random.choice([1, 1, 2]))
        ranked = self.random.choice([[1], [1], [1, 2], [1, 2, 4], [1, 3, 8]])
        scaling = self.random.choice(["weak", "strong"])
        optimizers = random.Random(f"optimizers {self.seed}").choice([["sgd"], ["adamw"], ["sgd", "adamw"]])
        inputs = random.Random(f"tokens {self.seed}").choice([[{}], [{}], [{"tokens": 128}], [{"tokens": 128}, {"tokens": 512}],
                                                              [{"tokens": 256, "phase": "train"}, {"tokens": 256, "phase": "decode"}]])
        targets = [("cpu", threads) for threads in (thread_counts if self.chance(0.4) else thread_counts[-1:])]
        targets += [(device, None) for device in devices if device == "gpu:0"]
        if "gpu:1" in devices:
            targets.append(("gpu:0,1", None))
        for model in models:
            for device, threads in targets:
                for precision in precisions:
                    for source in data if device == "cpu" else data[:1]:
                        for ranks in (ranked if device == "cpu" else [2 if "," in device else 1]):
                            for batch, optimizer, of_tokens in itertools.product(batches, optimizers, inputs):
                                if scaling == "strong" and batch % ranks:
                                    continue
                                axes = {"model": model, "batch": batch, "precision": precision, "algorithm": "direct", "data": source, "parameters": "random",
                                        "lr": 0.01, "threads": threads}
                                if optimizers != ["sgd"]:
                                    axes["optimizer"] = optimizer
                                axes |= of_tokens
                                if ranks > 1:
                                    axes |= {"ranks": ranks, "scaling": scaling, "communication": self.random.choice(["overlapped", "serial"]), "bucket_mb": 25,
                                             "batch_norm": "local"}
                                self.step(writer, device, axes, scale, reads)
        return writer

    def recorded(self, run, number):
        """Recorded files of some of the steps."""
        own = random.Random(f"recorded {self.seed} {number}")
        records = Records(own)
        if own.random() < 0.4:
            for row, _, layers in run.rows:
                if row["status"] == "ok" and own.random() < (0.8 if row["device"] != "cpu" else 0.2):
                    records.of(row, layers)
        return list(records.texts())

    def lasting(self, number, run, devices, thread_counts):
        """Joules of some steps, some phases of them unknown, and probes repeated for seconds (docs/method.md, What lasts, and joules)."""
        own = random.Random(f"sustained {self.seed} {number}")
        def around(value):
            return value, value * own.uniform(0.9, 1), value * own.uniform(1, 1.1)
        def cells(name, unit, value):
            return dict(zip((f"{name}_{part}_{unit}" for part in ("median", "low", "high")), around(value)))
        def watts():
            return {"sustained_clock_hz": 2.1e9, "instant_power_w": own.choice([None, own.uniform(90, 400)]), "power_limit_w": own.choice([None, 500])}
        for row, _, _ in run.rows:
            if row["status"] == "ok" and not row.get("ranks") and own.random() < 0.6:
                total = own.uniform(0.5, 50)
                row |= cells("sustained", "s", row["launch_median_s"] * 1.1) | watts()
                for name, share in zip(JOULES, (1, 0.3, 0.6, 0.1)):
                    if own.random() < 0.8 and (name == "energy" or "energy_median_j" in row):
                        row |= cells(name, "j", total * share)
        probes = Writer()
        for device in devices:
            for threads in [None] if device != "cpu" else thread_counts:
                points = [("flops", {"operation": "fma", "precision": precision}) for precision in ("fp32", "bf16") if own.random() < 0.8]
                points += [("bandwidth", {"operation": own.choice(["load", "copy"]), "working_set_bytes": size}) for size in (2**20, 2**26)]
                for bench, axes in points:
                    work = {"flops" if bench == "flops" else "compulsory_bytes": own.randint(10**6, 10**9)}
                    joules = cells("energy", "j", own.uniform(1e-4, 1e-1)) if own.random() < 0.9 else {}
                    probes.add(bench, "compute" if bench == "flops" else "bandwidth", device, {**axes, "isa": "made", "threads": threads},
                               {"status": "ok", **work, **cells("launch", "s", 1e-3), "samples": 0, "discarded": 0, **cells("sustained", "s", 1.2e-3), **watts(), **joules,
                                "work_known": "analytic", "started_utc": "2026-01-01T00:00:00Z", "description": "Made."})
        return probes

    def earlier(self, run):
        """The same points, each with other times and wider intervals: of scaled ones both ends of a ratio are as far away."""
        writer, own = Writer(), random.Random(f"earlier {self.seed}")
        for row, samples, layers in run.rows:
            factor = own.choice([1, own.uniform(0.5, 2)])
            wider = own.uniform(0.9, 1)
            scaled = lambda cells: {name: value * factor * (wider if name.endswith("_low_s") else 1) if value and name.endswith("_s") else value
                                    for name, value in cells.items()}
            writer.rows.append((scaled(row), [scaled(sample) for sample in samples], [scaled(layer) for layer in layers]))
        return writer

    def write(self, parent):
        """The run folders of the case; a calibration stands beside each."""
        runs = []
        for number in range(self.random.choice([1, 1, 1, 2])):
            devices = self.random.choice([["cpu"], ["cpu"], ["cpu", "gpu:0"], ["cpu", "gpu:0", "gpu:1"]])
            thread_counts = self.random.choice([[1, 2], [1, 4], [2]])
            name = f"made-{self.seed}-{number}"
            machine = self.machine(name, devices, thread_counts[-1])
            calibration, scale = self.calibration(devices, thread_counts)
            if random.Random(f"uncalibrated {self.seed} {number}").random() < 0.4:
                calibration.rows = [row for row in calibration.rows if row[0]["device"] != "gpu:1"]
            run = self.run(devices, thread_counts, scale)
            plan = {"name": "made", "run": [{"bench": "train"}]}
            self.lasting(number, run, devices, thread_counts).write(parent / name / f"2026-01-01T12000{number}Z-made", machine,
                                                                    {"measure": {"sustain_seconds": 6}, "run": [{"bench": "flops"}]})
            calibration.write(parent / name / f"2026-01-01T00000{number}Z-made", machine, {"name": "calibrate", "run": [{"bench": "bandwidth"}]})
            fine = [at for at, (row, _, _) in enumerate(run.rows) if row["status"] == "ok"]
            damage = [self.random.choice(fine)] if len(fine) > 1 and self.chance(0.2) else []
            folder = parent / name / f"2026-01-02T00000{number}Z-made"
            run.write(folder, machine, plan, damage, self.recorded(run, number))
            runs.append(folder)
            if number == 0:
                self.earlier(run).write(parent / "before" / f"2025-12-31T000000Z-{self.seed}", machine, plan)
        return runs
