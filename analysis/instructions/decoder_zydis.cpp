#include "analysis/instructions/executed_work.hpp"
#include "ert/base/ranges.hpp"

#include <Zydis/Zydis.h>

#include <array>

namespace roof::analysis {
namespace {

struct Decoded {
    ZydisDecodedInstruction instruction;
    std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands;
};

std::optional<Decoded> decoded(std::span<const std::uint8_t> code)
{
    ZydisDecoder decoder;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    Decoded found;
    if (ZYAN_FAILED(
            ZydisDecoderDecodeFull(&decoder, code.data(), code.size(), &found.instruction, found.operands.data())))
        return std::nullopt;
    return found;
}

/// FLOPs of one number of the result; 0 of anything that is no arithmetic.
double flops_of_vector(std::string_view stem)
{
    static constexpr std::array<std::string_view, 14> one{"add", "sub",   "mul",    "div",  "sqrt", "min",   "max",
                                                          "rcp", "rsqrt", "addsub", "hadd", "hsub", "rcp14", "rsqrt14"};
    if (is_in(stem, one)) return 1;
    for (const std::string_view fused : {"fmadd", "fmsub", "fnmadd", "fnmsub", "fmaddsub", "fmsubadd"})
        if (stem.starts_with(fused) && stem.size() == fused.size() + 3) return 2;  // 132, 213, 231
    return stem == "dp" ? 2 : 0;
}

/// x87 computes in fp80 whatever the size of its operands.
double flops_of_x87(std::string_view name)
{
    static constexpr std::array<std::string_view, 24> one{
        "fadd", "faddp", "fiadd", "fsub",  "fsubp",  "fisub",  "fsubr", "fsubrp", "fisubr", "fmul",  "fmulp",  "fimul",
        "fdiv", "fdivp", "fidiv", "fdivr", "fdivrp", "fidivr", "fsqrt", "fsin",   "fcos",   "fptan", "fpatan", "f2xm1"};
    if (is_in(name, one) || name == "fyl2x" || name == "fyl2xp1") return 1;
    return name == "fsincos" ? 2 : 0;
}

bool is_x87(const ZydisDecodedInstruction& instruction)
{
    return instruction.meta.isa_ext == ZYDIS_ISA_EXT_X87;
}

std::string_view set_of(const ZydisDecodedInstruction& instruction)
{
    if (is_x87(instruction)) return "x87";
    if (instruction.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX) return "AVX-512";
    if (instruction.encoding != ZYDIS_INSTRUCTION_ENCODING_VEX) return "SSE";
    return instruction.meta.isa_ext == ZYDIS_ISA_EXT_FMA ? "FMA" : "AVX";
}

/// Sets the FLOPs of an instruction on vector registers, whose name ends in ps, pd, ss or sd.
void count_vector(const Decoded& found, std::string_view name, InstructionWork& work)
{
    if (name.starts_with('v')) name.remove_prefix(1);
    if (name.size() < 4) return;
    const std::string_view format = name.substr(name.size() - 2);
    const bool is_double = format[1] == 'd', is_packed = format[0] == 'p';
    if ((format[0] != 'p' && format[0] != 's') || (format[1] != 'd' && format[1] != 's')) return;
    const double each = flops_of_vector(name.substr(0, name.size() - 2));
    if (each == 0) return;
    const int bits = found.operands[0].size;
    const int lanes = is_packed ? bits / (is_double ? 64 : 32) : 1;
    work.precision = is_double ? "fp64" : "fp32";
    work.instruction_set = set_of(found.instruction);
    work.width = is_packed ? bits : 0;
    work.flops = each * lanes;
}

double bytes_of_operands(const Decoded& found)
{
    double bits = 0;
    for (int i = 0; i < found.instruction.operand_count; ++i) {
        const ZydisDecodedOperand& operand = found.operands[static_cast<std::size_t>(i)];
        if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || operand.mem.type == ZYDIS_MEMOP_TYPE_AGEN) continue;
        if ((operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0) bits += operand.size;
        if ((operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0) bits += operand.size;
    }
    return bits / 8;
}

bool moves_nothing(const ZydisDecodedInstruction& instruction)
{
    return instruction.meta.category == ZYDIS_CATEGORY_PREFETCH || instruction.meta.category == ZYDIS_CATEGORY_NOP ||
           instruction.meta.category == ZYDIS_CATEGORY_WIDENOP;
}

bool is_masked(const ZydisDecodedInstruction& instruction)
{
    return instruction.avx.mask.mode != ZYDIS_MASK_MODE_INVALID &&
           instruction.avx.mask.mode != ZYDIS_MASK_MODE_DISABLED;
}

}  // namespace

std::string missing_decoder()
{
    return {};
}

std::optional<InstructionWork> work_of(std::span<const std::uint8_t> code)
{
    const std::optional<Decoded> found = decoded(code);
    if (!found) return std::nullopt;
    InstructionWork work;
    const std::string_view name = ZydisMnemonicGetString(found->instruction.mnemonic);
    if (is_x87(found->instruction)) {
        work.flops = flops_of_x87(name);
        if (work.flops > 0) work.precision = "fp80", work.instruction_set = "x87";
    } else {
        count_vector(*found, name, work);
    }
    if (work.flops > 0 && is_masked(found->instruction)) return std::nullopt;
    if (!moves_nothing(found->instruction)) work.bytes = bytes_of_operands(*found);
    return work;
}

std::string instruction_name(std::span<const std::uint8_t> code)
{
    const std::optional<Decoded> found = decoded(code);
    if (!found) return {};
    std::string name = ZydisMnemonicGetString(found->instruction.mnemonic);
    for (char& c : name)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    const std::string_view set = ZydisISASetGetString(found->instruction.meta.isa_set);  // "AVX512F_512"
    return name + " (" + std::string(set.substr(0, set.find('_'))) + ")";
}

}  // namespace roof::analysis
