"""Each event of a trace gives its whole record, or nothing, and a process has what is its own."""

import json
import os
import unittest

from importing import refusal
from roof.importing import Call, Copy, Counter, Kernel, Memory
from roof.importing.kineto import Trace, extent, nanoseconds, reads, real
from traces import PRODUCT, event, kernel, launch, of_bytes, of_events, operator, steps

OF_TIMES = "FLOPs and bytes: this is a recording of times; Nsight Compute counts them"
OF_BYTES = OF_TIMES.replace("FLOPs and bytes", "bytes")
OF_SHAPES = "FLOPs are those of one step's operators that have a formula, from their shapes"
MM = [[64, 128], [128, 256]]


def values(records):
    return [type(one).values(one) for one in records]


def everything(found):
    rows = [(row.device, row.point, row.times, row.phases, row.flops, row.known, row.at_least, row.layers,
             [(type(one).__name__, *type(one).values(one)) for one in row.records]) for row in found.rows]
    return rows, found.missing, found.remarks, found.models


def memory(device_type=1, size=64, start=105):
    return {"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": start,
            "args": {"Device Type": device_type, "Device Id": 2, "Addr": 9, "Bytes": size}}


class Values(unittest.TestCase):
    def test_times_numbers_and_extents(self):
        most = 4 * 10**15
        for value, time in ((1.5, 1500), ("1690000000000041.123", 1690000000000041123), ("2e3", 2000000), ("nan", None),
                            (most, 1000 * most), (-most, -1000 * most), (f"{most}.001", None), (f"-{most}.001", None),
                            (None, None), ("soon", None)):
            self.assertEqual(time, nanoseconds(value), value)
        for value, number in ((2, 2.0), ("3.5", 3.5), (-9e299, -9e299), (1e300, None), ("nan", None), ("x", None),
                              ([], None)):
            self.assertEqual(number, real(value), value)
        self.assertEqual(["2x3", "", None, None], [extent(one) for one in ([2, 3], [], "2x3", None)])

    def test_which_texts_are_traces(self):
        long = '{"schemaVersion": 1, "of": "' + 70000 * " "
        for text, is_trace in ((' [{"ph": "X"}]', True), ('[{"pH": "X"}]', False), (' {"traceEvents": []}', True),
                               ('{"ph": "X"}', False), ('"traceEvents"', False), (" " + long[1:65536], False),
                               (long[:65536], True), (long[:65535], False), ("{" + 65535 * " ", False)):
            self.assertEqual(is_trace, reads(text), text[:30])

    def test_work_that_inductor_tells(self):
        for flops, size, work in ((8, 2e-9, (8, 2)), (8, None, (8, 0)), (None, 2e-9, (0, 2)), (0, 0, None),
                                  (-8, 2, None), ("x", None, None), (None, None, None)):
            args = {"kernel_flop": flops, "kernel_num_gb": size}
            made = Trace().work("triton_0", {key: value for key, value in args.items() if value is not None})
            self.assertEqual(work, made and (made.work.flops, made.work.compulsory), args)


