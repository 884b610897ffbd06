// Figures per core, one row each, and the spec rates derived from them for every ceiling that a probe measures. The
// source of each figure is the guide named in its row or in the comment beside it.
#include "cpu/theory.hpp"

#include "cpu/isa.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace roof::cpu {

namespace {

// AMD: two multiply-add pipes and two separate add pipes, all of the datapath's width. Loads, stores and the path to L2
// are from the chapters "Floating-Point Unit", "Load-Store Unit" and "L2 Cache" of each guide. Zen splits 256-bit
// instructions. Its guide does not say whether multiply-adds leave the add pipes free, so there is no rate for both
// together.
constexpr Figures zen{.name = "Zen",
                      .source = "AMD Zen, Software Optimization Guide 55723",
                      .datapath_bits = 128,
                      .narrow = {2, 2, 0},
                      .wide = {2, 2, 0},
                      .load_bytes = 32,
                      .store_bytes = 16,
                      .access_bytes = 32,
                      .fill_bytes = 32};
constexpr Figures zen2{.name = "Zen 2",
                       .source = "AMD Zen 2, Software Optimization Guide 56305",
                       .datapath_bits = 256,
                       .narrow = {2, 2, 4},
                       .wide = {2, 2, 4},
                       .load_bytes = 64,
                       .store_bytes = 32,
                       .access_bytes = 96,
                       .fill_bytes = 32};
constexpr Figures zen3 = zen2.as("Zen 3", "AMD Zen 3, Software Optimization Guide 56665");
constexpr Figures zen4{.name = "Zen 4",
                       .source = "AMD Zen 4, Software Optimization Guide 57647",
                       .datapath_bits = 256,
                       .narrow = {2, 2, 4},
                       .wide = {2, 2, 4},
                       .bf16_dots = 2,
                       .int8_dots = 2,
                       .load_bytes = 64,
                       .store_bytes = 32,
                       .access_bytes = 96,
                       .fill_bytes = 32};
constexpr Figures zen5{.name = "Zen 5",
                       .source = "AMD Zen 5, Software Optimization Guide 58455",
                       .datapath_bits = 512,
                       .narrow = {2, 2, 4},
                       .wide = {2, 2, 4},
                       .bf16_dots = 2,
                       .int8_dots = 2,
                       .load_bytes = 128,
                       .store_bytes = 64,
                       .access_bytes = 192,
                       .fill_bytes = 64};
// Strix Point and Krackan have half the datapath width. The guide does not give their load and store rates.
constexpr Figures zen5_mobile{.name = "Zen 5 with a 256-bit datapath",
                              .source = "AMD Zen 5, Software Optimization Guide 58455",
                              .datapath_bits = 256,
                              .narrow = {2, 2, 4},
                              .wide = {2, 2, 4},
                              .bf16_dots = 2,
                              .int8_dots = 2};

// Intel servers: two ports for any arithmetic; 512-bit instructions use ports 0+1 together, and port 5. From Golden
// Cove on, ports 1 and 5 have separate adders for up to 256 bits. Models with a disabled port 5 unit do half of this.
// L2 sustains less than its 64 bytes per clock. No guide gives the rate of bf16 dot products, so there is none here.
// The matrix unit's figures are from the chapter on AMX.
constexpr Figures skylake{.name = "Skylake, server",
                          .source = "Intel Skylake server, Optimization Reference Manual 248966",
                          .datapath_bits = 512,
                          .narrow = {2, 2, 2},
                          .wide = {2, 2, 2},
                          .int8_dots = 2,
                          .load_bytes = 128,
                          .store_bytes = 64,
                          .access_bytes = 192,
                          .fill_bytes = 64};
constexpr Figures sunny_cove = skylake.as("Sunny Cove", "Intel Sunny Cove, Optimization Reference Manual 248966");
constexpr Figures golden_cove{.name = "Golden Cove",
                              .source = "Intel Golden Cove, Optimization Reference Manual 248966",
                              .datapath_bits = 512,
                              .narrow = {2, 2, 3},
                              .wide = {2, 2, 2},
                              .int8_dots = 2,
                              .bf16_tile = 1024,
                              .int8_tile = 2048,
                              .load_bytes = 128,
                              .store_bytes = 64,
                              .access_bytes = 192,
                              .fill_bytes = 64};

struct Row {
    std::string_view vendor;
    int family;
    int first_model;
    int last_model;
    const Figures* figures;
};

constexpr std::string_view amd = "AuthenticAMD";
constexpr std::string_view intel = "GenuineIntel";

constexpr std::array<Row, 18> rows{{
    {amd, 23, 0x00, 0x2f, &zen},
    {amd, 23, 0x30, 0x7f, &zen2},
    {amd, 23, 0x90, 0xaf, &zen2},
    {amd, 25, 0x00, 0x0f, &zen3},
    {amd, 25, 0x20, 0x5f, &zen3},
    {amd, 25, 0x10, 0x1f, &zen4},
    {amd, 25, 0x60, 0x7f, &zen4},
    {amd, 25, 0xa0, 0xaf, &zen4},
    {amd, 26, 0x00, 0x1f, &zen5},         // Turin
    {amd, 26, 0x20, 0x2f, &zen5_mobile},  // Strix Point
    {amd, 26, 0x40, 0x4f, &zen5},         // Granite Ridge
    {amd, 26, 0x60, 0x6f, &zen5_mobile},  // Krackan
    {intel, 6, 85, 85, &skylake},         // Skylake-SP, Cascade Lake
    {intel, 6, 106, 106, &sunny_cove},    // Ice Lake-SP
    {intel, 6, 108, 108, &sunny_cove},    // Ice Lake-D
    {intel, 6, 143, 143, &golden_cove},   // Sapphire Rapids
    {intel, 6, 207, 207, &golden_cove},   // Emerald Rapids: Raptor Cove, the same ports
    {intel, 6, 173, 173, &golden_cove},   // Granite Rapids: Redwood Cove, the same ports
}};

/// Memory operations per element: bytes read and written, and bytes that enter and leave L1 when the arrays lie in L2.
/// A store that misses reads its line first; an in-place store hits.
struct Traffic {
    std::string_view operation;
    int loads;
    int stores;
    int lines_in;
    int lines_out;
};

constexpr std::array<Traffic, 5> traffic_table{{
    {"load", 1, 0, 1, 0},
    {"store", 0, 1, 1, 1},
    {"copy", 1, 1, 2, 1},
    {"update", 1, 1, 1, 1},
    {"triad", 2, 1, 3, 1},
}};

constexpr int bits_per_byte = 8;

bool has(const std::vector<std::string>& words, std::string_view word)
{
    return std::find(words.begin(), words.end(), word) != words.end();
}

/// Collects the nonzero rates.
class SpecRates {
  public:
    explicit SpecRates(const Figures& figures) : figures_(figures) {}

