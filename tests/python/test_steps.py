import importlib.util
import tempfile
import unittest
from pathlib import Path

from roof.steps import BEFORE_OPTIMIZER, BEFORE_MODEL, LOSS, OPTIMIZER, cycles_of, steps_of

CONV, LOSSES = ("forward", "conv"), ("forward", LOSS)
BACK, GAP = ("backward", "conv"), ("backward", BEFORE_MODEL)
WAIT, UPDATE = ("update", BEFORE_OPTIMIZER), ("update", OPTIMIZER)
ONE_STEP = [CONV, LOSSES, BACK, GAP, WAIT, UPDATE, None]


def cycles(keys, begins):
    """One second from each mark to the next."""
    return cycles_of([float(i) for i in range(len(keys) + 1)], [*keys, None], begins)


class Steps(unittest.TestCase):
    def test_the_parts_of_a_step_add_up_to_it_and_the_wait_before_it_is_apart(self):
        first, second = cycles(ONE_STEP * 2, [0, 7])
        self.assertEqual((6.0, 0.0), (first.total(), first.data))
        self.assertEqual((6.0, 1.0), (second.total(), second.data))
        self.assertEqual((2.0, 2.0, 2.0), tuple(second.phase(p) for p in ("forward", "backward", "update")))

    def test_a_layer_that_runs_twice_has_the_sum(self):
        self.assertEqual(2.0, cycles([CONV, LOSSES, CONV, None], [0])[0].seconds[CONV])

    def test_without_an_optimizer_each_forward_pass_is_a_step(self):
        found, left_over = steps_of(cycles([CONV, LOSSES, BACK, WAIT] * 2, [0, 4]))
        self.assertEqual((2, 0), (len(found), left_over))
        self.assertEqual(3.0, found[1].total())  # what follows the backward pass is no update

    def test_gradients_that_are_accumulated_make_one_step(self):
        found, left_over = steps_of(cycles([CONV, LOSSES, BACK, None, *ONE_STEP, CONV, None], [0, 4, 11]))
        self.assertEqual((1, 1), (len(found), left_over))
        self.assertEqual(3.0 + 6.0, found[0].total())
        self.assertEqual(2.0, found[0].seconds[CONV])


@unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not installed")
class Passes(unittest.TestCase):
    """Of one linear layer without a bias: a pass of n rows has 64 n FLOPs forward and, as the input needs no gradient, as many back."""

    def recorded(self, step, optimizers=("SGD",)):
        import roof
        import torch

        torch.set_num_threads(1)
        model = torch.nn.Linear(8, 4, bias=False)
        updates = [getattr(torch.optim, one)(model.parameters(), 0.01) for one in optimizers]
        with tempfile.TemporaryDirectory() as place, roof.record(Path(place) / "mine", model) as recording:
            for _ in range(4):
                step(lambda rows: model(torch.ones(rows, 8)).sum())
                for one in updates:
                    one.step()
        return recording

    def test_a_step_has_passes_of_several_kinds(self):
        def with_rollout(run):
            import torch
            with torch.no_grad():
                for _ in range(6):
                    run(1)
            run(6).backward()

        self.assertEqual(64 * 6 + 2 * 64 * 6, self.recorded(with_rollout).flops)

    def test_what_many_passes_have_back_at_once_is_a_lower_bound(self):
        for passes, flops in ((3, 3 * 128 * 2), (8, 8 * 64 * 2)):
            recording = self.recorded(lambda run: sum(run(2) for _ in range(passes)).backward())
            self.assertEqual((flops, passes == 8), (recording.flops, "not counted" in "; ".join(recording.remarks)))

    def test_an_update_by_two_optimizers_moves_what_both_move(self):
        # SGD: a weight read and written, its gradient read; Adam: two moments more, read and written
        work = self.recorded(lambda run: run(2).backward(), ("Adam", "SGD")).work["update", "optimizer"]
        self.assertEqual(4 * 32 * (3 + 7), work.compulsory)


if __name__ == "__main__":
    unittest.main()
