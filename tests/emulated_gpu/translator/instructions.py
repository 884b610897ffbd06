"""The instructions that are known, each with the C++ that does the same. The C++ calls tests/emulated_gpu/device."""
import math
import re
import struct

from ptx import UnknownPtx, split_operands

CPP = {"pred": "bool", "b8": "u8", "u8": "u8", "s8": "s8", "b16": "u16", "u16": "u16", "s16": "s16", "b32": "u32",
       "u32": "u32", "s32": "s32", "f32": "f32", "b64": "u64", "u64": "u64", "s64": "s64", "f64": "f64", "f16": "f16",
       "bf16": "bf16", "f16x2": "f16x2", "bf16x2": "bf16x2"}
WIDER = {"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}
SPECIAL = {"%tid": "t.index", "%ntid": "t.block_size()", "%ctaid": "t.block_index()", "%nctaid": "t.grid_size()"}
SPECIAL_SINGLE = {"%clock64": ("u64", "t.cycle()"), "%clock": ("u32", "u32(t.cycle())"),
                  "%globaltimer": ("u64", "t.nanosecond()"), "%smid": ("u32", "t.multiprocessor_number()"),
                  "%cluster_ctarank": ("u32", "t.cluster_rank()"), "%cluster_nctarank": ("u32", "t.cluster_size()")}

# Opcode without its type -> expression of the operands a, b and c, which have that type.
EXPRESSIONS = {
    "add": "add(a, b)", "add.rn": "add(a, b)", "sub": "subtract(a, b)", "sub.rn": "subtract(a, b)",
    "mul": "multiply(a, b)", "mul.rn": "multiply(a, b)", "mul.lo": "multiply(a, b)", "mul.hi": "multiply_high(a, b)",
    "mad.lo": "add(multiply(a, b), c)", "fma.rn": "fused(a, b, c)", "fma.rm": "fused_down(a, b, c)",
    "div": "divide(t, a, b)", "div.rn": "divide(t, a, b)", "rem": "remainder(t, a, b)",
    "min": "least(a, b)", "max": "most(a, b)", "neg": "negative(a)", "abs": "absolute(a)",
    "sqrt.rn": "std::sqrt(a)", "rcp.rn": "1 / a", "ex2.approx.ftz": "exponential_of_two(a)",
    "lg2.approx.ftz": "logarithm_of_two(a)", "not": "complement(a)", "clz": "leading_zeros(a)", "mov": "a", "cvta.to.global": "a", "cvta.to.shared": "a",
}
WRAPPING = {"add", "sub", "mul.lo", "mad.lo"}  #: whose bits are the same with and without a sign
NATIVE = {"add": "a + b", "add.rn": "a + b", "sub": "a - b", "sub.rn": "a - b", "mul": "a * b", "mul.rn": "a * b", "mul.lo": "a * b",
          "mad.lo": "a * b + c", "neg": "-(a)"}  #: what the compiler has for these types: quicker to compile than a call
SIGNS = {"and": "&", "or": "|", "xor": "^"}
COMPARISONS = {"eq": "a == b", "ne": "a != b", "lt": "a < b", "le": "a <= b", "gt": "a > b", "ge": "a >= b",
               "lo": "a < b", "ls": "a <= b", "hi": "a > b", "hs": "a >= b",
               "equ": "!(a < b || a > b)", "neu": "!(a == b)", "ltu": "!(a >= b)", "leu": "!(a > b)",
               "gtu": "!(a <= b)", "geu": "!(a < b)", "num": "a == a && b == b", "nan": "a != a || b != b"}
ROUNDINGS = {"rzi": "zero", "rmi": "down", "rpi": "up", "rni": "nearest"}
ATOMICS = {"add": "add(old, x)", "min": "least(old, x)", "max": "most(old, x)", "or": "old | x", "and": "old & x",
           "exch": "x"}
FORMATS = {"f64": "fp64", "tf32": "tf32", "f16": "fp16", "bf16": "bf16", "s8": "int8", "e4m3": "e4m3", "e5m2": "e5m2", "e2m1": "e2m1"}
# Of tcgen05's kinds with scales: how many along a row of an instruction.
SCALES = {"kind::mxf8f6f4": "scale_vec::1X", "kind::mxf4": "scale_vec::2X", "kind::mxf4nvf4": "scale_vec::4X"}
# Opcode -> statement; {0}, {1}, … are the operands as `u32`, `u64`, or `shared` and `global` addresses, as listed.
CALLS = {
    "bar.sync": ("t.barrier({0}, __LINE__);", ["u32"]),
    "bar.warp.sync": ("t.warp_barrier({0}, __LINE__);", ["u32"]),
    "barrier.cluster.arrive.release.aligned": ("t.cluster_arrive();", []),
    "barrier.cluster.wait.acquire.aligned": ("t.cluster_wait();", []),
    "membar.gl": ("t.fence();", []),
    "fence.acq_rel.gpu": ("t.fence();", []),
    "fence.proxy.async.shared::cta": ("t.proxy_fence();", []),
    "fence.mbarrier_init.release.cluster": ("t.mbarrier_init_fence();", []),
    "trap": ("t.trap();", []),
    "mbarrier.init.shared::cta.b64": ("t.mbarrier_init({0}, {1});", ["shared", "u32"]),
    "mbarrier.arrive.expect_tx.shared::cta.b64": ("t.mbarrier_arrive({1}, {2});", ["sink", "shared", "u32"]),
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes":
        ("t.bulk_load({0}, {1}, {2}, {3});", ["shared", "global", "u32", "shared"]),
    "cp.async.bulk.global.shared::cta.bulk_group": ("t.bulk_store({0}, {1}, {2});", ["global", "shared", "u32"]),
    "cp.async.bulk.commit_group": ("t.bulk_commit();", []),
    "cp.async.bulk.wait_group": ("t.bulk_wait({0}, false);", ["u32"]),
    "cp.async.bulk.wait_group.read": ("t.bulk_wait({0}, true);", ["u32"]),
    "wgmma.fence.sync.aligned": ("t.wgmma_fence();", []),
    "wgmma.commit_group.sync.aligned": ("t.wgmma_commit();", []),
    "wgmma.wait_group.sync.aligned": ("t.wgmma_wait({0});", ["u32"]),
    "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32": ("t.tcgen05_alloc({0}, {1});", ["shared", "u32"]),
    "tcgen05.dealloc.cta_group::1.sync.aligned.b32": ("t.tcgen05_dealloc({0}, {1});", ["u32", "u32"]),
    "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned": ("t.tcgen05_relinquish();", []),
    "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64": ("t.tcgen05_commit({0});", ["shared"]),
    "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32": ("t.tcgen05_alloc({0}, {1});", ["shared", "u32"]),
    "tcgen05.dealloc.cta_group::2.sync.aligned.b32": ("t.tcgen05_dealloc({0}, {1});", ["u32", "u32"]),
    "tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned": ("t.tcgen05_relinquish();", []),
    "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.b64": ("t.tcgen05_commit({0});", ["shared"]),
    "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64":
        ("t.tcgen05_commit({0} | {1} << 24);", ["shared", "u32"]),
    "tcgen05.wait::ld.sync.aligned": ("t.tcgen05_wait_load();", []),
    "tcgen05.wait::st.sync.aligned": ("t.tcgen05_wait_store();", []),
    "tcgen05.fence::before_thread_sync": ("t.tcgen05_fence(false);", []),
    "tcgen05.fence::after_thread_sync": ("t.tcgen05_fence(true);", []),
}


def cpp_name(ptx_name):
    return "r_" + ptx_name.lstrip("%").replace("$", "_")


class Writer:
    """Writes the instructions of one kernel."""

    def __init__(self, kernel):
        self.kernel = kernel

    def value(self, text, wanted):
        """An operand as an expression of the C++ type `wanted`."""
        if text in self.kernel.registers:
            found = CPP[self.kernel.registers[text]]
            return cpp_name(text) if found == wanted else f"as<{wanted}>({cpp_name(text)})"
        if text.startswith("!"):
            return "!" + self.value(text[1:], wanted)
        head, _, tail = text.partition(".")
        if head in SPECIAL and tail:
            return f"{wanted}({SPECIAL[head]}.{tail})"
        if text in SPECIAL_SINGLE:
            found, code = SPECIAL_SINGLE[text]
            return f"as<{wanted}>({found}({code}))"
        if re.fullmatch(r"0[fF][0-9a-fA-F]{8}", text):
            return self.literal(wanted, "f32", text[2:])
        if re.fullmatch(r"0[dD][0-9a-fA-F]{16}", text):
            return self.literal(wanted, "f64", text[2:])
        if re.fullmatch(r"[+-]?(0x)?[0-9a-fA-F]+U?", text):
            number = int(text.rstrip("U"), 0)
            if wanted in ("f16x2", "bf16x2", "f16", "bf16", "f32", "f64"):
                raise UnknownPtx("a whole number as an operand of floats: " + text)
            return f"{wanted}({number}{'ull' if number >= 1 << 63 else 'll'})"
        if text in self.kernel.shared:
            variable = self.kernel.shared[text]
            return f"{wanted}({'dynamic_shared' if variable.offset is None else variable.offset})"
        if text in self.kernel.parameters:
            return f"{wanted}({self.kernel.parameters[text].offset})"
        raise UnknownPtx("operand " + text)

    def literal(self, wanted, found, digits):
        """A float by the digits of its bits."""
        form, bits, suffix = (">f", "u", "f") if found == "f32" else (">d", "ull", "")
        number = struct.unpack(form, bytes.fromhex(digits))[0]
        code = number.hex() + suffix if math.isfinite(number) else f"{found}_of(0x{digits}{bits})"
        return code if found == wanted else f"as<{wanted}>({code})"

    def assign(self, target, code, found):
        """A register becomes the value of an expression of the C++ type `found`."""
        if target == "_":
            return ""
        register = CPP[self.kernel.registers[target]]
        return f"{cpp_name(target)} = {code};" if register == found else f"assign({cpp_name(target)}, {code});"

    def address(self, text, space):
        base, _, offset = text[1:-1].partition("+") if text.startswith("[") else (text, "", "")
        wanted = "u32" if space == "shared" else "u64"
        begin = self.value(base.strip(), wanted)
        return f"{wanted}({begin} + {wanted}({offset}ll))" if offset else begin

    def instruction(self, o, operands):
        """The C++ of an instruction; `o`: the parts of its opcode."""
        opcode = ".".join(o)
        if opcode in CALLS:
            code, kinds = CALLS[opcode]
            if len(operands) != len(kinds):
                raise UnknownPtx(f"{opcode} with {len(operands)} operands")
            return code.format(*(self.of_kind(text, kind) for text, kind in zip(operands, kinds)))
        special = getattr(self, "write_" + o[0], None)
        if special:
            code = special(o, operands)
            if code is not None:
                return code
        return self.expression(o, operands)

    def of_kind(self, text, kind):
        if kind == "sink":
            return ""
        return self.address(text, kind) if kind in ("shared", "global") else self.value(text, kind)

    def expression(self, o, operands):
        name, kind = ".".join(o[:-1]), CPP.get(o[-1])
        if kind is None:
            raise UnknownPtx(".".join(o))
        if name in WRAPPING and kind in ("s32", "s64"):
            kind = "u" + kind[1:]
        names = dict(zip("abc", (self.value(text, kind) for text in operands[1:])))
        if name in SIGNS and len(names) == 2:
            return self.assign(operands[0], f"{kind}({names['a']} {SIGNS[name]} {names['b']})", kind)
        if name not in EXPRESSIONS:
            raise UnknownPtx(".".join(o))
        expression = NATIVE.get(name) if kind in ("u32", "u64", "f32", "f64") else None
        if name == "fma.rn" and kind in ("f32", "f64"):
            expression = f"__builtin_fma{'f' if kind == 'f32' else ''}(a, b, c)"
        code = re.sub(r"\b[abc]\b", lambda match: names[match[0]], expression or EXPRESSIONS[name])
        return self.assign(operands[0], code, kind)

    # One function for each instruction that is more than an expression; None: it is one.

    def write_ret(self, o, operands):
        return "return;"

    def write_exit(self, o, operands):
        return "return;"

    def write_bra(self, o, operands):
        return f"goto {cpp_name(operands[0])};"

    def write_mov(self, o, operands):
        halves = {"b32": "u16", "b64": "u32", "u32": "u16", "u64": "u32"}.get(o[-1])
        if operands[1].startswith("{"):
            low, high = split_operands(operands[1][1:-1])
            return self.assign(operands[0], f"join({self.value(low, halves)}, {self.value(high, halves)})", CPP[o[-1]])
        if operands[0].startswith("{"):
            low, high = split_operands(operands[0][1:-1])
            whole = self.value(operands[1], CPP[o[-1]])
            return self.assign(low, f"{halves}({whole})", halves) + " " + self.assign(
                high, f"{halves}({whole} >> 8 * sizeof({halves}))", halves)
        return None

    def write_mul(self, o, operands):
        if "wide" not in o:
            return None
        wide = WIDER[CPP[o[-1]]]
        kind = CPP[o[-1]]
        return self.assign(operands[0], f"multiply({wide}({self.value(operands[1], kind)}), "
                                        f"{wide}({self.value(operands[2], kind)}))", wide)

    def write_mad(self, o, operands):
        if "wide" not in o:
            return None
        wide, kind = WIDER[CPP[o[-1]]], CPP[o[-1]]
        return self.assign(operands[0], f"add(multiply({wide}({self.value(operands[1], kind)}), "
                                        f"{wide}({self.value(operands[2], kind)})), {self.value(operands[3], wide)})", wide)

    def write_shfl(self, o, operands):
        if o != ["shfl", "sync", "bfly", "b32"]:
            raise UnknownPtx(".".join(o))
        values = ", ".join(self.value(text, "u32") for text in operands[1:])
        return self.assign(operands[0].partition("|")[0], f"t.shuffle_xor({values}, __LINE__)", "u32")

    def write_vote(self, o, operands):
        if o != ["vote", "sync", "ballot", "b32"]:
            raise UnknownPtx(".".join(o))
        return self.assign(operands[0], f"t.ballot({self.value(operands[1], 'bool')}, {self.value(operands[2], 'u32')}, __LINE__)", "u32")

    def write_shl(self, o, operands):
        return self.shift(o, operands, "shift_left", "<<")

    def write_shr(self, o, operands):
        return self.shift(o, operands, "shift_right", ">>")

    def shift(self, o, operands, function, sign):
        kind, bits = CPP[o[-1]], operands[2]
        value = self.value(operands[1], kind)
        is_native = kind in ("u32", "s32", "u64", "s64") and bits.isdigit() and int(bits) < int(kind[1:])
        return self.assign(operands[0], f"{value} {sign} {bits}" if is_native else f"{function}({value}, {self.value(bits, 'u32')})", kind)

    def write_bfi(self, o, operands):
        kind = CPP[o[-1]]
        bits = ", ".join([self.value(text, kind) for text in operands[1:3]] + [self.value(text, "u32") for text in operands[3:]])
        return self.assign(operands[0], f"insert_bits({bits})", kind)

    def write_prmt(self, o, operands):
        if o != ["prmt", "b32"]:
            raise UnknownPtx(".".join(o))
        return self.assign(operands[0], f"permute({', '.join(self.value(text, 'u32') for text in operands[1:])})", "u32")

    def write_setp(self, o, operands):
        if len(o) != 3 or o[1] not in COMPARISONS:
            raise UnknownPtx(".".join(o))
        kind = CPP[o[2]]
        names = {"a": self.value(operands[1], kind), "b": self.value(operands[2], kind)}
        code = re.sub(r"\b[ab]\b", lambda match: names[match[0]], COMPARISONS[o[1]])
        return self.assign(operands[0], code, "bool")

    def write_selp(self, o, operands):
        kind = CPP[o[-1]]
        return self.assign(operands[0], f"{self.value(operands[3], 'bool')} ? {self.value(operands[1], kind)} : "
                                        f"{self.value(operands[2], kind)}", kind)

    def write_cvt(self, o, operands):
        modes, (target, source) = o[1:-2], o[-2:]
        value = self.value(operands[1], CPP[source])
        if modes == ["rn"] and target in ("f16x2", "bf16x2"):  # the second source is the lower half
            high, low = (f"convert<{target[:-2]}>({self.value(each, CPP[source])}, Rounding::nearest).bits" for each in operands[1:])
            return self.assign(operands[0], f"{target}{{u32{{{high}}} << 16 | {low}}}", target)
        if modes == ["sat"] and target == source == "f32":
            return self.assign(operands[0], f"saturated({value})", "f32")
        rounding = "none"
        for mode in modes:
            if mode in ROUNDINGS:
                rounding = ROUNDINGS[mode]
            elif mode != "rn":
                raise UnknownPtx(".".join(o))
        return self.assign(operands[0], f"convert<{CPP[target]}>({value}, Rounding::{rounding})", CPP[target])

    def write_ld(self, o, operands):
        space, past_l1, count = self.access(o)
        kind = CPP[o[-1]]
        targets = split_operands(operands[0][1:-1]) if operands[0].startswith("{") else [operands[0]]
        if space == "param":
            begin = self.address(operands[1], space)
            return " ".join(self.assign(target, f"t.argument<{kind}>({begin} + {i} * sizeof({kind}))", kind)
                            for i, target in enumerate(targets))
        call = f"t.load_{space}<{kind}, {count}>({self.address(operands[1], space)}, __LINE__" + (
            f", {past_l1});" if space == "global" else ");")
        return f"{{ const auto v = {call} " + " ".join(self.assign(target, f"v[{i}]", kind)
                                                       for i, target in enumerate(targets)) + " }"

    def write_st(self, o, operands):
        space, _, count = self.access(o)
        kind = CPP[o[-1]]
        sources = split_operands(operands[1][1:-1]) if operands[1].startswith("{") else [operands[1]]
        values = ", ".join(self.value(source, kind) for source in sources)
        return f"t.store_{space}<{kind}, {count}>({self.address(operands[0], space)}, {{{values}}}, __LINE__);"

    @staticmethod
    def access(o):
        """The space, whether L1 is passed over, and the length of the vector of ld and st."""
        space, past_l1, count = None, "false", 1
        for part in o[1:-1]:
            if part in ("global", "shared", "param"):
                space = part
            elif part in ("cg", "volatile"):
                past_l1 = "true"
            elif part in ("v2", "v4"):
                count = int(part[1])
            elif part not in ("ca", "nc", "weak"):
                raise UnknownPtx(".".join(o))
        if space is None:
            raise UnknownPtx("an access by a generic address: " + ".".join(o))
        return space, past_l1, count

    def write_atom(self, o, operands):
        if len(o) != 4 or o[1] != "global" or o[2] not in ATOMICS:
            raise UnknownPtx(".".join(o))
        kind = CPP[o[3]]
        return self.assign(operands[0], f"t.atomic<{kind}>({self.address(operands[1], 'global')}, {self.value(operands[2], kind)}, "
                           f"[]({kind} old, {kind} x) {{ (void)old; return {kind}({ATOMICS[o[2]]}); }}, __LINE__)", kind)

    def write_mbarrier(self, o, operands):
        if o[1:] != ["try_wait", "parity", "shared::cta", "b64"]:
            raise UnknownPtx(".".join(o))
        return self.assign(operands[0], f"t.mbarrier_try_wait({self.address(operands[1], 'shared')}, {self.value(operands[2], 'u32')})",
                           "bool")

    def write_mma(self, o, operands):
        scaled = o[3].startswith("kind::")
        shape, rows, columns, to, left, right, given, *of_scales = o[6:] if scaled else o[3:]
        if o[1:3] != ["sync", "aligned"] or [rows, columns] != ["row", "col"] or to != given or to == "f16" or left != right:
            raise UnknownPtx(".".join(o))
        m, n, k = re.fullmatch(r"m(\d+)n(\d+)k(\d+)", shape).groups()
        sums, register = CPP[to], "f64" if left == "f64" else "u32"
        d, a, b, c = (split_operands(operand[1:-1]) for operand in operands[:4])
        if scaled:  # the words of scales lie behind the registers
            a, b = a + split_operands(operands[4][1:-1]), b + split_operands(operands[6][1:-1])
        lines = [f"{sums} d[] = {{{', '.join(self.value(x, sums) for x in c)}}};"]
        lines += [f"const {register} {name}[] = {{{', '.join(self.value(x, register) for x in given)}}};"
                  for name, given in (("a", a), ("b", b))]
        if scaled:
            if o[4] != "block_scale" or of_scales not in (["ue8m0"], ["ue4m3"]) or len(operands) != 8:
                raise UnknownPtx(".".join(o))
            # As tests/emulated_gpu/device/mma_shapes.hpp has it.
            m = int(m) | int(re.fullmatch("scale_vec::([124])X", o[5]).group(1)) << 8 | (of_scales == ["ue8m0"]) << 12
            words = [x for operand in operands[4:] for x in split_operands(operand[1:-1])]
            others = " | ".join(self.value(words[i], "u32") for i in (1, 2, 4, 5))  # which byte is the first, and whose
            lines.append(f"if (({others}) != 0) t.trap();")
        lines.append(f"t.mma({{{m}, {n}, {k}, Format::{FORMATS[left]}}}, d, a, b);")
        return "{ " + " ".join(lines + [self.assign(x, f"d[{i}]", sums) for i, x in enumerate(d)]) + " }"

    def write_wgmma(self, o, operands):
        if o[1:4] != ["mma_async", "sync", "aligned"] or o[5] == "f16" or o[6] != o[7]:
            raise UnknownPtx(".".join(o))
        m, n, k = re.fullmatch(r"m(\d+)n(\d+)k(\d+)", o[4]).groups()
        registers = split_operands(operands[0][1:-1])
        keeps, sign_a, sign_b = (self.value(x, "s32") for x in (operands[3:6] + ["1", "1", "1"])[:3])
        if operands[6:] not in ([], ["0", "0"]):
            raise UnknownPtx("wgmma with a transposed operand")
        return (f"{{ u32* const d[] = {{{', '.join(f'bits_of({cpp_name(x)})' for x in registers)}}}; "
                f"t.wgmma({{{m}, {n}, {k}, Format::{FORMATS[o[6]]}}}, d, {{{self.value(operands[1], 'u64')}, "
                f"{self.value(operands[2], 'u64')}, {keeps} != 0, {sign_a} * {sign_b}}}, __LINE__); }}")

    def write_tcgen05(self, o, operands):
        if o[1:3] == ["mma", "cta_group::2"] and len(o) == 4 and len(operands) == 5:
            return (f"t.tcgen05_mma(Kind::{o[3].split('::')[1]}, {self.address(operands[0], 'shared')}, {self.value(operands[1], 'u64')}, "
                    f"{self.value(operands[2], 'u64')}, {self.value(operands[3], 'u32')}, {self.value(operands[4], 'bool')}, {{~0u, ~0u}});")  # no scales: a pair of blocks
        if o[1] == "mma" and o[2] == "cta_group::1" and o[4:] == (["block_scale", SCALES[o[3]]] if o[3] in SCALES else []):
            scales = [self.address(operand, "shared") for operand in operands[4:-1]]
            if len(scales) != (2 if o[4:] else 0):
                raise UnknownPtx(".".join(o))
            return (f"t.tcgen05_mma(Kind::{o[3].split('::')[1]}, {self.address(operands[0], 'shared')}, {self.value(operands[1], 'u64')}, "
                    f"{self.value(operands[2], 'u64')}, {self.value(operands[3], 'u32')}, {self.value(operands[-1], 'bool')}"
                    f"{', {' + ', '.join(scales) + '}' if scales else ''});")
        if o[1:] == ["st", "sync", "aligned", "32x32b", "x1", "b32"]:
            return f"t.tcgen05_store({self.address(operands[0], 'shared')}, {self.value(operands[1][1:-1].strip(), 'u32')});"
        if o[1:] == ["ld", "sync", "aligned", "32x32b", "x4", "b32"]:
            targets = split_operands(operands[0][1:-1])
            return (f"{{ u32* const d[] = {{{', '.join(f'bits_of({cpp_name(x)})' for x in targets)}}}; "
                    f"t.tcgen05_load({self.address(operands[1], 'shared')}, d); }}")
        raise UnknownPtx(".".join(o))
