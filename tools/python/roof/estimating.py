"""`estimate`: the cost of a step of any model of PyTorch, from shapes alone, and the time that the roofs of machines
allow it."""

import json
import logging
import tempfile
import warnings
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Union

from roof import folder as results
from roof.attention import implementation_of, within_transformers
from roof.configs import Loaded, cache_of, call_of, load, refuse, sentence
from roof.program import run
from roof.recorder import batch_of, precision_of
from roof.recording import remarks_on
from roof.shapes import Counted, Counts, fake_copy, floating_in, storage_bytes
from roof.steps import FORWARD
from roof.texts import InputError
from roof.work import Work

BENCH = "estimate"
PHASES = ("train", "forward", "prefill", "decode")
PRODUCTS = ("convolution", "linear", "attention", "product")  #: kinds of layers that recorded.cpp knows as products
SIZES = {"fp64": 8, "fp32": 4, "tf32": 4, "bf16": 2, "fp16": 2}  #: bytes of a value
Point = Dict[str, str]


class Estimated:
    """What a step costs. FLOPs: of products, forward and backward; bytes: of all operators, each operand moved once."""

    def __init__(self, point: Point, counts: Counted, remarks: List[str], on: Sequence[str]) -> None:
        self.point, self.counts, self._on = point, counts, list(on)
        sums = Work.sum(counts.work.values())
        self.parameters: int = sum(counts.parameters.values())
        self.flops: int = round(sums.contraction_flops)
        self.forward_flops: int = round(sum(work.contraction_flops for (phase, *_), work in counts.work.items()
                                            if phase == FORWARD))
        #: Without the pairs of attention that masks leave out.
        self.executed_flops: int = round(sums.contraction_flops - sums.masked)
        self.remarks = remarks + remarks_on(sums)
        if counts.left_out:
            self.remarks.append("left out, since the inputs do not reach it: "
                                + ", ".join(f"{layer} ({number} parameters)"
                                            for layer, number in counts.left_out.items()))

    def write(self, place: Union[str, Path]) -> Path:
        """A results folder with one row that is analytic and has no time."""
        row: results.Row = {"id": results.identity(BENCH, "cpu", self.point), "bench": BENCH, "role": "step",
                            "device": "cpu", **self.point, "status": "ok", "flops": self.flops,
                            "work_known": "analytic", "remarks": "; ".join(self.remarks)}
        size = SIZES[self.point["precision"]]
        held = [(layer, "parameters", number * size) for layer, number in self.counts.parameters.items()]
        held += [("", what, number) for what, number in self.memory().items()]
        cells = [(row["id"], layer, what, "allocate", round(number)) for layer, what, number in held]
        folder = results.require_free(place, False)
        results.put(folder, results.as_yaml({"name": BENCH}), {"name": "none", "devices": []},
                    [(row, [], self.layers())], [("memory.csv", ("id", "layer", "phase", "action", "bytes"), cells)])
        return folder

    def memory(self) -> Dict[str, float]:
        """Bytes by what they hold, as analysis/estimate/estimate.hpp has them."""
        counts = self.counts
        return {"weights": counts.stored, "inputs": counts.inputs, "activations": counts.kept, "caches": counts.caches,
                "train": counts.working, "forward": counts.forward_working,
                "inference": counts.working if self.point["phase"] in ("prefill", "decode") else counts.largest}

    def layers(self) -> List[results.Row]:
        """A row for the products of each layer and phase, and one for all else that it does."""
        rows: List[results.Row] = []
        for (phase, layer, kind), work in sorted(self.counts.work.items(), key=lambda item: item[0][0] != FORWARD):
            name = kind or self.counts.kinds.get(layer, "")
            extents = "x".join(map(str, self.counts.outputs.get(layer, []))) if kind else ""
            if work.compulsory or work.flops or work.uncounted:
                rows.append({"layer": layer, "kind": name if kind or name not in PRODUCTS else f"{name}, other",
                             "phase": phase, "flops": round(work.flops),
                             "executed_flops": round(work.flops - work.masked) if work.masked else "",
                             "compulsory_bytes": round(work.compulsory), "no_reuse_bytes": round(work.no_reuse),
                             "work_known": "analytic",
                             "implementation": "FLOPs unknown" if work.uncounted else extents})
        return rows

    def document(self, *options: str) -> Any:
        """As `roof estimate --json` has it, with `machines` for those of `on`. Raises NotFound without the program."""
        return json.loads(self._shown("--json", *options))

    def __str__(self) -> str:
        return self._shown()

    def _shown(self, *options: str) -> str:
        with tempfile.TemporaryDirectory() as place:
            return run("estimate", "--from", str(self.write(place)),
                       *(["--on", ",".join(self._on)] if self._on else []), *options)


