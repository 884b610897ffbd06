"""The variables that a shell, a module or a batch system sets for the libraries under the program, and what one of them may do to a training
step: nothing to the last bit of a loss, or its name stands in the row, or the row has failed with a reason."""

import random

from jail import must

VARIABLES = {
    "OMP_PROC_BIND": ["true", "close", "spread", "primary", "false"],
    "OMP_PLACES": ["cores", "threads", "sockets", "{0}"],
    "GOMP_CPU_AFFINITY": ["0-1", "0", "0 0 0"],
    "OMP_THREAD_LIMIT": ["1", "2"],
    "OMP_DYNAMIC": ["true"],
    "OMP_NUM_THREADS": ["1", "0", "abc", "64", "2,2"],
    "OMP_MAX_ACTIVE_LEVELS": ["0", "1"],
    "OMP_NESTED": ["true"],
    "OMP_STACKSIZE": ["64", "64G", "abc", "1B"],
    "GOMP_STACKSIZE": ["67108864"],
    "OMP_WAIT_POLICY": ["active", "passive"],
    "GOMP_SPINCOUNT": ["0", "infinite"],
    "OMP_SCHEDULE": ["dynamic,1", "guided"],
    "OMP_CANCELLATION": ["true"],
    "OMP_DISPLAY_ENV": ["verbose"],
    "OMP_DISPLAY_AFFINITY": ["true"],
    "KMP_AFFINITY": ["granularity=fine,compact,1,0", "disabled"],
    "KMP_BLOCKTIME": ["0"],
    "KMP_HW_SUBSET": ["1t"],
    "MKL_NUM_THREADS": ["1"],
    "HWLOC_SYNTHETIC": ["pack:2 numa:1 core:1 pu:1"],
    "HWLOC_XMLFILE": ["/dev/null/none.xml"],
    "HWLOC_COMPONENTS": ["-linux,stop", "no_os"],
    "HWLOC_FSROOT": ["/dev/null/none"],
    "HWLOC_THISSYSTEM": ["0"],
    "HWLOC_CPUID_PATH": ["/dev/null/none"],
    "ONEDNN_VERBOSE": ["1", "2", "all"],
    "DNNL_VERBOSE": ["1"],
    "ONEDNN_MAX_CPU_ISA": ["SSE41", "AVX2"],
    "DNNL_MAX_CPU_ISA": ["AVX"],
    "ONEDNN_CPU_ISA_HINTS": ["PREFER_YMM"],
    "ONEDNN_DEFAULT_FPMATH_MODE": ["BF16", "ANY"],
    "ONEDNN_PRIMITIVE_CACHE_CAPACITY": ["0"],
    "ONEDNN_JIT_DUMP": ["1"],
    "ONEDNN_JIT_PROFILE": ["0"],
    "MALLOC_ARENA_MAX": ["1"],
}


def single():
    return [{name: value} for name, values in VARIABLES.items() for value in values]


def pairs(count, seed):
    draw = random.Random(seed)
    return [{name: draw.choice(VARIABLES[name]) for name in draw.sample(sorted(VARIABLES), 2)} for _ in range(count)]


def check(jail, clean, environment):
    """`clean`: the machine and the losses without any of the variables."""
    machine, losses = clean
    row, seen, done = jail.step(env=environment)
    named = (row["remarks"] + row["reason"] + done.err) if row else done.err
    if row and row["status"] == "ok":
        told = any(name in row["remarks"] for name in environment)
        must(seen == losses or told, environment, "losses", seen, "without it", losses, row["remarks"])
    else:
        must(done.returncode != 0 and (row is None or row["reason"]), environment, "has no row and no reason", done.returncode, named)
    here = jail.machine(env=environment)
    must(here == machine or any(name in str(here) for name in environment), environment, "makes another machine",
         {key: (value, here.get(key)) for key, value in machine.items() if here.get(key) != value})
    left = [file.name for file in jail.folder.iterdir() if file.suffix == ".bin" or file.name.startswith("dnnl_dump")]
    must(not left or any("DUMP" in name for name in environment), environment, "left", left)


def clean(jail):
    row, losses, done = jail.step()
    must(row and row["status"] == "ok" and len(losses) == 4 and len(set(losses)) > 1, "without any variable", row, done.err)
    return jail.machine(), losses
