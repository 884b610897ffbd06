"""Eleven machines as folders that preload.cpp puts in place of the real one: CPUID, /proc and /sys.

The leaves in cpuid/ are those of real processors, from the dumps of https://github.com/InstLatx64/InstLatx64. The caches and the topology
are written here once and become sysfs files, as Linux 6 lays them out.
"""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
KIB = 1024


@dataclass(frozen=True)
class Machine:
    name: str
    cpuid: str
    cores: int
    caches: tuple  # (level, type, KiB, cores that share it; 0: all of the package)
    smt: int = 1
    sockets: int = 1
    hypervisor: str = "KVMKVMKVM"
    megahertz: int = 2600
    governor: str = ""
    huge_pages: str = "always [madvise] never"


def levels(l1d, l1i, l2, l3, sharing):
    outer = ((3, "Unified", l3, sharing),) if l3 else ()
    return ((1, "Data", l1d, 1), (1, "Instruction", l1i, 1), (2, "Unified", l2, 1), *outer)


# Parts of servers as clouds rent them, and whole machines.
MACHINES = (
    Machine("zen2", "epyc_7742", 4, levels(32, 32, 512, 16384, 4), smt=2, megahertz=2250),
    Machine("zen3", "epyc_7713", 2, levels(32, 32, 512, 32768, 8), smt=2, hypervisor="Microsoft Hv", megahertz=2000),
    Machine("zen4", "epyc_9654", 2, levels(32, 32, 1024, 32768, 8), megahertz=2400),
    Machine("zen5", "epyc_9655", 4, levels(48, 32, 1024, 32768, 8), huge_pages="[always] madvise never"),
    Machine("skylake", "xeon_6154", 1, levels(32, 32, 1024, 25344, 0), smt=2, megahertz=3000),
    Machine("ice_lake", "xeon_6330", 4, levels(48, 32, 1280, 43008, 0), hypervisor="VMwareVMware", megahertz=2000),
    Machine("sapphire_rapids", "xeon_w7_2475x", 4, levels(48, 32, 2048, 38400, 0), smt=2, hypervisor="XenVMMXenVMM"),
    Machine("without_avx2", "core_i7_3930k", 6, levels(32, 32, 256, 12288, 0), smt=2, hypervisor="", megahertz=3200, governor="powersave"),
    Machine("one_core", "epyc_7713", 1, levels(32, 32, 512, 0, 0), megahertz=2000, huge_pages="always madvise [never]"),
    Machine("two_nodes", "epyc_7742", 128, levels(32, 32, 512, 16384, 4), sockets=2, hypervisor="", megahertz=2250, governor="performance"),
    Machine("no_hypervisor", "xeon_w7_2475x", 20, levels(48, 32, 2048, 38400, 0), smt=2, hypervisor="", governor="schedutil"),
)

# Bits of CPUID by the names in /proc/cpuinfo: (leaf, index, register, bit).
FLAGS = {
    "fma": (1, 0, 2, 12), "avx": (1, 0, 2, 28), "f16c": (1, 0, 2, 29), "hypervisor": (1, 0, 2, 31),
    "avx2": (7, 0, 1, 5), "avx512f": (7, 0, 1, 16), "avx512dq": (7, 0, 1, 17), "avx512cd": (7, 0, 1, 28),
    "avx512bw": (7, 0, 1, 30), "avx512vl": (7, 0, 1, 31), "avx512_vnni": (7, 0, 2, 11), "amx_bf16": (7, 0, 3, 22),
    "avx512_fp16": (7, 0, 3, 23), "amx_tile": (7, 0, 3, 24), "amx_int8": (7, 0, 3, 25), "avx_vnni": (7, 1, 0, 4),
    "avx512_bf16": (7, 1, 0, 5),
}


def leaves_of(machine):
    leaves = {}
    for line in (HERE / "cpuid" / f"{machine.cpuid}.txt").read_text().splitlines():
        leaf, index, words = re.fullmatch(r"(\w+) (\w+): (.*)", line).groups()
        leaves[int(leaf, 16), int(index, 16)] = [int(word, 16) for word in words.split("-")]
    if machine.hypervisor:
        leaves[1, 0][2] |= 1 << 31
        name = machine.hypervisor.encode().ljust(12, b"\0")
        leaves[0x40000000, 0] = [0x40000001, *(int.from_bytes(name[i:i + 4], "little") for i in (0, 4, 8))]
    return leaves


