"""Recorded files drawn by seed: kernels of known and unknown kinds, calls, copies with and without sizes, allocations, ranges, counters."""

KERNELS = ("ampere_sgemm_128x64_nn", "cudnn::winograd_nonfused::winogradForward", "bn_fw_tr_1C11_kernel_NCHW", "void relu_kernel<float>", "ncclDevKernel_AllReduce_Sum",
           "multi_tensor_apply_kernel", "mystery_kernel_of_nobody", "max_pool_backward_nchw", "sm80_xmma_fprop_implicit_gemm", "vectorized_elementwise_kernel", "[CUDA memset]")
CALLS = ("cudaLaunchKernel", "cudaLaunchKernel_v7000", "cudaStreamSynchronize", "cudaMemcpyAsync", "cudaMalloc", "cudaEventRecord", "cuModuleLoadData", "cudaStreamWaitEvent")
COPIES = (("H2D", "pinned", "device"), ("H2D", "pageable", "device"), ("D2H", "device", "pageable"), ("D2D", "device", "device"), ("memset", "", ""), ("P2P", "device", "device"))
COUNTED = {"gpu__time_duration.sum": ("s", 1e-5), "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum": ("inst", 1e6), "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum": ("inst", 1e6),
           "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum": ("inst", 1e7), "l1tex__t_bytes.sum": ("byte", 1e7), "lts__t_bytes.sum": ("byte", 5e6),
           "dram__bytes_read.sum": ("byte", 2e6), "dram__bytes_write.sum": ("byte", 1e6), "sm__ops_path_tensor_src_bf16_dst_fp32.sum": ("FLOP", 1e8),
           "smsp__sass_data_bytes_mem_shared.sum": ("byte", 3e6), "lts__t_sectors_srcunit_ltcfabric.sum": ("sector", 1e4)}
COLUMNS = {"kernels": ("device", "stream", "layer", "phase", "name", "start_s", "duration_s"), "api": ("thread", "domain", "name", "start_s", "duration_s"),
           "copies": ("device", "kind", "source", "destination", "bytes", "start_s", "duration_s"), "memory": ("device", "action", "memory", "address", "bytes", "start_s"),
           "ranges": ("kind", "name", "start_s", "duration_s"), "counters": ("device", "scope", "layer", "phase", "name", "launch", "metric", "value", "unit"),
           "synchronisations": ("device", "stream", "kind", "start_s", "duration_s")}


class Records:
    def __init__(self, random):
        self.random, self.lines = random, {name: [] for name in COLUMNS}

    def chance(self, share):
        return self.random.random() < share

    def add(self, file, identity, **cells):
        self.lines[file].append([identity, *(cells.get(column, "") for column in COLUMNS[file])])

    def of(self, row, layers):
        """The records of one step row, on each of its devices."""
        identity, draw = row["id"], self.random
        kind, _, numbers = row["device"].partition(":")
        devices = [f"{kind}:{number}" for number in numbers.split(",")] if numbers else [""]
        steps, length = draw.choice([0, 1, 3]), 0.01
        for step in range(steps):
            self.add("ranges", identity, kind="step", name=f"step {step}", start_s=step * length * 1.1, duration_s=length)
        whole = max(1, steps) * length * 1.1
        untimed = self.chance(0.15)
        for device in devices:
            for _ in range(draw.randint(3, 60)):
                layer = draw.choice(layers) if layers and self.chance(0.7) else {"layer": "", "phase": draw.choice(["", "forward", "backward"])}
                start = "" if untimed and self.chance(0.3) else draw.uniform(0, whole)
                self.add("kernels", identity, device=device, stream=draw.randint(1, 3), layer=layer["layer"], phase=layer["phase"], name=draw.choice(KERNELS), start_s=start,
                         duration_s=draw.uniform(1e-6, 2e-3))
            for _ in range(draw.randint(0, 12)):
                what, source, destination = draw.choice(COPIES)
                self.add("copies", identity, device=device, kind=what, source=source, destination=destination, bytes="" if self.chance(0.2) else draw.randint(4, 10**8),
                         start_s=draw.uniform(0, whole), duration_s=draw.uniform(1e-6, 1e-3))
            held, at = [], 0.0
            for _ in range(draw.randint(0, 30)):
                at += draw.uniform(0, whole / 30)
                if held and self.chance(0.4):
                    self.add("memory", identity, device=device, action="free", memory="device", address=held.pop(draw.randrange(len(held))), start_s=at)
                elif self.chance(0.1):
                    self.add("memory", identity, device=device, action="free", memory="device", address=draw.randint(1, 99), start_s=at)
                else:
                    held.append(draw.randint(10**6, 10**9))
                    self.add("memory", identity, device=device, action="allocate", memory="device", address=held[-1], bytes=draw.randint(1, 10**8), start_s=at)
            if self.chance(0.7):
                self.counters(identity, device)
        for _ in range(draw.randint(0, 40)):
            self.add("api", identity, thread=1, domain=draw.choice(["runtime", "driver"]), name=draw.choice(CALLS), start_s=draw.uniform(0, whole), duration_s=draw.uniform(1e-7, 1e-3))
        for _ in range(draw.randint(0, 3)):
            self.add("synchronisations", identity, device=devices[0], stream=1, kind="stream", start_s=draw.uniform(0, whole), duration_s=draw.uniform(1e-6, 1e-4))

    def counters(self, identity, device):
        draw = self.random
        chosen = {metric: of for metric, of in COUNTED.items() if self.chance(0.9)}
        by_phase = self.chance(0.5)
        for name in draw.sample(KERNELS, draw.randint(1, 4)):
            for launch in range(draw.randint(1, 3)):
                phase = draw.choice(["", "forward", "backward"])
                for metric, (unit, size) in chosen.items():
                    if not self.chance(0.03):
                        self.add("counters", identity, device=device, scope="kernel", phase=phase, name=name, launch=launch, metric=metric, value=size * draw.uniform(0.2, 2), unit=unit)
        for scope, phases in (("phase", ["forward", "backward"]), ("step", [""])):
            for phase in phases if by_phase else []:
                for metric, (unit, size) in chosen.items():
                    self.add("counters", identity, device=device, scope=scope, phase=phase, metric=metric, value=20 * size * draw.uniform(0.5, 1.5), unit=unit)

    def texts(self):
        import csv
        import io
        for name, lines in self.lines.items():
            if lines:
                text = io.StringIO()
                csv.writer(text, lineterminator="\n").writerows([["id", *COLUMNS[name]], *[[repr(cell) if isinstance(cell, float) else cell for cell in cells] for cells in lines]])
                yield f"{name}.csv", text.getvalue()
