#include "cpu/counters/event_tables.hpp"

#include <algorithm>
#include <array>

namespace roof::cpu {
namespace {

constexpr std::array intel_events{
    CountedEvent{"FP_ARITH_INST_RETIRED:SCALAR_SINGLE", Counts::fp32, 1},
    CountedEvent{"FP_ARITH_INST_RETIRED:128B_PACKED_SINGLE", Counts::fp32, 4},
    CountedEvent{"FP_ARITH_INST_RETIRED:256B_PACKED_SINGLE", Counts::fp32, 8},
    CountedEvent{"FP_ARITH_INST_RETIRED:512B_PACKED_SINGLE", Counts::fp32, 16},
    CountedEvent{"FP_ARITH_INST_RETIRED:SCALAR_DOUBLE", Counts::fp64, 1},
    CountedEvent{"FP_ARITH_INST_RETIRED:128B_PACKED_DOUBLE", Counts::fp64, 2},
    CountedEvent{"FP_ARITH_INST_RETIRED:256B_PACKED_DOUBLE", Counts::fp64, 4},
    CountedEvent{"FP_ARITH_INST_RETIRED:512B_PACKED_DOUBLE", Counts::fp64, 8},
    CountedEvent{"L1D:REPLACEMENT", Counts::into_l1},
    CountedEvent{"L2_LINES_IN:ALL", Counts::into_l2},
    CountedEvent{"LONGEST_LAT_CACHE:MISS", Counts::from_memory},
};

constexpr std::array zen2_events{
    CountedEvent{"RETIRED_SSE_AVX_FLOPS:ANY", Counts::any},
    CountedEvent{"DATA_CACHE_REFILLS_FROM_SYSTEM:MABRESP_LCL_L2:LS_MABRESP_LCL_CACHE:LS_MABRESP_LCL_DRAM:"
                 "LS_MABRESP_RMT_CACHE:LS_MABRESP_RMT_DRAM",
                 Counts::into_l1},
    CountedEvent{"HARDWARE_PREFETCH_DATA_CACHE_FILLS:MABRESP_LCL_L2:LS_MABRESP_LCL_CACHE:LS_MABRESP_LCL_DRAM:"
                 "LS_MABRESP_RMT_CACHE:LS_MABRESP_RMT_DRAM",
                 Counts::into_l1},
    CountedEvent{"DATA_CACHE_REFILLS_FROM_SYSTEM:LS_MABRESP_LCL_DRAM:LS_MABRESP_RMT_DRAM", Counts::from_memory},
    CountedEvent{"HARDWARE_PREFETCH_DATA_CACHE_FILLS:LS_MABRESP_LCL_DRAM:LS_MABRESP_RMT_DRAM", Counts::from_memory},
};

constexpr std::array zen3_events{
    CountedEvent{"RETIRED_SSE_AVX_FLOPS:ANY", Counts::any},
    CountedEvent{"ANY_DATA_CACHE_FILLS_FROM_SYSTEM:LCL_L2:INT_CACHE:EXT_CACHE_LCL:MEM_IO_LCL:EXT_CACHE_RMT:MEM_IO_RMT",
                 Counts::into_l1},
    CountedEvent{"ANY_DATA_CACHE_FILLS_FROM_SYSTEM:INT_CACHE:EXT_CACHE_LCL:MEM_IO_LCL:EXT_CACHE_RMT:MEM_IO_RMT",
                 Counts::into_l2},
    CountedEvent{"ANY_DATA_CACHE_FILLS_FROM_SYSTEM:MEM_IO_LCL:MEM_IO_RMT", Counts::from_memory},
};

constexpr std::array zen4_events{
    CountedEvent{"RETIRED_SSE_AVX_FLOPS:ANY", Counts::any},
    CountedEvent{"ANY_DATA_CACHE_FILLS_FROM_SYSTEM:LCL_L2:LOCAL_CCX:NEAR_CACHE_NEAR_FAR:DRAM_IO_NEAR:"
                 "FAR_CACHE_NEAR_FAR:DRAM_IO_FAR:ALT_MEM_NEAR_FAR",
                 Counts::into_l1},
    CountedEvent{"ANY_DATA_CACHE_FILLS_FROM_SYSTEM:LOCAL_CCX:NEAR_CACHE_NEAR_FAR:DRAM_IO_NEAR:FAR_CACHE_NEAR_FAR:"
                 "DRAM_IO_FAR:ALT_MEM_NEAR_FAR",
                 Counts::into_l2},
    CountedEvent{"ANY_DATA_CACHE_FILLS_FROM_SYSTEM:DRAM_IO_NEAR:DRAM_IO_FAR:ALT_MEM_NEAR_FAR", Counts::from_memory},
};

constexpr std::string_view of_intel =
    "From memory are the misses of the last cache, without its own prefetches: a lower bound.";
constexpr std::string_view of_amd =
    "FLOPs of single and double precision are counted together; lines are those that reach L1, so what the prefetcher "
    "of L2 brings and L1 never asks for is missing: a lower bound.";

constexpr std::array tables{
    EventTable{"Skylake-SP and Cascade Lake", "skx", intel_events, of_intel},
    EventTable{"Ice Lake-SP", "icx", intel_events, of_intel},
    EventTable{"Sapphire Rapids and Emerald Rapids", "spr", intel_events, of_intel},
    EventTable{"Zen 2", "amd64_fam17h_zen2", zen2_events, of_amd},
    EventTable{"Zen 3", "amd64_fam19h_zen3", zen3_events, of_amd},
    EventTable{"Zen 4", "amd64_fam19h_zen4", zen4_events, of_amd},
};

std::string_view pmu_of_intel(int family, int model)
{
    if (family != 6) return {};
    if (model == 85) return "skx";
    if (model == 106 || model == 108) return "icx";
    return model == 143 || model == 207 ? "spr" : "";
}

std::string_view pmu_of_amd(int family, int model)
{
    const auto between = [&](int low, int high) { return model >= low && model <= high; };
    if (family == 0x17) return model >= 0x30 ? "amd64_fam17h_zen2" : "";
    if (family != 0x19) return {};
    const bool zen4 = between(0x10, 0x1F) || between(0x60, 0x7F) || between(0xA0, 0xAF);
    return zen4 ? "amd64_fam19h_zen4" : "amd64_fam19h_zen3";
}

}  // namespace

const EventTable* event_table(std::string_view vendor, int family, int model)
{
    std::string_view pmu;
    if (vendor == "GenuineIntel") pmu = pmu_of_intel(family, model);
    if (vendor == "AuthenticAMD") pmu = pmu_of_amd(family, model);
    const auto table = std::ranges::find(tables, pmu, &EventTable::pmu);
    return table == tables.end() ? nullptr : &*table;
}

std::span<const EventTable> event_tables()
{
    return tables;
}

}  // namespace roof::cpu
