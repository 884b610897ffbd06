"""The tables of what lasts and of joules (docs/method.md, "What lasts, and joules")."""

from reading import Folder, number


def probes_repeated(study):
    """Probes repeated for what lasts: the folder's, or of the newest folder beside it of the same machine by a plan that asks for it."""
    def probes(folder):
        return [row for row in folder.rows if row["role"] in ("compute", "bandwidth") and number(row["sustained_median_s"])]
    if probes(study.folder):
        return probes(study.folder)
    for path in sorted(study.folder.path.parent.iterdir(), reverse=True):
        plan = path / "plan.yaml"
        if plan.exists() and "sustain_seconds:" in plan.read_text(encoding="utf-8"):
            folder = Folder(path)
            if folder.machine["name"] == study.folder.machine["name"] and probes(folder):
                return probes(folder)
    return []


def over(amount, row, name, unit):
    """An amount over a time or an energy: the high end gives the low one."""
    values = [number(row[f"{name}_{part}_{unit}"]) for part in ("median", "high", "low")]
    return [amount / value for value in values] if all(values) else (None,) * 3


def work(row):
    return float(row["flops"] if row["role"] == "compute" else row["compulsory_bytes"])


def sustained(studies):
    for study in studies:
        for row in probes_repeated(study):
            yield study, row, {
                "place": f"{row['device']}, {row.threads} thread{'s' * (row.threads != 1)}" if row["device"] == "cpu" else row["device"], "operation": row["operation"],
                "isa": row["isa"], "bench": row["bench"], "burst": over(work(row), row, "launch", "s"), "lasting": over(work(row), row, "sustained", "s"),
                "of_burst": number(row["launch_median_s"]) / number(row["sustained_median_s"]), "clock": number(row["sustained_clock_hz"]),
                "watts": number(row["instant_power_w"]), "limit": number(row["power_limit_w"]), "per_joule": over(work(row), row, "energy", "j"),
                "counted": "counter" if row["energy_median_j"] else ""}


def most_per_joule(study, step, role):
    """The most work per joule of the probes of the step's device and threads: in its precision, or at the largest working set."""
    rows = [row for row in probes_repeated(study) if row["role"] == role and row["device"] == step["device"]]
    largest = max((int(row["working_set_bytes"] or 0) for row in rows), default=0)
    serve = [row for row in rows if row.threads == step.threads and number(row["energy_median_j"])
             and (row["precision"] == step["precision"] and row["operation"] != "tile_fp16_sums" if role == "compute" else int(row["working_set_bytes"]) == largest)]
    return max((work(row) / number(row["energy_median_j"]) for row in serve), default=None)


def energy(studies):
    """Each step that was repeated, then its phases if its joules were counted (docs/method.md, What lasts, and joules)."""
    for study in studies:
        for row in study.folder.steps:
            total = number(row["energy_median_j"])
            if not row.ok or not number(row["sustained_median_s"]):
                continue
            flops, moved = most_per_joule(study, row, "compute"), most_per_joule(study, row, "bandwidth")
            for phase in ("step", "forward", "backward", "update") if total else ("step",):
                name = "energy" if phase == "step" else f"{phase}_energy"
                joules = [number(row[f"{name}_{part}_j"]) for part in ("median", "low", "high")]
                parts = [layer for layer in row.layers if phase in ("step", layer["phase"])]
                least = sum(max((number(part["executed_flops"]) or number(part["flops"]) or 0) / flops, (number(part["compulsory_bytes"]) or 0) / moved)
                            for part in parts) if flops and moved else None
                yield study, row, {
                    "phase": phase, "lasting": [number(row[f"sustained_{part}_s"]) if phase == "step" else None for part in ("median", "low", "high")], "joules": joules if joules[0] else (None,) * 3, "images_per_joule": over(row.images, row, name, "j") if phase == "step" else (None,) * 3,
                    "of_step": joules[0] / total if joules[0] else None, "of_roof": least / joules[0] if joules[0] and least else None,
                    "least": least or None, "watts": number(row["instant_power_w"]) if phase == "step" else None,
                    "limit": number(row["power_limit_w"]) if phase == "step" else None, "counted": "counter" if total else ""}


ENERGY_TABLES = {"energy": energy, "sustained": sustained}
