import math
import unittest

from roof.work import convolution, convolution_backward, max_pool, moved, norm, positions_read


class Tensor:
    """Shape and element size of a contiguous tensor."""

    def __init__(self, *shape, size=4):
        self.shape, self._size = shape, size

    def stride(self):
        return [math.prod(self.shape[axis + 1:]) for axis in range(len(self.shape))]

    def element_size(self):
        return self._size

    def numel(self):
        return math.prod(self.shape)

    def dim(self):
        return len(self.shape)


class Work(unittest.TestCase):
    def test_positions_that_no_window_reads_are_not_counted(self):
        self.assertEqual(8, positions_read(8, 8, window=3, stride=1, padding=1, dilation=1))
        self.assertEqual(4, positions_read(8, 4, window=1, stride=2, padding=0, dilation=1))
        self.assertEqual(6, positions_read(8, 2, window=3, stride=1, padding=0, dilation=2))

    def test_a_convolution_counts_two_flops_per_multiply_add_over_the_full_window(self):
        x, w, b, y = Tensor(2, 3, 8, 8), Tensor(5, 3, 3, 3), Tensor(5), Tensor(2, 5, 8, 8)
        work = convolution(y, x, w, b, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)
        self.assertEqual(2 * 2 * 5 * 8 * 8 * 3 * 9, work.flops)
        self.assertEqual(4 * (384 + 135 + 5 + 640), work.compulsory)
        self.assertEqual(work.flops * 4 + 4 * (5 + 640), work.no_reuse)

    def test_a_strided_1x1_convolution_reads_a_quarter_of_its_input(self):
        x, w, y = Tensor(1, 4, 8, 8), Tensor(6, 4, 1, 1), Tensor(1, 6, 4, 4)
        work = convolution(y, x, w, None, [2, 2], [0, 0], [1, 1], False, [0, 0], 1)
        self.assertEqual(4 * (4 * 16 + 24 + 96), work.compulsory)

    def test_a_depthwise_convolution_counts_its_own_group_alone_forward_and_backward(self):
        x, w, y = Tensor(1, 8, 4, 4), Tensor(8, 1, 3, 3), Tensor(1, 8, 4, 4)
        once = 2 * 8 * 16 * 9
        self.assertEqual(once, convolution(y, x, w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 8).flops)
        back = [None, y, x, w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 8]
        self.assertEqual(2 * once, convolution_backward(*back, [True, True, False]).flops)
        self.assertEqual(once, convolution_backward(*back, [False, True, False]).flops)

    def test_norms_and_pools_have_the_counts_of_the_method(self):
        x = Tensor(2, 4, 6, 6)
        self.assertEqual((8.0 * 288, 4.0 * (2 * 288 + 8)), self.pair(norm(None, x, Tensor(4), Tensor(4), Tensor(4))))
        y = Tensor(2, 4, 3, 3)
        self.assertEqual((3.0 * 72, 4.0 * (288 + 72) + 72), self.pair(max_pool(y, x, [2, 2])))

    def test_an_expanded_tensor_has_the_elements_that_are_stored(self):
        expanded = Tensor(2, 8, 4)
        expanded.stride = lambda: [4, 0, 1]
        self.assertEqual(4.0 * 8, moved([expanded]))

    @staticmethod
    def pair(work):
        return work.flops, work.compulsory


if __name__ == "__main__":
    unittest.main()
