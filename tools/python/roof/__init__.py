"""The measured peaks of this machine for a call, and training steps of any PyTorch model recorded for roof.

    roof.peak("bf16"), roof.bandwidth("DRAM"), roof.mfu(flops, seconds), roof.place(flops, seconds, bytes)

    print(roof.estimate(model, inputs, on=["here", "h100"]))    # on shapes alone, nothing is computed

    with roof.record("results/mine", model):
        step()                       # forward, loss, backward, optimiser: as often as you like

    with roof.region("solve"):       # a part of any program, written to the file that ROOF_REGIONS names
        solve(x)

`roof report results/mine` then places the step, its phases and its layers under the measured roofs of the machine; `roof.report("results/mine")` shows
its answer and figure in a notebook. Recording needs PyTorch; `load`
and `ceilings` need pandas; peaks, `ceilings` and `calibrate` call the program `roof`."""

from roof.estimating import Estimated, estimate
from roof.notebook import Report, Run, load, report
from roof.peaks import Rate, Share, bandwidth, mfu, peak, place
from roof.program import calibrate, ceilings
from roof.recording import Recording, profile, record
from roof.regions import region

__all__ = ["Estimated", "Rate", "Recording", "Report", "Run", "Share", "bandwidth", "calibrate", "ceilings", "estimate", "load", "mfu", "peak",
           "place", "profile", "record", "region", "report"]
__version__ = "0.1.0"
