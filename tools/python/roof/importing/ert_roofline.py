"""The Empirical Roofline Tool's roofline.json: its rates, in GB/s by level and GFLOP/s by label, become ceilings."""

import json
from typing import NoReturn

from roof.importing import Imported, Row
from roof.importing.counted import LARGEST, shown
from roof.importing.files import Source
from roof.texts import InputError

MOST = 1 << 20  #: characters; the tool writes some kB
#: In labels; without one it is unknown, since the default depends on the build.
PRECISIONS = {"FP64": "fp64", "FP32": "fp32", "FP16": "fp16"}
REMARK = ("Each roof is the rate of one run and has no interval; a bandwidth that is not named after a level of a "
          "cache or DRAM is a ceiling by name. The file says only in its metadata whether the device is a GPU, which "
          "`--device` names, and not on how many threads a rate was reached: tables say 1 thread.")


def reads(head: str) -> bool:
    return '"empirical"' in head and '"gbytes"' in head


def refuse(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number")


def read(source: Source) -> Imported:
    text, name = source.text(), source.name
    if len(text) > MOST:
        raise InputError(f"{name}: it is larger than 1 MiB, as no file of this tool is")
    try:
        document = json.loads(text, parse_constant=refuse)
    except json.JSONDecodeError as error:
        raise InputError(f"{name}: byte {error.pos}: it is no JSON from here on") from None
    except ValueError as error:
        raise InputError(f"{name}: {error}") from None
    empirical = document.get("empirical") if isinstance(document, dict) else None
    if not isinstance(empirical, dict):
        raise InputError(f"{name}: there is no object 'empirical'")
    device = "gpu:0" if "'ERT_GPU': ['True']" in text else "cpu"  # in the configuration that its metadata hold
    imported = Imported("Empirical Roofline Tool", remarks=[REMARK])
    for key in ("gbytes", "gflops"):
        section = empirical.get(key, {"data": []})
        pairs = section.get("data") if isinstance(section, dict) else None
        if not isinstance(pairs, list):
            raise InputError(f"{name}: {key}: expected a list 'data'")
        for pair in pairs:
            label, value = pair if isinstance(pair, list) and len(pair) == 2 else ("", False)
            if not isinstance(label, str) or type(value) not in (int, float):
                raise InputError(f"{name}: {key}: expected a pair of a name and a number, not "
                                 f"{shown(json.dumps(pair))}")
            if not 0 < value < LARGEST:
                raise InputError(f"{name}: {key}: expected a rate above 0")
            rate = value * 1e9
            if key == "gbytes":
                row = Row(device, {"path": label}, "bandwidth", compulsory=rate, no_reuse=rate)
            else:
                precision = next((known for part, known in PRECISIONS.items() if part in label), "")
                row = Row(device, {"operation": label, "precision": precision}, "compute", flops=rate)
                imported.missing += [f"precision of '{shown(label)}': its label names none"] * (not precision)
            row.times, row.known = [1.0], "measured"
            imported.rows.append(row)
    if not imported.rows:
        raise InputError(f"{name}: it holds no rate")
    return imported
