"""Reads the GPU machine code inside an object that is shipped, without a disassembler: instructions are counted by opcode, and
kernels are found by their C++ names.

The object holds cubins uncompressed (tools/cmake/cuda.cmake). From compute capability 7.5 on each instruction has 16 bytes; its
opcode is in the lowest 9 bits, the size of a load or store in bits 73 to 75."""

import collections
import ctypes
import re
import struct

MAGIC = b"\x7fELF\x02\x01\x01"
MACHINE_CUDA = 190
INSTRUCTION_BYTES = 16

OPCODES = {
    0x020: "FMUL", 0x021: "FADD", 0x023: "FFMA", 0x024: "IMAD", 0x028: "DMUL", 0x029: "DADD", 0x02B: "DFMA",
    0x030: "HADD2", 0x031: "HFMA2", 0x032: "HMUL2", 0x035: "HFMA2", 0x108: "MUFU",
    0x037: "IMMA", 0x03C: "HMMA", 0x03F: "DMMA", 0x07A: "QMMA", 0x07F: "OMMA", 0x036: "HMMA884", 0x1F0: "HGMMA", 0x1F1: "IGMMA", 0x1F3: "QGMMA", 0x1EA: "UTCMMA",
    0x180: "LD", 0x181: "LDG", 0x183: "LDL", 0x184: "LDS", 0x186: "STG", 0x187: "STL", 0x188: "STS",
    0x1BA: "UBLKCP", 0x1B4: "UTMALDG", 0x1A8: "ATOMG", 0x18E: "REDG", 0x005: "CS2R", 0x119: "S2R", 0x1C3: "S2UR",
}
TENSOR_KINDS = {0: "UTCHMMA", 1: "UTCIMMA", 3: "UTCQMMA"}  # of tcgen05: tf32 and 16 bits, int8, fp8; UTCOMMA: fp4
SIZED = {"LD", "LDG", "LDL", "LDS", "STG", "STL", "STS"}
SIZES = {0: 8, 1: 8, 2: 16, 3: 16, 4: 32, 5: 64, 6: 128}


def architectures(names):
    """Those that machine code is built for, of CMake's names: "80;90-real;90-virtual" are [80, 90]."""
    return sorted({int(name.split("-")[0]) for name in names.split(";") if not name.endswith("-virtual")})


def cubins(data):
    """(compute capability, offset) of each, 90 for 9.0."""
    at = data.find(MAGIC)
    while at >= 0:
        if struct.unpack_from("<H", data, at + 18)[0] == MACHINE_CUDA:
            flags = struct.unpack_from("<I", data, at + 48)[0]
            yield flags >> 8 & 0xFF, at
        at = data.find(MAGIC, at + 1)


def sections(data, at):
    """Name and bytes of each section of the ELF file at an offset."""
    table = at + struct.unpack_from("<Q", data, at + 40)[0]
    size, count, names = struct.unpack_from("<HHH", data, at + 58)
    headers = [struct.unpack_from("<IIQQQQ", data, table + i * size) for i in range(count)]
    text = at + headers[names][4]
    for name, _, _, _, offset, length in headers:
        end = data.index(b"\0", text + name)
        yield data[text + name:end].decode(), data[at + offset:at + offset + length]


def instructions(code):
    """Names of those in OPCODES, in order; loads and stores with their size: LDG.128."""
    for at in range(0, len(code) - INSTRUCTION_BYTES + 1, INSTRUCTION_BYTES):
        low, high = struct.unpack_from("<QQ", code, at)
        name = OPCODES.get(low & 0x1FF)
        if name in SIZED:
            name += f".{SIZES.get(high >> 9 & 7, 0)}"
        if name == "UTCMMA":
            has_scales = low >> 48 & 0xFF != 0xFF  # a register with their place
            name = "UTCOMMA" if has_scales and high >> 8 & 3 == 0 else TENSOR_KINDS.get(high >> 8 & 3, name)
        if name is not None:
            yield name


def demangled(name):
    """As the C++ library of this machine has it; other names stay as they are."""
    library = ctypes.CDLL("libstdc++.so.6")
    demangle = library.__cxa_demangle
    demangle.restype = ctypes.c_void_p
    text = demangle(name.encode(), None, None, None)
    if text is None:
        return name
    plain = ctypes.string_at(text).decode()
    ctypes.CDLL(None).free(ctypes.c_void_p(text))
    return plain


def enumerations(headers):
    """{name: its enumerators} of every enumeration in C++ headers whose values count from 0."""
    found = {}
    for header in headers:
        text = re.sub("//.*", "", header.read_text(encoding="utf-8"))
        for name, body in re.findall(r"enum class (\w+) \{([^}]*)\}", text):
            found[name] = [word.strip() for word in body.split(",") if word.strip()]
    return found


class Kernel:
    """Machine code of one kernel. `function` is its name without namespaces. `arguments` are its template arguments, enumerators by
    name; the arguments of an argument follow it. `instructions` are in order, `counts` counts them."""

    def __init__(self, capability, mangled, code, enums):
        self.capability = capability
        self.name = re.sub(r"\(anonymous namespace\)::|\b\w+::", "", demangled(mangled))
        head = self.name[:self.name.rfind("(")].removeprefix("void ")
        self.function, _, rest = head.partition("<")
        self.arguments = [self.readable(word.strip(), enums) for word in re.split("[<>,]", rest) if word.strip()]
        self.instructions = list(instructions(code))
        self.counts = collections.Counter(self.instructions)

    @staticmethod
    def readable(argument, enums):
        cast = re.fullmatch(r"\((\w+)\)(\d+)", argument)
        return enums[cast[1]][int(cast[2])] if cast and cast[1] in enums else argument

    def is_a(self, function, arguments):
        """Whether it is this function, and all of these are among its template arguments."""
        return self.function == function and all(argument in self.arguments for argument in arguments)

    def __repr__(self):
        return f"{self.function}<{', '.join(self.arguments)}> for {self.capability}"


def kernels(path, headers=()):
    """All kernels of an object; the headers have the enumerations in their template arguments."""
    with open(path, "rb") as file:
        data = file.read()
    enums = enumerations(headers)
    return [Kernel(capability, name[len(".text."):], code, enums)
            for capability, at in cubins(data) for name, code in sections(data, at) if name.startswith(".text.")]
