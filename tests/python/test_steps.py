import unittest

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


if __name__ == "__main__":
    unittest.main()
