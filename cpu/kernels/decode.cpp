#include "cpu/kernels/decode.hpp"

#include "ert/base/error.hpp"

#include <Zydis/Zydis.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace roof::cpu {
namespace {

struct Span {
    int from;
    int bytes;
};

/// The bytes that an iteration reads and writes behind each pointer, and what it adds to each register.
struct Iteration {
    std::map<int, std::vector<Span>> reads;
    std::map<int, std::vector<Span>> writes;
    std::map<int, long long> advances;
};

[[noreturn]] void fail(const std::string& what)
{
    throw Error("the loop " + what);
}

/// Whether the spans cover each byte from 0 to `bytes` once.
bool covers(std::vector<Span> spans, int bytes)
{
    std::ranges::sort(spans, {}, &Span::from);
    int end = 0;
    for (const Span& span : spans) {
        if (span.from != end) return false;
        end += span.bytes;
    }
    return end == bytes;
}

Iteration add_up(const StreamKernel& kernel)
{
    const std::vector<Instruction> code = decode(kernel.loop());
    const bool counts = kernel.form().addressing == Addressing::counter;
    Iteration iteration;
    for (const Instruction& instruction : code) {
        if (instruction.kind == InstructionKind::other) fail("has an unknown instruction");
        if (instruction.kind == InstructionKind::branch && &instruction != &code.back()) fail("has a branch");
        if (instruction.kind == InstructionKind::advance)
            iteration.advances[instruction.register_index] += instruction.constant;
        const bool moves = instruction.kind != InstructionKind::prefetch;
        if (!moves || (!instruction.reads_memory && !instruction.writes_memory)) continue;
        const MemoryOperand& address = instruction.address;
        if (!iteration.advances.empty()) fail("accesses memory after it has advanced");
        if (address.index != (counts ? StreamKernel::counter_register : -1)) fail("has another index register");
        if (instruction.writes_memory && instruction.bypasses_caches != kernel.operation().nontemporal)
            fail("has another kind of store");
        auto& spans = instruction.writes_memory ? iteration.writes : iteration.reads;
        spans[address.base].push_back({address.displacement, instruction.bytes});
    }
    const Instruction& last = code.back();
    if (last.kind != InstructionKind::branch || last.constant != -static_cast<long long>(kernel.loop().size()))
        fail("does not return to its start");
    return iteration;
}

struct Meaning {
    InstructionKind kind = InstructionKind::other;
    Element element = Element::none;
    bool is_scalar = false;  ///< one number, not a vector
};

bool is_move(std::string_view name)
{
    const auto begins = [&](std::string_view start) { return name.starts_with(start); };
    return begins("movap") || begins("movup") || begins("movdq") || begins("movntps") || begins("movntpd") ||
           begins("movntdq") || name == "movss" || name == "movsd";
}

/// The element of a format: ps, pd or ph, or for one number ss, sd or sh.
Element element_of(std::string_view format)
{
    if (format[1] == 's') return Element::fp32;
    return format[1] == 'd' ? Element::fp64 : Element::fp16;
}

Meaning meaning(std::string_view name)
{
    static constexpr std::array arithmetic{
        std::pair{"add", InstructionKind::add},      std::pair{"sub", InstructionKind::add},
        std::pair{"mul", InstructionKind::mul},      std::pair{"div", InstructionKind::div},
        std::pair{"sqrt", InstructionKind::sqrt},    std::pair{"max", InstructionKind::maximum},
        std::pair{"fmadd213", InstructionKind::fma}, std::pair{"fmadd231", InstructionKind::fma}};
    for (const auto& [stem, kind] : arithmetic) {
        const std::string_view format = name.starts_with(stem) ? name.substr(std::string_view(stem).size()) : "";
        if (format.size() == 2) return {kind, element_of(format), format[0] == 's'};
    }
    if (name == "pdpbusd") return {InstructionKind::dot, Element::int8};
    if (name == "dpbf16ps") return {InstructionKind::dot, Element::bf16};
    if (name == "tdpbssd") return {InstructionKind::tile, Element::int8};
    if (name == "tdpbf16ps") return {InstructionKind::tile, Element::bf16};
    if (name == "paddq") return {InstructionKind::add_words};
    if (name == "por" || name == "pord" || name == "porq") return {InstructionKind::join_bits};
    if (name.starts_with("prefetch")) return {InstructionKind::prefetch};
    if (is_move(name)) return {InstructionKind::load, Element::none, name.starts_with("movs")};
    if (name == "add" || name == "sub") return {InstructionKind::advance};
    if (name == "jnz") return {InstructionKind::branch};
    return {};
}

bool is_general(const ZydisDecodedOperand& operand)
{
    return operand.type == ZYDIS_OPERAND_TYPE_REGISTER &&
           ZydisRegisterGetClass(operand.reg.value) <= ZYDIS_REGCLASS_GPR64;
}

MemoryOperand address_of(const ZydisDecodedOperandMem& memory)
{
    if (memory.index != ZYDIS_REGISTER_NONE && memory.scale != 1)
        throw Error("a scaled index that no kernel should have");
    if (ZydisRegisterGetClass(memory.base) != ZYDIS_REGCLASS_GPR64)
        throw Error("an address that no kernel should have");
    return {.base = ZydisRegisterGetId(memory.base),
            .index = memory.index == ZYDIS_REGISTER_NONE ? -1 : ZydisRegisterGetId(memory.index),
            .displacement = static_cast<int>(memory.disp.value)};
}

Instruction control(InstructionKind kind, std::string_view name, std::span<const ZydisDecodedOperand> operands)
{
    const ZydisDecodedOperand& last = operands.back();
    if (kind == InstructionKind::branch) return {.kind = kind, .constant = last.imm.value.s};
    if (kind != InstructionKind::advance || operands.front().size != 64 || last.type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
        throw Error("an instruction that no kernel should have");
    return {.kind = kind,
            .register_index = ZydisRegisterGetId(operands.front().reg.value),
            .constant = name == "add" ? last.imm.value.s : -last.imm.value.s};
}

Instruction vectors(Meaning what, std::string_view name, std::span<const ZydisDecodedOperand> operands)
{
    Instruction instruction{.kind = what.kind, .element = what.element};
    std::vector<int> registers;
    for (const ZydisDecodedOperand& operand : operands) {
        if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) {
            instruction.address = address_of(operand.mem);
            (&operand == &operands.front() && what.kind == InstructionKind::load ? instruction.writes_memory
                                                                                 : instruction.reads_memory) = true;
        }
        if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER &&
            ZydisRegisterGetClass(operand.reg.value) != ZYDIS_REGCLASS_MASK) {
            registers.push_back(ZydisRegisterGetId(operand.reg.value));
            instruction.bytes = std::max(instruction.bytes, operand.size / 8);
        }
    }
    if (what.is_scalar) instruction.bytes = operands.back().element_size / 8;
    if (registers.empty()) return instruction;
    instruction.register_index = registers.front();
    instruction.sources.assign(registers.begin() + 1, registers.end());
    if (instruction.writes_memory) instruction.kind = InstructionKind::store;
    instruction.bypasses_caches = instruction.writes_memory && name.starts_with("movnt");
    return instruction;
}

}  // namespace

