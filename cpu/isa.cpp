// The instruction sets that can run: the processor supports them (CPUID) and the operating system saves their state
// (XGETBV).
#include "cpu/isa.hpp"

#include "ert/base/names.hpp"

#include <xbyak/xbyak_util.h>

#include <algorithm>
#include <cstdint>

#include <sys/syscall.h>
#include <unistd.h>

namespace roof::cpu {
namespace {

using XbyakCpu = Xbyak::util::Cpu;

struct Feature {
    std::string_view name;
    XbyakCpu::Type type;
};

const std::array<Feature, 8> feature_table{{
    {"fma", XbyakCpu::tFMA},
    {"f16c", XbyakCpu::tF16C},
    {"avx_vnni", XbyakCpu::tAVX_VNNI},
    {"avx512_vnni", XbyakCpu::tAVX512_VNNI},
    {"avx512_bf16", XbyakCpu::tAVX512_BF16},
    {"avx512_fp16", XbyakCpu::tAVX512_FP16},
    {"amx_int8", XbyakCpu::tAMX_INT8},
    {"amx_bf16", XbyakCpu::tAMX_BF16},
}};

/// Xbyak checks XGETBV for AVX and AVX-512 but not for tiles (bits 17 and 18).
bool tiles_are_saved(const XbyakCpu& cpu)
{
    constexpr std::uint64_t tile_state = 3ULL << 17;
    return cpu.has(XbyakCpu::tOSXSAVE) && (XbyakCpu::getXfeature() & tile_state) == tile_state;
}

/// Linux allows tiles only to processes that request them.
bool tiles_are_granted()
{
    constexpr long request_permission = 0x1023;
    constexpr long tile_data = 18;
    return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}

}  // namespace

const Isa& parse_isa(std::string_view name)
{
    const auto found = std::ranges::find(isa_table, name, &Isa::name);
    if (found != isa_table.end()) return *found;
    if (name == tile_isa.name) return tile_isa;
    std::vector<std::string> legal = names_in(isa_table);
    legal.emplace_back(tile_isa.name);
    throw InputError(unknown_word("instruction set", name, legal));
}

std::vector<std::string> usable_isas()
{
    const XbyakCpu cpu;
    std::vector<std::string> usable;
    if (cpu.has(XbyakCpu::tSSE2)) usable = {"scalar", "sse"};
    if (cpu.has(XbyakCpu::tAVX2)) usable.emplace_back("avx2");
    if (cpu.has(XbyakCpu::tAVX512F)) usable.emplace_back("avx512");
    return usable;
}

std::vector<std::string> usable_features()
{
    const XbyakCpu cpu;
    const bool tiles = tiles_are_saved(cpu) && tiles_are_granted();
    std::vector<std::string> usable;
    for (const Feature& feature : feature_table) {
        const bool needs_tiles = feature.name.starts_with("amx");
        if (cpu.has(feature.type) && (!needs_tiles || tiles)) usable.emplace_back(feature.name);
    }
    return usable;
}

}  // namespace roof::cpu
