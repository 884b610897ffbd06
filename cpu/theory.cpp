// The spec rates of every ceiling that a probe measures, derived from the figures of a core.
#include "cpu/theory.hpp"

#include "cpu/isa.hpp"
#include "ert/method/bench/array_operation.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace roof::cpu {
namespace {

constexpr int bits_per_byte = 8;

bool has(const std::vector<std::string>& words, std::string_view word)
{
    return std::find(words.begin(), words.end(), word) != words.end();
}

class SpecRates {
  public:
    explicit SpecRates(const CoreChip& core) : core_(core) {}

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
        spec.source = core_.source;
        if (spec.per_clock > 0) all_.push_back(std::move(spec));
    }

    const CoreChip& core_;
    std::vector<SpecRate> all_;
};

/// Of arrays in L2, each line that is read or written enters L1, since a store that misses reads its line first.
void spec_bandwidth(const CoreChip& core, SpecRates& rates)
{
    for (const ArrayOperation& operation : usual_array_operations()) {
        if (operation.nontemporal) continue;
        const double bytes = operation.moves();
        const double clocks = core.access_bytes > 0
                                  ? std::max({operation.loads() / core.load_bytes, operation.stores / core.store_bytes,
                                              bytes / core.access_bytes})
                                  : 0;
        rates.bandwidth("L1", operation.name, clocks > 0 ? bytes / clocks : 0);
        rates.bandwidth("L2", operation.name, bytes / operation.arrays() * core.fill_bytes);
    }
}

/// The number of datapaths that an instruction of that width occupies.
double slots(const CoreChip& core, int bits)
{
    return std::max(1.0, static_cast<double>(bits) / core.datapath_bits);
}

const Pipes& pipes_of(const CoreChip& core, int bits)
{
    return bits > 256 ? core.wide : core.narrow;
}

/// A mix may have any ratio of its kinds, so its rate is the highest over all ratios.
void spec_mixes(const CoreChip& core, const Isa& isa, Precision precision, SpecRates& rates)
{
    const int element = traits(precision).storage_bytes;
    const int bits = isa.operand_bytes(element) * bits_per_byte;
    const Pipes& pipes = pipes_of(core, bits);
    const int elements = isa.operand_bytes(element) / element;
    const double lanes = elements / slots(core, bits);
    const double both = std::min(pipes.both, pipes.fma + pipes.add);
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
void spec_dots(const CoreChip& core, const Isa& isa, const Machine& machine, SpecRates& rates)
{
    const double registers = isa.register_bytes / slots(core, isa.register_bytes * bits_per_byte);
    const bool is_wide = isa.encoding == Encoding::evex;
    if (is_wide && has(machine.features, "avx512_bf16"))
        rates.compute("dot", isa.name, "bf16", 2 * core.bf16_dots * registers / 2);
    if (has(machine.features, is_wide ? "avx512_vnni" : "avx_vnni"))
        rates.compute("dot", isa.name, "int8", 2 * core.int8_dots * registers);
}

void spec_compute(const CoreChip& core, const Machine& machine, SpecRates& rates)
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

std::vector<SpecRate> spec_rates_of(const Machine& machine)
{
    const CoreChip* const core = core_chip(machine.vendor, machine.family, machine.model);
    return core == nullptr ? std::vector<SpecRate>{} : spec_rates_of(machine, *core);
}

std::vector<SpecRate> spec_rates_of(const Machine& machine, const CoreChip& core)
{
    SpecRates rates(core);
    spec_bandwidth(core, rates);
    spec_compute(core, machine, rates);
    return rates.take();
}

}  // namespace roof::cpu