def flags_of(machine):
    """The flags of FLAGS that the made processor has."""
    leaves = leaves_of(machine)
    return {flag for flag, (leaf, index, register, bit) in FLAGS.items() if leaves.get((leaf, index), [0] * 4)[register] >> bit & 1}


def real_flags():
    found = re.search(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found.group(1).split() if found else []


def bits(processors):
    """As the kernel writes a set of processors: hexadecimal, 32 bits in a group."""
    value = sum(1 << processor for processor in processors)
    groups = []
    while value or not groups:
        groups.append(value & 0xffffffff)
        value >>= 32
    return ",".join(f"{group:08x}" for group in reversed(groups))


def ranges(processors):
    parts = []
    for processor in sorted(processors):
        if parts and parts[-1][1] == processor - 1:
            parts[-1][1] = processor
        else:
            parts.append([processor, processor])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


class Tree:
    def __init__(self, root):
        self.root = root

    def write(self, name, text):
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n")

    def write_set(self, name, processors):
        """`name` as a mask, and name_list."""
        self.write(name, bits(processors))
        self.write(f"{name}_list", ranges(processors))


def siblings(machine, core):
    """Linux numbers the second threads after all first ones."""
    return [core + turn * machine.cores for turn in range(machine.smt)]


def write_processor(tree, machine, processor):
    core = processor % machine.cores
    of_package = machine.cores // machine.sockets
    package = core // of_package
    whole = [p for c in range(package * of_package, (package + 1) * of_package) for p in siblings(machine, c)]
    here = f"sys/devices/system/cpu/cpu{processor}"
    for name, value in (("core_id", core % of_package), ("physical_package_id", package), ("die_id", 0)):
        tree.write(f"{here}/topology/{name}", value)
    for name in ("thread_siblings", "core_cpus"):
        tree.write_set(f"{here}/topology/{name}", siblings(machine, core))
    for name in ("core_siblings", "package_cpus", "die_cpus"):
        tree.write_set(f"{here}/topology/{name}", whole)
    for index, (level, kind, size, sharing) in enumerate(machine.caches):
        cache = f"{here}/cache/index{index}"
        cores = sharing or of_package
        first = package * of_package + core % of_package // cores * cores
        last = min(first + cores, (package + 1) * of_package)
        for name, value in (("level", level), ("type", kind), ("size", f"{size}K"), ("coherency_line_size", 64), ("id", first)):
            tree.write(f"{cache}/{name}", value)
        shared = [p for c in range(first, last) for p in siblings(machine, c)]
        tree.write(f"{cache}/shared_cpu_map", bits(shared))
        tree.write(f"{cache}/shared_cpu_list", ranges(shared))
    if machine.governor:
        tree.write(f"{here}/cpufreq/scaling_governor", machine.governor)
        tree.write(f"{here}/cpufreq/base_frequency", machine.megahertz * 1000)


def write_nodes(tree, machine):
    here = "sys/devices/system/node"
    nodes = range(machine.sockets)
    for name in ("online", "possible", "has_cpu", "has_memory", "has_normal_memory"):
        tree.write(f"{here}/{name}", ranges(nodes))
    total = int(re.search(r"MemTotal:\s*(\d+)", Path("/proc/meminfo").read_text()).group(1))
    of_package = machine.cores // machine.sockets
    for node in nodes:
        cores = range(node * of_package, (node + 1) * of_package)
        processors = [p for core in cores for p in siblings(machine, core)]
        tree.write(f"{here}/node{node}/cpumap", bits(processors))
        tree.write(f"{here}/node{node}/cpulist", ranges(processors))
        tree.write(f"{here}/node{node}/distance", " ".join("10" if other == node else "32" for other in nodes))
        tree.write(f"{here}/node{node}/meminfo",
                   f"Node {node} MemTotal:       {total // len(nodes)} kB\nNode {node} MemFree:        {total // len(nodes) // 2} kB")


def brand_of(leaves):
    words = [word for leaf in (0x80000002, 0x80000003, 0x80000004) for word in leaves.get((leaf, 0), ())]
    return " ".join(b"".join(word.to_bytes(4, "little") for word in words).split(b"\0")[0].decode().split())


def signature(leaves):
    """Family, model, stepping, as the kernel adds them up."""
    word = leaves[1, 0][0]
    family, model = word >> 8 & 15, word >> 4 & 15
    if family == 15:
        family += word >> 20 & 255
    if family >= 6:
        model += (word >> 16 & 15) << 4
    return family, model, word & 15


def cpuinfo(machine):
    leaves = leaves_of(machine)
    vendor = b"".join(leaves[0, 0][i].to_bytes(4, "little") for i in (1, 3, 2)).decode()
    family, model, stepping = signature(leaves)
    has = flags_of(machine)
    flags = [flag for flag in real_flags() if flag not in FLAGS or flag in has]
    if machine.hypervisor and "hypervisor" not in flags:
        flags.append("hypervisor")
    blocks = []
    for processor in range(machine.cores * machine.smt):
        blocks.append("\n".join(f"{key}\t: {value}" for key, value in (
            ("processor", processor), ("vendor_id", vendor), ("cpu family", family), ("model", model), ("model name", brand_of(leaves)),
            ("stepping", stepping), ("microcode", "0x1"), ("cpu MHz", f"{machine.megahertz}.000"),
            ("physical id", processor % machine.cores // (machine.cores // machine.sockets)), ("core id", processor % machine.cores),
            ("cpu cores", machine.cores // machine.sockets), ("flags", " ".join(flags)))) + "\n")
    return "\n".join(blocks)


def write(machine, folder):
    """The machine as a folder, anew."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "cpuid.txt").write_text("".join(
        f"{leaf:08x} {index:x}: " + "-".join(f"{word:08x}" for word in words) + "\n"
        for (leaf, index), words in sorted(leaves_of(machine).items())))
    processors = range(machine.cores * machine.smt)
    (folder / "processors").write_text(f"{len(processors)}\n")
    (folder / "nodes").write_text(f"{machine.sockets}\n")
    # A rented machine has no counters (ENOENT); on one of one's own the kernel forbids them (EACCES).
    (folder / "counters_errno").write_text("2\n" if machine.hypervisor else "13\n")
    tree = Tree(folder / "root")
    tree.write("proc/cpuinfo", cpuinfo(machine))
    tree.write("proc/meminfo", Path("/proc/meminfo").read_text().rstrip())
    for name in ("online", "possible", "present"):
        tree.write(f"sys/devices/system/cpu/{name}", ranges(processors))
    for processor in processors:
        write_processor(tree, machine, processor)
    write_nodes(tree, machine)
    tree.write("sys/kernel/mm/transparent_hugepage/enabled", machine.huge_pages)
    if not machine.hypervisor:
        tree.write("sys/class/dmi/id/bios_version", "1.0")


def obstacle(preload):
    """Why no machine can be made here; empty where one can."""
    asks = "import ctypes, os; os._exit(ctypes.CDLL(None).syscall(158, 0x1012, 0) & 1)"  # arch_prctl(ARCH_CPUID, 0)
    if subprocess.run([sys.executable, "-c", asks], check=False).returncode != 0:
        return "CPUID cannot be made to fault: neither this processor nor its hypervisor offers that"
    begins = subprocess.run(["true"], env={**os.environ, "LD_PRELOAD": str(preload)}, capture_output=True, check=False)
    return begins.stderr.decode().strip()


def environment(machine_folder, preload):
    """For a process on that machine. Threads beyond the real processors wait without spinning. roof puts OMP_DYNAMIC back, as it does for a
    user who sets it, before hwloc sets variables of its own."""
    return {"LD_AUDIT": str(preload), "LD_PRELOAD": str(preload), "ROOF_MADE_MACHINE": str(machine_folder),
            "OMP_WAIT_POLICY": "passive", "OMP_DYNAMIC": "false"}
