import importlib.util
import math
import unittest

from roof.work import Work, convolution, convolution_backward, max_pool, moved, norm, pairs_kept, positions_read, work_of

HAS_TORCH = importlib.util.find_spec("torch") is not None
if HAS_TORCH:
    import torch
    from torch.utils.flop_counter import flop_registry

    from roof.counting import counting_mode


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


class Shapes(unittest.TestCase):
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

    def test_a_mask_keeps_the_pairs_of_its_band(self):
        self.assertEqual(4 * 6, pairs_kept(4, 6, None, None, 0))
        self.assertEqual(1 + 2 + 3 + 4, pairs_kept(4, 6, None, 0, 0))
        self.assertEqual(1 + 2 + 2 + 2, pairs_kept(4, 2, None, 0, 0))
        self.assertEqual(3 + 4 + 5 + 6, pairs_kept(4, 6, None, 0, 2))
        self.assertEqual(1 + 2 + 2 + 2, pairs_kept(4, 4, 1, 0, 0))
        self.assertEqual(2 + 3 + 3 + 2, pairs_kept(4, 4, 1, 1, 0))
        self.assertEqual(0 + 0 + 1 + 2, pairs_kept(4, 2, None, 0, -2))

    def test_work_adds_up_with_the_names_of_what_was_not_counted(self):
        total = Work(flops=1, masked=2, uncounted={"a"})
        total += Work(flops=10, masked=20, uncounted={"b"})
        self.assertEqual((11, 22, {"a", "b"}), (total.flops, total.masked, total.uncounted))

    @staticmethod
    def pair(work):
        return work.flops, work.compulsory


