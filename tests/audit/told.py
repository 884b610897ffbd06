"""Names of steps as every output tells them: what differs among the steps of a folder is part of the name."""

OTHER_AXES = ("operation", "intensity", "isa", "algorithm", "parameters", "lr", "optimizer", "tokens", "phase", "placement", "pages", "cpu_node", "memory_node", "path", "size", "working_set", "graph",
              "deterministic", "communication", "bucket_mb", "batch_norm", "round")


def model(row):
    name = row["model"] or row["bench"]
    return name.removeprefix("{name: ").split(",")[0].split("}")[0] if name.startswith("{name: ") else name


def data(row):
    return row["data"].rstrip("/").rsplit("/", 1)[-1] or "-"


def scaling(row):
    return (row["scaling"] or "weak") if row.ranks > 1 else ""


def batch(row):
    if not row["batch"]:
        return "-"
    return row["batch"] + {"": "", "strong": " in all"}.get(scaling(row), " per rank")


def items(rows):
    """What a batch of these steps has, of one or of several: sequences of tokens, or inputs where some have tokens and others have not."""
    if any(row["tokens"] for row in rows):
        return "sequences" if all(row["tokens"] for row in rows) else "inputs"
    return "images" if all(row["bench"] == "train" for row in rows) else "inputs"


def threads(number):
    return f"{number} thread{'' if number == 1 else 's'}"


def counted(number, what):
    return f"{number} {what}{'' if number == 1 else 's'}"


def differing(row):
    """What may tell steps of a model and batch apart, in the order of their names."""
    yield row["precision"]
    yield row["device"]
    yield data(row) if row["data"] else ""
    yield counted(row.ranks, "rank")
    yield threads(row.threads) if row.threads else ""
    for axis in OTHER_AXES:
        yield f"{axis.replace('_', ' ')} {row[axis]}" if row[axis] else ""


def marked(studies, shown):
    """The name of each step's mark in the page, by (number of the study, id of the row). `shown`: of each study the ids that the page has."""
    rows = [(number, step.row) for number, study in enumerate(studies) for step in study.steps if step.row.id in shown[number]]
    alike = {}
    for _, row in rows:
        alike.setdefault((model(row), row["batch"]), []).append(list(differing(row)))
    names = {}
    for number, row in rows:
        words = [model(row) + (f" b{batch(row)}" if row["batch"] else "")]
        others = alike[model(row), row["batch"]]
        words += [word for at, word in enumerate(differing(row)) if word and any(other[at] != word for other in others)]
        names[number, row.id] = ", ".join(words)
    twice = [name for name in names.values() if list(names.values()).count(name) > 1]
    return {(number, identity): name + (f", {studies[number].name}" if name in twice else "") for (number, identity), name in names.items()}
