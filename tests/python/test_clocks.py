import unittest

from roof.steps import CpuClock, CudaClock


class FakeCuda:
    """torch.cuda with a GPU that needs 3 ms from one event to the next."""

    def __init__(self):
        self.now = 0.0
        self.waits = 0
        cuda = self

        class Event:
            def __init__(self, enable_timing):
                self.timed, self.at = enable_timing, None

            def record(self, stream):
                assert stream == "the stream of cuda:1"
                cuda.now += 3.0
                self.at = cuda.now

            def elapsed_time(self, later):
                if not (self.timed and cuda.waits):
                    raise RuntimeError("the events are not complete")
                return later.at - self.at

        self.Event = Event

    def current_stream(self, device):
        return f"the stream of {device}"

    def synchronize(self, device):
        self.waits += 1


class Clocks(unittest.TestCase):
    def test_a_gpu_is_waited_for_once_and_its_events_give_seconds(self):
        cuda = FakeCuda()
        clock = CudaClock(cuda, "cuda:1")
        times = clock.seconds([clock.stamp() for _ in range(3)])
        for expected, found in zip((0.0, 0.003, 0.006), times):
            self.assertAlmostEqual(expected, found)
        self.assertEqual(1, cuda.waits)

    def test_the_clock_of_a_cpu_gives_seconds_since_the_first_stamp(self):
        self.assertEqual([0.0, 2.0], CpuClock().seconds([1_000_000_000, 3_000_000_000]))


if __name__ == "__main__":
    unittest.main()
