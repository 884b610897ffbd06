"""The work of operators in traces, by arithmetic by hand, as the recorder's in tests/python/test_work.py."""

import unittest

from roof.importing.traced import work_of


def work(name, dims, types=None, values=()):
    return work_of(name, dims, types or ["float"], list(values))


def flops(name, dims, values=()):
    made = work(name, dims, values=values)
    return made and made.work.flops


class Formulas(unittest.TestCase):
    def test_products(self):
        for name, dims, expected in (("matmul", [[3, 1, 4, 5], [7, 5, 6]], 2 * 3 * 7 * 4 * 5 * 6), ("addmm", [[6], [4, 5], [5, 6]], 240),
                                     ("baddbmm", [[3, 4, 6], [3, 4, 5], [3, 5, 6]], 720), ("linear", [[2, 3, 5], [6, 5]], 360),
                                     ("_addmm_activation", [[6], [4, 5], [5, 6]], 240),
                                     ("mm", [[2, 3], [4, 5]], None), ("mv", [[4, 5], [5]], 40), ("dot", [[7], [7]], 14), ("matmul", [[5], [5]], 10),
                                     ("matmul", [[2, 4, 5], [5, 6]], 480), ("_grouped_mm", [[32, 64], [2, 64, 16]], 2 * 32 * 64 * 16),
                                     ("addmm_", [[4, 6], [4, 5], [5, 6]], 240), ("addmv_", [[4], [4, 5], [5]], 40),
                                     ("baddbmm_", [[3, 4, 6], [3, 4, 5], [3, 5, 6]], 720), ("addbmm_", [[4, 6], [3, 4, 5], [3, 5, 6]], 720),
                                     ("_scaled_mm_v2", [[4, 5], [5, 6]], 240), ("relu", [[2, 3]], None)):
            self.assertEqual(expected, flops(f"aten::{name}", dims), (name, dims))

    def test_convolutions(self):
        for name, dims, values, expected in (
            ("conv2d", [[2, 6, 9, 9], [8, 3, 3, 3], [8]], ["", "", "", "[2, 2]", "[1, 1]", "[2, 2]", "2"], 2 * 2 * 8 * 16 * 27),
            ("convolution", [[2, 6, 4, 4], [6, 5, 3, 3]], ["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "True", "[0, 0]", "1"], 2 * 2 * 6 * 16 * 45),
            ("conv2d", [[2, 6, 9, 9], [8, 3, 3, 3]], [], None),
            ("conv1d", [[2, 3, 8], [4, 3, 3]], ["", "", "", "[1]", "[0]", "[1]", "1"], 2 * 2 * 4 * 6 * 9),
            # one image, of more channels than rows, without an axis of the batch
            ("conv2d", [[64, 8, 8], [5, 64, 3, 3]], ["", "", "", "[1, 1]", "[0, 0]", "[1, 1]", "1"], 2 * 5 * 36 * 576),
            ("conv1d", [[64, 8], [5, 64, 3]], ["", "", "", "[1]", "[0]", "[1]", "1"], 2 * 5 * 6 * 192)
        ):
            self.assertEqual(expected, flops(f"aten::{name}", dims, values), (name, dims))

    def test_bytes_of_convolutions(self):
        def moved(name, dims, values):
            return work(f"aten::{name}", dims, values=values).work.compulsory / 4

        plain = ["", "", "", "[1, 1]", "[0, 0]", "[1, 1]", "False", "[0, 0]", "1"]
        image = [[2, 3, 9, 9], [5, 3, 1, 1], [5]]
        self.assertEqual(2 * 3 * 81 + 15 + 5 + 2 * 5 * 81, moved("convolution", image, plain))
        strided = [*plain[:3], "[2, 2]", *plain[4:]]  # a window of 1 x 1 reads 5 x 5 of 9 x 9 positions
        self.assertEqual(2 * 3 * 25 + 15 + 5 + 2 * 5 * 25, moved("convolution", image, strided))
        turned = [*strided[:6], "True", "[1, 1]", "2"]
        self.assertEqual(2 * 6 * 16 + 6 * 5 * 9 + 2 * 10 * 100, moved("convolution", [[2, 6, 4, 4], [6, 5, 3, 3]], turned))
        gradient = ["", "", "", "[5]", "[2, 2]", "[0, 0]", "[1, 1]", "False", "[0, 0]", "1", "[True, True, True]"]
        self.assertEqual((250 + 15 + 2 * 3 * 81) + (250 + 2 * 3 * 25 + 15 + 5),
                         moved("convolution_backward", [[2, 5, 5, 5], [2, 3, 9, 9], [5, 3, 1, 1]], gradient))

    def test_recurrent_layers(self):
        layer = [[26, 4, 156], [80, 156], [80, 20], [80], [80], [4, 20], [4, 20]]
        self.assertEqual(2 * 26 * 4 * (80 * 156 + 80 * 20), flops("aten::mkldnn_rnn_layer", layer))
        self.assertEqual(2 * 2 * 26 * 4 * (80 * 156 + 80 * 20), flops("aten::mkldnn_rnn_layer_backward", layer))
        self.assertEqual(2 * 26 * 4 * (80 * 156 + 80 * 20), flops("aten::_cudnn_rnn", [layer[0], layer[1:5]]))
        self.assertIsNone(flops("aten::_cudnn_rnn", [layer[0], []]))

    def test_attention_keeps_the_pairs_of_its_mask(self):
        forward, backward = [[2, 8, 6, 16], [2, 2, 6, 16], [2, 2, 6, 32]], [[2, 8, 6, 32], [2, 8, 6, 16], [2, 2, 6, 16], [2, 2, 6, 32]]
        once, five = 2 * 8 * 2 * (16 + 32), 2 * 8 * 2 * (3 * 16 + 2 * 32)
        for name, dims, causal, each in (("flash_attention_for_cpu", forward, 4, once), ("flash_attention", forward, 4, once),
                                         ("efficient_attention", forward, 6, once), ("cudnn_attention", forward, 6, once),
                                         ("flash_attention_for_cpu_backward", backward, 7, five), ("flash_attention_backward", backward, 11, five),
                                         ("efficient_attention_backward", backward, 11, five), ("cudnn_attention_backward", backward, 14, five)):
            for value, masked in (("True", 15 * each), ("False", 0)):
                values = [""] * 15
                values[causal] = value
                done = work(f"aten::_scaled_dot_product_{name}", dims + [[]] * 11, values=values).work
                self.assertEqual((36 * each, masked, 0), (done.flops, done.masked, done.unread_mask), name)
            self.assertEqual(36 * each, work(f"aten::_scaled_dot_product_{name}", dims).work.unread_mask)

    def test_extents_that_are_none_have_no_work(self):
        for extents in ([-1, 3], [2**50, 3], ["4", 3], [[4], 3], [None, 3], [2.5, 3]):
            self.assertIsNone(flops("aten::mm", [extents, [3, 5]]))
        self.assertIsNone(flops("aten::conv1d", [[1, 1, 2**39], [1, 1, 2]], ["", "", "", "[1]", "[0]", "[1]", "1"]))
        self.assertIsNone(flops("aten::_scaled_dot_product_flash_attention", [[1, 1, 2**39, 8]] * 3, ["", "", "", "", "True"]))

    def test_flash_attention_as_a_package_is_counted(self):
        q = [[2, 1024, 16, 64]] * 3
        values = ["", "", "", "0.", "0.125", "True", "-1", "-1", "0.", "", "False"]
        self.assertEqual(4 * 2 * 16 * 1024 * 1024 * 64, flops("flash_attn::_flash_attn_forward", q + [[]] * 8, values))
        done = work("flash_attn::_flash_attn_forward", q + [[]] * 8, values=values).work
        self.assertEqual(4 * 2 * 16 * 64 * 1024 * 1025 // 2, done.flops - done.masked)
        self.assertIsNone(flops("flash_attn::_flash_attn_varlen_forward", q, values))


if __name__ == "__main__":
    unittest.main()