class Records(unittest.TestCase):
    def row(self, *events):
        return of_events([launch(100, 7), *events]).rows[0]

    def test_a_kernel(self):
        more = {"grid": [1, 2, 3], "block": [4, 5, 6], "registers per thread": 8, "shared memory": 9,
                "graph node id": 10}
        of_2021 = {**kernel(110, 5, 7, device=1, stream=3), "cat": "Kernel"}
        for one, device, *expected in (
                (event("kernel", "k", 110, 5, device=1, stream=3, correlation=7, **more),
                 "gpu:1", 3, 7, None, None, "k", 10000, 5000, "1x2x3", "4x5x6", 8, 9, 10),
                (of_2021, "gpu:1", 3, 7, None, None, "gemm", 10000, 5000, *[None] * 5),
                ({**of_2021, "args": 3, "name": 4}, "gpu:0", *[None] * 4, "", 10000, 5000, *[None] * 5),
                (kernel(0, 0, 7), "gpu:0", 7, 7, None, None, "gemm", None, 0, *[None] * 5),
                (kernel(120, 0, 7), "gpu:0", 7, 7, None, None, "gemm", 20000, 0, *[None] * 5)):
            self.assertEqual([(device, *expected)], values(self.row(one).of(Kernel)))
        self.assertEqual([0, 100000], [one.start for one in self.row(kernel(0, 5, 7)).records])

    def test_copies(self):
        for category, name, *expected in (("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", "H2D", "pinned", "device"),
                                          ("Memcpy", "Memcpy DtoH (Device -> Pageable)", "D2H", "device", "pageable"),
                                          ("gpu_memcpy", "Memcpy PtoP (Device -> Device)", "P2P", "device", "device"),
                                          ("gpu_memcpy", "Memcpy DtoD (Device -> Device)", "D2D", "device", "device"),
                                          ("gpu_memcpy", "CopyHostToDevice", "H2D", None, None),
                                          ("gpu_memset", "Memset (Device)", "memset", None, None),
                                          ("Memset", "Memset HtoD", "memset", None, None)):
            row = self.row(event(category, name, 110, 5, device=1, stream=3, correlation=7, bytes=64))
            self.assertEqual([("gpu:1", 3, 7, None, None, *expected, 64, 10000, 5000)], values(row.of(Copy)))

    def test_memory_of_the_allocator(self):
        for one, *expected in ((memory(), ("allocate", 64)), (memory(size=-64), ("free", 64)), (memory(0),),
                               (memory(size=0), ("allocate", 0)), (memory(size="64"),), (memory(start=None),),
                               ({**memory(), "name": "memory"},)):
            self.assertEqual([("gpu:2", None, None, None, action, "pool", 9, size, 5000) for action, size in expected],
                             values(self.row(one).of(Memory)))

    def test_calls(self):
        for category, domain, tid, thread in (("cuda_driver", "driver", "main", None), ("Runtime", "runtime", 3, 3),
                                              ("cuda_runtime", "runtime", 3, 3)):
            row, = of_events([launch(100, 7, "f", category, tid=tid)]).rows
            self.assertEqual([(thread, 7, None, None, domain, "f", 0, 1000)], values(row.of(Call)))

    def test_a_step_with_everything(self):
        made = [("Kernel", "gpu:0", 7, 100, "mm 0", None, "gemm", 220000, 50000, *[None] * 5),
                ("Call", 1, 100, "mm 0", None, "runtime", "cudaLaunchKernel", 20000, 1000),
                ("Range", 1, "step", "ProfilerStep#0", 0, 900000)]
        row = "gpu:0", {"model": "x", "precision": "fp32"}, [0.0009], {}, PRODUCT, "analytic", False, [], made
        self.assertEqual(([row], [OF_BYTES], [OF_SHAPES], {"gpu:0": "A"}),
                         everything(of_events(steps(1), deviceProperties=[3, {"id": 0, "name": "A"}])))

    def test_events_that_are_nothing(self):
        whole = everything(of_events(steps()))
        for odd in (5, "a", ["ph"], None, {"ph": "X"}, {**kernel(1690000000000400, 5, 100), "ph": "i"},
                    {**event("fwdbwd", "", 1, 5), "ph": "t"}, {**kernel(1, 2, 3), "cat": [3]},
                    *(event(category, "nn", 1690000000000400, 5)
                      for category in ("gpu_user_annotation", "Trace", "fwdbwd", "python_function"))):
            self.assertEqual(whole, everything(of_events(steps() + [odd])), odd)
        for category, phase in (("ac2g", None), ("fwdbwd", "backward")):
            link = [{"ph": ph, "cat": category, "id": 1, "pid": 1, "tid": 1, "ts": 1690000000000000 + at}
                    for at, ph in ((20, "s"), (1020, "f"), (500, "t"))]
            self.assertEqual([None, phase, None], [one.phase for one in of_events(steps() + link).rows[0].of(Kernel)])
        wrong = f"left out: 1 event whose time or duration is none, first event 13, '{'n' * 100}'"
        for odd, remark in ((event("of_others", "k", 1, 1), "not read, of 'of_others': 1 event"),
                            *((kernel(*times, 7, "n" * 101), wrong)
                              for times in ((1, -1), (1, "long"), ("soon", 1), (None, 1)))):
            self.assertEqual((*whole[:2], [remark, *whole[2]], whole[3]), everything(of_events(steps() + [odd])))

    def test_operators_of_2021(self):
        now = [event("user_annotation", "step 1", 0, 900), event("user_annotation", "forward", 5, 60),
               operator("aten::mm", 10, 50, MM), operator("aten::nothing", 70, 1, [[], []]),
               event("cpu_op", "autograd::engine::evaluate_function: MmBackward0", 80, 10, **{"Input Dims": 3})]
        then = [{**one, "cat": "Operator"} for one in now]
        self.assertEqual(everything(of_events(now)), everything(of_events(then)))
        self.assertNotIn("no shapes", str(everything(of_events(then))))
        self.assertIn("no shapes", str(everything(of_events(then[3:]))))


