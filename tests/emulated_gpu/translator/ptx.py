"""Reads PTX as nvcc writes it: kernels, their parameters, shared variables, registers and statements."""
import math
import re
from dataclasses import dataclass, field

BYTES = {"pred": 1, "b8": 1, "u8": 1, "s8": 1, "b16": 2, "u16": 2, "s16": 2, "b32": 4, "u32": 4, "s32": 4, "f32": 4,
         "b64": 8, "u64": 8, "s64": 8, "f64": 8}


class UnknownPtx(Exception):
    """The translation knows no such statement. The build has to fail: a skipped instruction would pass for a correct one."""


@dataclass
class Shared:
    """A variable in shared memory. `offset` is None for the memory whose size the launch gives."""
    offset: int | None
    size: int


@dataclass
class Parameter:
    offset: int
    size: int


@dataclass
class Instruction:
    text: str
    guard: str  # the register before the instruction, with "!" if it is negated; "" without one
    opcode: list[str]
    operands: list[str]


@dataclass
class Label:
    name: str


@dataclass
class Kernel:
    name: str
    target: str  # sm_80, sm_90a, …
    most_threads: int  # of a block; 0: not limited
    parameters: dict[str, Parameter]
    shared: dict[str, Shared]
    registers: dict[str, str] = field(default_factory=dict)  # name -> PTX type
    body: list = field(default_factory=list)  # Instruction and Label

    def shared_size(self):
        return max((v.offset + v.size for v in self.shared.values() if v.offset is not None), default=0)


def split_operands(text):
    """At the commas outside brackets."""
    parts, depth, part = [], 0, ""
    for character in text:
        depth += (character in "[{(") - (character in "]})")
        if character == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += character
    return parts + [part.strip()] if part.strip() else parts


def matching_brace(text, begin):
    """The place of the brace that closes the one before `begin`."""
    depth, at = 1, begin
    while depth:
        depth += (text[at] == "{") - (text[at] == "}")
        at += 1
    return at - 1


def statements_of(body):
    """Statements without their semicolon, labels with their colon. Braces that only open a scope are left out: nvcc gives the
    registers of a scope names of their own, except in inline assembly, where scopes follow each other."""
    statement, depth = "", 0
    for character in body:
        if character in "{}" and not statement.strip():
            continue
        depth += (character == "{") - (character == "}")
        if character == ";" and depth == 0:
            yield " ".join(statement.split())
            statement = ""
        elif character == ":" and depth == 0 and re.fullmatch(r"\s*[\w$]+", statement):
            yield statement.strip() + ":"
            statement = ""
        else:
            statement += character


def declared_in(text):
    """Of each shared variable: whether extern, the alignment, type, name and count."""
    return re.findall(r"(\.extern )?\.shared \.align (\d+) \.(\w+) ([\w$]+)(?:\[(\d*)\])?", text)


def place_shared(declared, variables):
    """Adds the declared variables behind those that are there."""
    for extern, align, ptx_type, name, count in declared:
        if extern:
            variables[name] = Shared(None, 0)
            continue
        end = max((v.offset + v.size for v in variables.values() if v.offset is not None), default=0)
        variables[name] = Shared(-(-end // int(align)) * int(align), int(count or 1) * BYTES[ptx_type])


def parameters_of(text):
    parameters, end = {}, 0
    for declaration in split_operands(text):
        match = re.fullmatch(r"\.param (?:\.align (\d+) )?\.(\w+) ([\w$]+)(?:\[(\d+)\])?", declaration)
        if not match:
            raise UnknownPtx("parameter: " + declaration)
        size = BYTES[match[2]] * int(match[4] or 1)
        align = int(match[1] or BYTES[match[2]])
        end = -(-end // align) * align
        parameters[match[3]] = Parameter(end, size)
        end += size
    return parameters


def read_registers(statement, registers):
    ptx_type, names = re.fullmatch(r"\.reg \.(\w+) (.*)", statement).groups()
    for name in split_operands(names):
        many = re.fullmatch(r"(%\w+)<(\d+)>", name)
        for register in [f"{many[1]}{i}" for i in range(int(many[2]))] if many else [name]:
            if registers.setdefault(register, ptx_type) != ptx_type:
                raise UnknownPtx(f"two types of the register {register}")


def read_statement(kernel, statement):
    if statement.endswith(":"):
        kernel.body.append(Label(statement[:-1]))
    elif statement.startswith(".reg"):
        read_registers(statement, kernel.registers)
    elif statement.startswith(".shared"):
        place_shared(declared_in(statement), kernel.shared)
    elif statement.startswith(".pragma"):
        pass
    elif statement:
        match = re.fullmatch(r"(?:@(!?%?\w+) )?([\w.:]+)(?: (.*))?", statement)
        if not match:
            raise UnknownPtx(statement)
        kernel.body.append(Instruction(statement, match[1] or "", match[2].split("."), split_operands(match[3] or "")))


def kernels_of(text):
    """All kernels of a file of PTX."""
    text = re.sub(r"//[^\n]*", "", text)
    target = re.search(r"\.target (\w+)", text)[1]
    entries = []
    outside, end = "", 0
    for match in re.finditer(r"\.entry ([\w$]+)\s*\((.*?)\)[^{]*\{", text, re.DOTALL):
        outside += text[end:match.end()]
        end = matching_brace(text, match.end())
        body = text[match.end():end]
        limit = re.search(r"\.maxntid (\d+)(?:, (\d+), (\d+))?", match[0])
        most_threads = math.prod(int(size) for size in limit.groups("1")) if limit else 0
        entries.append((match[1], most_threads, " ".join(match[2].split()), body))
    outside += text[end:]
    if re.search(r"\.(global|const)\s+\.align|\.func", outside):
        raise UnknownPtx("a variable in global or constant memory, or a function that is not inlined")
    of_file = declared_in(outside)
    kernels = []
    for name, most_threads, parameters, body in entries:
        kernel = Kernel(name, target, most_threads, parameters_of(parameters), {})
        words = set(re.findall(r"[\w$]+", body)) if of_file else set()
        place_shared([one for one in of_file if one[3] in words], kernel.shared)
        for statement in statements_of(body):
            read_statement(kernel, statement)
        kernels.append(kernel)
    return kernels
