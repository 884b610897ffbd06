"""Times PyTorch's matrix products and copies on the first GPU: one JSON object {name: rate}, FLOP/s or byte/s.

Operands are random. A rate is the median of several batches, timed by device events and much longer than a launch.
Rates that cannot be measured are left out, with the reason on standard error."""

import json
import statistics
import sys

import torch

SIZE = 8192
BATCH_SECONDS = 0.05
BATCHES = 7


def seconds_of(launch):
    """Seconds of one launch: the median over batches."""
    def batch(count):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(count):
            launch()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1e-3 / count

    launch()
    batch(2)
    count = max(2, int(BATCH_SECONDS / batch(2)))
    batch(count)
    return statistics.median(batch(count) for _ in range(BATCHES))


def matmul(dtype, size=SIZE):
    a, b = (torch.randn(size, size, device="cuda", dtype=dtype) for _ in range(2))
    out = torch.empty(size, size, device="cuda", dtype=dtype)
    return 2 * size**3 / seconds_of(lambda: torch.matmul(a, b, out=out))


def copy():
    source = torch.randn(1 << 28, device="cuda")
    target = torch.empty_like(source)
    return 2 * source.nbytes / seconds_of(lambda: target.copy_(source))


def read():
    source = torch.randn(1 << 28, device="cuda")
    return source.nbytes / seconds_of(source.sum)


def with_tf32(allowed, function):
    torch.backends.cuda.matmul.allow_tf32 = allowed
    return function()


PEERS = {"matmul bf16": lambda: matmul(torch.bfloat16), "matmul fp16": lambda: matmul(torch.float16),
         "matmul tf32": lambda: with_tf32(True, lambda: matmul(torch.float32)),
         "matmul fp32": lambda: with_tf32(False, lambda: matmul(torch.float32, SIZE // 2)),
         "matmul fp64": lambda: matmul(torch.float64, SIZE // 2), "copy": copy, "read": read}


def main():
    rates = {}
    for name, peer in PEERS.items():
        try:
            rates[name] = peer()
        except RuntimeError as error:
            print(f"{name}: {error}", file=sys.stderr)
        torch.cuda.empty_cache()
    print(json.dumps(rates))


if __name__ == "__main__":
    main()
