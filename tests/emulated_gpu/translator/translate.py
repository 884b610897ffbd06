"""Writes a file of PTX as C++: a function for each kernel, which a fiber runs for each CUDA thread.

    python3 translate.py KERNELS.ptx KERNELS.cpp

Fails at an instruction that it does not know."""
import re
import sys

from instructions import CPP, Writer, cpp_name
from ptx import Instruction, Label, UnknownPtx, kernels_of


def turns_of(opcode):
    """How many instructions of fp32 take as long: a multiprocessor has half as many lanes for fp64 and for products of integers, by the
    guide's table of throughputs for 8.0 and 9.0."""
    is_slow = opcode[-1] == "f64" or opcode[-1] in ("s32", "u32") and opcode[0] in ("mad", "mul")
    return 2 if is_slow and opcode[0] in ("fma", "add", "sub", "mul", "mad") else 1


def lines_of(kernel):
    """The body. Each straight run of instructions begins with their turns, from which the emulated time is calculated."""
    writer = Writer(kernel)
    lines, straight = [], []

    def end_straight():
        if straight:
            lines.append(f"t.issue({sum(turns for turns, _ in straight)});")
        lines.extend(code for _, code in straight)
        straight.clear()

    for part in kernel.body:
        if isinstance(part, Label):
            end_straight()
            lines.append(cpp_name(part.name) + ":;")
            continue
        try:
            code = writer.instruction(part.opcode, part.operands)
        except (UnknownPtx, KeyError, ValueError, AttributeError) as error:
            raise UnknownPtx(f"{part.text}  ({type(error).__name__}: {error})") from error
        if part.guard:
            code = f"if ({writer.value(part.guard, 'bool')}) {{ {code} }}"
        straight.append((turns_of(part.opcode), code))
        if part.opcode[0] in ("bra", "ret", "exit"):
            end_straight()
    end_straight()
    return lines


def function_of(number, kernel):
    by_type = {}
    for name, ptx_type in kernel.registers.items():
        by_type.setdefault(CPP[ptx_type], []).append(cpp_name(name))
    declarations = [f"{cpp} " + ", ".join(f"{name}{{}}" for name in names) + ";" for cpp, names in by_type.items()]
    # The memory that the launch sizes lies behind the variables, as far aligned as any variable may be.
    dynamic = -(-kernel.shared_size() // 1024) * 1024
    has_dynamic = any(variable.offset is None for variable in kernel.shared.values())
    arguments = ", ".join(f"{{{p.offset}, {p.size}}}" for p in kernel.parameters.values())
    shared = dynamic if has_dynamic else kernel.shared_size()
    capability, generation = re.fullmatch(r"sm_(\d+)(\w*)", kernel.target).groups()
    return "\n".join([f"void kernel_{number}(Thread& t)", "{", f"[[maybe_unused]] constexpr u32 dynamic_shared = {dynamic};",
                      *declarations, *lines_of(kernel), "}",
                      f'const Registration registration_{number}{{"{kernel.name}", {{kernel_{number}, {shared}, {{{arguments}}}, '
                      f"{capability}, {'true' if generation else 'false'}, {kernel.most_threads}}}}};", ""])


def main(source, target):
    with open(source, encoding="utf-8") as file:
        kernels = kernels_of(file.read())
    if not kernels:
        raise UnknownPtx("there is no kernel in the file")
    text = "\n".join(function_of(number, kernel) for number, kernel in enumerate(kernels))
    with open(target, "w", encoding="utf-8") as file:
        file.write('#include "tests/emulated_gpu/device/translated.hpp"\n\nnamespace roof::emulated {\nnamespace {\n\n'
                   + text + "\n}  // namespace\n}  // namespace roof::emulated\n")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except UnknownPtx as unknown:
        sys.exit(f"{sys.argv[1]}: the emulated device does not know: {unknown}")
