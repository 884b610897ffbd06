"""Records training steps of any PyTorch model for roof, and reads roof's results.

    with roof.record("results/mine", model):
        step()                       # forward, loss, backward, optimiser: as often as you like

`roof report results/mine` then places the step, its phases and its layers under the measured roofs of the machine.
Recording needs PyTorch; `load` and `ceilings` need pandas; `ceilings` and `calibrate` call the program `roof`.
"""

from roof.program import calibrate, ceilings
from roof.frames import Run, load
from roof.recording import Recording, profile, record

__all__ = ["Recording", "Run", "calibrate", "ceilings", "load", "profile", "record"]
__version__ = "0.1.0"