void check_loop(const StreamKernel& kernel)
{
    const ArrayOperation& operation = kernel.operation();
    const Form& form = kernel.form();
    const auto step = static_cast<int>(StreamKernel::bytes_per_iteration(kernel.isa(), form)) / form.parts;
    const bool counts = form.addressing == Addressing::counter;
    const Iteration iteration = add_up(kernel);

    std::map<int, long long> advances{{StreamKernel::counter_register, counts ? step : -step}};
    std::size_t read = 0;
    for (int array = 0; array < operation.arrays(); ++array) {
        const bool is_destination = array == operation.sources;
        for (int part = 0; part < form.parts; ++part) {
            const int pointer = kernel.pointer_of(array, part);
            if (!counts) advances[pointer] = step;
            if (!is_destination || operation.in_place) {
                ++read;
                const auto found = iteration.reads.find(pointer);
                if (found == iteration.reads.end() || !covers(found->second, step))
                    fail("does not load each byte once");
            }
            if (!is_destination) continue;
            const auto found = iteration.writes.find(pointer);
            if (found == iteration.writes.end() || !covers(found->second, step)) fail("does not store each byte once");
        }
    }
    const auto written = static_cast<std::size_t>(operation.stores) * static_cast<std::size_t>(form.parts);
    if (iteration.reads.size() != read || iteration.writes.size() != written) fail("accesses other memory");
    if (iteration.advances != advances) fail("does not advance by the bytes that it accesses");
}

std::vector<Instruction> decode(std::span<const std::uint8_t> code)
{
    ZydisDecoder decoder;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    std::vector<Instruction> instructions;
    while (!code.empty()) {
        ZydisDecodedInstruction found;
        std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> all;
        if (ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, code.data(), code.size(), &found, all.data())))
            throw Error("code ends in an instruction, or cannot be decoded");
        const std::span operands(all.data(), found.operand_count_visible);
        std::string_view name = ZydisMnemonicGetString(found.mnemonic);
        if (name.starts_with('v')) name.remove_prefix(1);
        const Meaning what = meaning(name);
        const bool controls = what.kind == InstructionKind::branch || operands.empty() || is_general(operands.front());
        instructions.push_back(controls ? control(what.kind, name, operands) : vectors(what, name, operands));
        code = code.subspan(found.length);
    }
    return instructions;
}

}  // namespace roof::cpu