class Processes(unittest.TestCase):
    def test_the_process_of_a_device(self):
        both, early, apart = ((1, 100, 7), (2, 50, 7)), ((1, 100, 7), (2, 0.001, 7)), ((1, 100, 7), (2, 50, 8))
        for calls, records, *expected in ((both, [kernel(100, 5, 7)], (0, 1, 7)), (both, [kernel(99, 5, 7)], (0, 2, 7)),
                                          (both, [kernel(60, 5, 7), kernel(200, 5, 7)], (0, 2, 7)),
                                          (both, [kernel(200, 5, 8)], (0, 1, 8)), (early, [kernel(0, 0, 7)], (0, 1, 7)),
                                          (both, [kernel(200, 5, 7, device=at) for at in range(3)],
                                           (0, 1, 7), (1, 2, 7), (2, 1, 7)), (both, [memory()], (2, 1, 0)),
                                          (apart, [kernel(200, 5, 7), kernel(200, 5, 8)], (0, 1, 7), (0, 2, 8)),
                                          (both, [], (0, 1, 0))):
            found = of_events([*(launch(start, of, f"of {pid}", pid=pid) for pid, start, of in calls), *records])
            self.assertEqual([(f"gpu:{device}", f"of {pid}", of) for device, pid, of in expected],
                             sorted((row.device, row.of(Call)[0].name,
                                     max([one.correlation for one in row.of(Kernel)] or [0])) for row in found.rows))
            self.assertEqual([f"left out: 1 call of process {pid}, which started nothing on a device"
                              for pid in {1, 2} - {pid for _, pid, _ in expected}], found.remarks)

    def test_processes_without_calls_or_without_a_device(self):
        mark = event("user_annotation", "of another", 1690000000000400, 5, pid=9)
        self.assertEqual(everything(of_events(steps())), everything(of_events([mark, *steps()])))
        found = of_events([launch(10, 7), operator("aten::mm", 0, 30, MM), launch(40, 8)])
        row, = found.rows
        self.assertEqual(("gpu:0", [31e-6], PRODUCT, [OF_BYTES]), (row.device, row.times, row.flops, found.missing))
        self.assertEqual([(1, 7, "mm 0", None, "runtime", "cudaLaunchKernel", 0, 1000),
                          (1, 8, None, None, "runtime", "cudaLaunchKernel", 30000, 1000)], values(row.of(Call)))
        found = of_events([kernel(10, 5, 7), {**kernel(20, 5, 7), "pid": 3}])
        made = [("Kernel", "gpu:0", 7, 7, None, None, "gemm", start, 5000, *[None] * 5) for start in (0, 10000)]
        row = "gpu:0", {"model": "x"}, [15e-6], {}, None, "counter", False, [], made
        self.assertEqual(([row], [OF_TIMES], [], {"gpu:0": ""}), everything(found))

    def test_processors(self):
        module = event("python_function", "nn.Module: A", 0, 50, pid=6)
        for pids, *names in (((4,), "x"), ((4, 5), "x process 4", "x process 5")):
            rows = of_events([module, *(operator("aten::mm", 0, 30, MM, pid=pid) for pid in pids)]).rows
            self.assertEqual([("cpu", name, [30e-6]) for name in names],
                             [(row.device, row.point["model"], row.times) for row in rows])
        self.assertEqual("x: none of its 2 events is an operator, a kernel, a copy or a call of a device's library",
                         refusal(json.dumps([event("user_annotation", "step 1", 0, 5), 7])))

    def test_quotes_are_counted(self):
        text = '{\n    "ph": "X", "cat": "cpu_op", "name": "a "b"", "pid": 1, "ts": 1, "dur": 2\n  }'
        self.assertEqual("2 events held quotes that PyTorch does not escape; with_stack=False avoids them",
                         of_bytes(f"[{text}, {text}]".encode()).remarks[0])

    @unittest.skipUnless("ROOF_PROGRAM" in os.environ, "the program tells what counters mean")
    def test_counters(self):
        counts = {f"smsp__sass_thread_inst_executed_op_f{one}_pred_on.sum": at
                  for at, one in enumerate(("add", "fma", "mul"), 1)}
        one = event("cuda_profiler_range", "k", 1, 2, pid=3, tid=0, of_text="x", **dict(reversed(counts.items())))
        found = of_events([launch(100, None), one, one])
        row, = found.rows
        self.assertEqual([("gpu:3", "kernel", None, None, "k", at, name, count, "")
                          for at in (0, 1) for name, count in counts.items()], values(row.of(Counter)))
        missing = ["FLOPs of tensor cores: there is no metric", "bytes: CUPTI counted none"]
        self.assertEqual((16, "counter", "fp32", missing, []),
                         (row.flops, row.known, row.point["precision"], found.missing, found.remarks))
        found = of_events([*steps(1), {**one, "pid": 0}, one])
        self.assertEqual([("gpu:0", PRODUCT), ("gpu:3", None)], [(row.device, row.flops) for row in found.rows])
        self.assertEqual([OF_BYTES, *missing], found.missing)
        self.assertEqual([OF_SHAPES, *(f"8 FLOPs were counted on {device} in the whole recording, not by steps"
                                       for device in ("gpu:0", "gpu:3"))], found.remarks)


if __name__ == "__main__":
    unittest.main()