    void bandwidth(std::string_view level, std::string_view operation, double bytes)
    {
        add({"bandwidth", std::string(level), std::string(operation), {}, {}, bytes, {}});
    }
    void compute(std::string_view operation, std::string_view isa, std::string_view precision, double flops)
    {
        add({"compute", "core", std::string(operation), std::string(isa), std::string(precision), flops, {}});
    }
    std::vector<SpecRate> take() { return std::move(all_); }

  private:
    void add(SpecRate spec)
    {
        spec.source = figures_.source;
        if (spec.per_clock > 0) all_.push_back(std::move(spec));
    }

    const Figures& figures_;
    std::vector<SpecRate> all_;
};

void spec_bandwidth(const Figures& core, SpecRates& rates)
{
    for (const Traffic& traffic : traffic_table) {
        const double bytes = traffic.loads + traffic.stores;
        const double clocks = core.access_bytes > 0
                                  ? std::max({traffic.loads / core.load_bytes, traffic.stores / core.store_bytes,
                                              bytes / core.access_bytes})
                                  : 0;
        const double lines = std::max(traffic.lines_in, traffic.lines_out);
        rates.bandwidth("L1", traffic.operation, clocks > 0 ? bytes / clocks : 0);
        rates.bandwidth("L2", traffic.operation, bytes / lines * core.fill_bytes);
    }
}

/// The number of datapaths that an instruction of that width occupies.
double slots(const Figures& core, int bits)
{
    return std::max(1.0, static_cast<double>(bits) / core.datapath_bits);
}

const Pipes& pipes_of(const Figures& core, int bits)
{
    return bits > 256 ? core.wide : core.narrow;
}

/// A mix may have any ratio of its kinds, so its rate is the highest over all ratios.
void spec_mixes(const Figures& core, const Isa& isa, Precision precision, SpecRates& rates)
{
    const int element = traits(precision).storage_bytes;
    const int bits = isa.operand_bytes(element) * bits_per_byte;
    const Pipes& pipes = pipes_of(core, bits);
    const int elements = isa.operand_bytes(element) / element;
    const double lanes = elements / slots(core, bits);
    const double both = std::min(pipes.total, pipes.fma + pipes.add);
    const double best = both > 0 ? 2 * pipes.fma + std::min(pipes.add, both - pipes.fma) : 0;
    const std::array<std::pair<std::string_view, double>, 6> flops{{{"fma", 2 * pipes.fma},
                                                                    {"mul", pipes.fma},
                                                                    {"add", pipes.add},
                                                                    {"mul+add", both},
                                                                    {"fma+add", best},
                                                                    {"best", best}}};
    for (const auto& [operation, per_lane] : flops)
        rates.compute(operation, isa.name, traits(precision).name, per_lane * lanes);
}

/// A dot product multiplies and adds as many pairs as fit in a register.
void spec_dots(const Figures& core, const Isa& isa, const Machine& machine, SpecRates& rates)
{
    const double registers = isa.register_bytes / slots(core, isa.register_bytes * bits_per_byte);
    const bool is_wide = isa.encoding == Encoding::evex;
    if (is_wide && has(machine.features, "avx512_bf16"))
        rates.compute("dot", isa.name, "bf16", 2 * core.bf16_dots * registers / 2);
    if (has(machine.features, is_wide ? "avx512_vnni" : "avx_vnni"))
        rates.compute("dot", isa.name, "int8", 2 * core.int8_dots * registers);
}

void spec_compute(const Figures& core, const Machine& machine, SpecRates& rates)
{
    for (const Isa& isa : isa_table) {
        if (!has(machine.isa, isa.name) || isa.register_bytes * bits_per_byte > 512) continue;
        spec_mixes(core, isa, Precision::fp64, rates);
        spec_mixes(core, isa, Precision::fp32, rates);
        const bool is_vex = isa.encoding == Encoding::vex || isa.encoding == Encoding::evex;
        if (isa.encoding == Encoding::evex && has(machine.features, "avx512_fp16"))
            spec_mixes(core, isa, Precision::fp16, rates);
        if (is_vex) spec_dots(core, isa, machine, rates);
    }
    if (has(machine.features, "amx_bf16")) rates.compute("tile", "amx", "bf16", core.bf16_tile);
    if (has(machine.features, "amx_int8")) rates.compute("tile", "amx", "int8", core.int8_tile);
}

}  // namespace

const Figures* figures_of(const Machine& machine)
{
    const auto found = std::find_if(rows.begin(), rows.end(), [&](const Row& row) {
        return row.vendor == machine.vendor && row.family == machine.family && row.first_model <= machine.model &&
               machine.model <= row.last_model;
    });
    return found == rows.end() ? nullptr : found->figures;
}

std::vector<SpecRate> spec_rates_of(const Machine& machine)
{
    const Figures* const core = figures_of(machine);
    if (core == nullptr) return {};
    SpecRates rates(*core);
    spec_bandwidth(*core, rates);
    spec_compute(*core, machine, rates);
    return rates.take();
}

}  // namespace roof::cpu