def estimate(model: Any, inputs: Any = None, *, on: Sequence[str] = (), phase: str = "train",
             batch: Optional[int] = None, tokens: Optional[int] = None, precision: Optional[str] = None,
             optimizer: Optional[str] = None, name: Optional[str] = None) -> Estimated:
    """Counts a step of a model on shapes alone: nothing is computed, and no memory is taken for it.

    model: a module, on any device, `meta` too, of which nothing changes; or the path of a config.json of transformers.
    inputs: of a module, a tensor, a tuple of arguments or a dictionary of them; only their shapes and types are read.
    on: machines as `roof estimate --on` takes them; phase: train, forward, prefill or decode; batch, tokens, precision:
    of a config.json [1, 1,024, fp32]; optimizer: sgd or adamw [adamw where there are tokens].
    Raises InputError where the model cannot run on shapes alone, with what stopped it.
    """
    if phase not in PHASES:
        raise InputError(f"phase '{phase}': it is none of {', '.join(PHASES)}")
    if isinstance(model, (str, Path)):
        loaded = load(Path(model), batch or 1, tokens, precision or "fp32")
    else:
        loaded = Loaded(type(model).__name__)
        loaded.model, loaded.call = fake_copy(model, loaded.mode), fake_copy(inputs, loaded.mode)
        if hasattr(model, "set_attn_implementation"):
            with within_transformers():
                loaded.model.set_attn_implementation(implementation_of(type(model)))
        precision, batch = precision or precision_of(loaded.model), batch or batch_of([inputs])
        ids = loaded.call.get("input_ids") if isinstance(loaded.call, dict) else None
        loaded.tokens = int(ids.shape[-1]) if ids is not None else 0
    counts = run_on_shapes(loaded, phase)
    point = {"model": name or loaded.name, "batch": str(batch or 1), "precision": precision or "fp32",
             "optimizer": optimizer or ("adamw" if loaded.tokens else "sgd"), "tokens": str(loaded.tokens or ""),
             "phase": phase}
    return Estimated(point, counts, loaded.remarks, on)


def run_on_shapes(loaded: Loaded, phase: str) -> Counts:
    logging.disable(logging.CRITICAL)  # PyTorch logs what it raises, and transformers advice
    try:
        with warnings.catch_warnings(), within_transformers(), loaded.mode:
            warnings.simplefilter("ignore")
            counts = Counts(loaded.model)
            out = counts.run(lambda: call_of(loaded.model, loaded.call, phase), phase == "train",
                             phase in ("train", "forward"))
            if phase in ("prefill", "decode"):
                cache = cache_of(out)
                if cache is None:
                    refuse(loaded.model, phase)
                counts.caches = float(sum(storage_bytes(list(floating_in(cache))).values()))
                counts.working = max(0.0, counts.working - counts.caches)  # which this step makes, or makes anew
            return counts
    except InputError:
        raise
    except Exception as error:  # whatever a model raises on shapes alone
        raise InputError(f"{loaded.name} does not run on shapes alone: {sentence(error)}") from None
    finally:
        logging.disable(logging.NOTSET)