@unittest.skipUnless(HAS_TORCH, "PyTorch is not installed")
class Operators(unittest.TestCase):
    """The count of all pairs against torch.utils.flop_counter, the executed one by hand."""

    @staticmethod
    def tensor(*shape):
        return torch.empty(shape, device="meta")

    def test_a_conversion_moves_its_operands_and_is_counted(self):
        x, y = torch.empty(6, 8, device="meta"), torch.empty(6, 8, device="meta", dtype=torch.bfloat16)
        work = work_of(torch.ops.prims.convert_element_type.default, [x, torch.bfloat16], {}, y, False)
        self.assertEqual((set(), 0.0, 48 * (4 + 2)), (work.uncounted, work.flops, work.compulsory))

    def attention(self, name, arguments, pairs, kept):
        """Of 2 sequences, 8 heads of queries and 2 of keys and values; widths 16 and 32. `pairs` of a sequence and head."""
        operator = getattr(torch.ops.aten, name).default
        q, out = self.tensor(2, 8, 6, 16), self.tensor(2, 8, 6, 32)
        kv = (self.tensor(2, 2, 6, 16), self.tensor(2, 2, 6, 32))
        is_backward = name.endswith("_backward")
        args = ((out, q, *kv) if is_backward else (q, *kv)) + arguments
        work = work_of(operator, args, {}, (q, *kv) if is_backward else (out,), is_backward)
        per_pair = 2 * (3 * 16 + 2 * 32 if is_backward else 16 + 32)
        self.assertEqual(2 * 8 * pairs * per_pair, work.flops)
        self.assertEqual(2 * 8 * (pairs - kept) * per_pair, work.masked)
        self.assertEqual(2 * 8 * kept * 2 * 16 if is_backward else 0, work.again)
        maps = 4 * 2 * 6 * (8 * 16 + 2 * 16 + 2 * 32 + 8 * 32)  # queries, keys, values and results; and all again, with their gradients
        if name.startswith("_scaled_dot_product_flash_attention_for_cpu"):
            self.assertEqual(maps * (2 if is_backward else 1), work.compulsory)
        if operator._overloadpacket in flop_registry:
            self.assertEqual(flop_registry[operator._overloadpacket](*args, out_val=out), work.flops)
        return work

    def test_every_kernel_of_attention_counts_what_its_causal_mask_keeps(self):
        t, all_pairs, causal = self.tensor(1), 36, 1 + 2 + 3 + 4 + 5 + 6
        for is_causal, kept in ((False, all_pairs), (True, causal)):
            self.attention("_scaled_dot_product_flash_attention_for_cpu", (0.0, is_causal), all_pairs, kept)
            self.attention("_scaled_dot_product_flash_attention_for_cpu_backward", (self.tensor(2, 8, 6, 32), t, 0.0, is_causal), all_pairs, kept)
            self.attention("_scaled_dot_product_flash_attention", (0.0, is_causal), all_pairs, kept)
            self.attention("_scaled_dot_product_flash_attention_backward", (t, t, None, None, 6, 6, 0.0, is_causal, t, t), all_pairs, kept)
            self.attention("_scaled_dot_product_efficient_attention", (None, True, 0.0, is_causal), all_pairs, kept)
            self.attention("_scaled_dot_product_efficient_attention_backward", (None, t, t, t, t, 0.0, [True] * 3 + [False], is_causal), all_pairs,
                           kept)
            self.attention("_scaled_dot_product_cudnn_attention", (None, True, 0.0, is_causal), all_pairs, kept)
            self.attention("_scaled_dot_product_cudnn_attention_backward", (t, t, t, t, None, None, None, 6, 6, 0.0, is_causal), all_pairs, kept)

    def test_a_mask_of_values_counts_all_pairs_and_says_so(self):
        mask = self.tensor(6, 6)
        work = self.attention("_scaled_dot_product_efficient_attention", (mask, True), 36, 36)
        self.assertEqual(work.flops, work.unread_mask)
        self.assertEqual(4 * (2 * 8 * 6 * 16 + 2 * 2 * 6 * 48 + 2 * 8 * 6 * 32 + 36), work.compulsory)

    def test_windows_and_sequences_of_several_lengths(self):
        flash = torch.ops.aten._flash_attention_forward.default
        q, kv = self.tensor(2, 6, 8, 16), self.tensor(2, 9, 2, 16)  # tokens before heads; the last query sees the last key
        work = work_of(flash, (q, kv, kv, None, None, 6, 9, 0.0, True, False), {"window_size_left": 3}, (q,), False)
        self.assertEqual(2 * 8 * 2 * 32 * 6 * 9, work.flops)
        self.assertEqual(2 * 8 * 2 * 32 * 6 * 4, work.flops - work.masked)
        begins = torch.tensor([0, 2, 7])
        packed = self.tensor(7, 8, 16)
        work = work_of(flash, (packed, packed, packed, begins, begins, 5, 5, 0.0, True, False), {}, (packed,), False)
        self.assertEqual(8 * 2 * 32 * (4 + 25), work.flops)
        self.assertEqual(8 * 2 * 32 * (1 + 2 + 1 + 2 + 3 + 4 + 5), work.flops - work.masked)
        efficient = torch.ops.aten._efficient_attention_forward.default
        rows = self.tensor(2, 6, 8, 16)
        work = work_of(efficient, (rows, rows, rows, None, None, None, 6, 6, 0.0, 1), {"window_size": 2}, (rows,), False)
        self.assertEqual(2 * 8 * 2 * 32 * (1 + 5 * 2), work.flops - work.masked)

    def test_sparse_products_count_their_nonzeros_forward_and_backward(self):
        for layout in (torch.sparse_coo, torch.sparse_csr):
            left, right = torch.eye(128).to_sparse(layout=layout), torch.ones(128, 64, requires_grad=True)
            part = ["forward", "product"]
            mode = counting_mode(lambda: tuple(part))
            with mode:
                product = torch.sparse.mm(left, right)
                part[0] = "sum"
                total = product.sum()
                part[0] = "backward"
                total.backward()
            with self.subTest(layout):
                self.assertEqual(2 * 128 * 64, mode.work[("forward", "product")].contraction_flops)
                self.assertEqual(2 * 128 * 64, mode.work[("backward", "product")].contraction_flops)

    @staticmethod
    def counted(compute):
        mode = counting_mode(lambda: ("forward", "one"))
        with mode:
            compute()
        return mode.work[("forward", "one")]

    def test_products_that_pytorchs_counter_lacks_have_two_flops_per_multiply_add(self):
        matrix, vector, bias = torch.ones(6, 8), torch.ones(8), torch.ones(6)
        cases = ((lambda: matrix @ vector, 6 * 8, 4 * (48 + 8 + 6)), (lambda: torch.addmv(bias, matrix, vector), 6 * 8, 4 * (6 + 48 + 8 + 6)))
        for compute, multiply_adds, bytes_moved in cases:
            work = self.counted(compute)
            self.assertEqual((2 * multiply_adds, 2 * multiply_adds, bytes_moved), (work.flops, work.contraction_flops, work.compulsory))
        parts = torch.ones(5, 4), torch.ones(3, 5, 7), torch.ones(3, 7, 4)
        self.assertEqual(2 * 3 * 5 * 7 * 4, work_of(torch.ops.aten.addbmm.default, parts, {}, parts[0], False).flops)
        for name, factors, flops in (("addmm_", (torch.ones(6, 3), torch.ones(3, 4)), 144), ("addmv_", (torch.ones(6, 3), torch.ones(3)), 36),
                                     ("baddbmm_", parts[1:], 840), ("addbmm_", parts[1:], 840)):
            shape = {"addmm_": (6, 4), "addmv_": (6,), "baddbmm_": (3, 5, 4), "addbmm_": (5, 4)}[name]
            work = self.counted(lambda: getattr(torch.ones(shape), name)(*factors))
            self.assertEqual(flops, work.contraction_flops, name)

    def test_a_product_in_groups_meets_each_row_with_the_matrix_of_its_group_alone(self):
        grouped = torch.ops.aten._grouped_mm.default if hasattr(torch.ops.aten, "_grouped_mm") else self.skipTest("no such operator")
        rows, experts, both = self.tensor(32, 64), self.tensor(2, 64, 16), self.tensor(2, 32, 64)
        once = 2 * 32 * 64 * 16
        self.assertEqual(once, work_of(grouped, (rows, experts), {}, self.tensor(32, 16), False).flops)
        self.assertEqual(2 * once, work_of(grouped, (both, experts), {}, self.tensor(2, 32, 16), False).flops)
        self.assertEqual(once, work_of(grouped, (both, self.tensor(64, 16)), {}, self.tensor(32, 16), False).flops)
        self.assertEqual(once, work_of(grouped, (rows, self.tensor(64, 16)), {}, self.tensor(2, 32, 16), False).flops)

    def test_what_does_not_follow_from_elements_is_named_and_has_its_bytes_alone(self):
        matrix, weight = torch.eye(16) + torch.ones(16, 16), torch.ones(4, 16, 16)
        complex_ = torch.complex(matrix, matrix)
        for compute, name, values in ((lambda: torch.linalg.cholesky(matrix @ matrix.T), "aten.linalg_cholesky_ex", 5 * 256),
                                      (lambda: torch.nn.functional.bilinear(matrix, matrix, weight), "aten._trilinear", 6 * 256 + 64),
                                      (lambda: torch.fft.fft(complex_), "aten._fft_c2c", 4 * 256)):
            work = self.counted(compute)
            self.assertEqual((work.contraction_flops, {name}), (work.flops, work.uncounted))
            self.assertAlmostEqual(4 * values, work.compulsory, delta=4)  # and a flag
        norm = self.counted(lambda: torch.linalg.vector_norm(matrix))
        self.assertEqual((256, set()), (norm.flops, norm.uncounted))
        nested = torch.nested.nested_tensor([matrix, matrix[:3]], layout=torch.jagged)  # whose extents are no numbers
        self.assertIn("aten.linear.default", self.counted(lambda: torch.nn.functional.linear(nested, matrix)).uncounted)

    def test_an_operator_of_another_library_is_named(self):
        with torch.library._scoped_library("roof_test", "DEF") as library:
            library.define("double(Tensor x) -> Tensor")
            work = work_of(torch.ops.roof_test.double.default, (self.tensor(2),), {}, self.tensor(2), False)
        self.assertEqual((0, {"roof_test.double"}), (work.flops, work.uncounted))
        enter = torch.ops.profiler._record_function_enter_new.default
        self.assertEqual(set(), work_of(enter, ("name",), {}, None, False).uncounted)


if __name__ == "__main__":
    unittest.main()
