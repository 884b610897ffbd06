// The bytes of each memory level, for the hierarchical roofline. From the best source that there is:
//   counter   of the part, else of the whole step
//   analytic  an interval: the bounds of place.hpp, and for a product at least what its multiply-adds force through the
//             memory nearer to the core (footprint.hpp); before L1 that is the registers of the implementation. Not
//             known for products whose implementation is not recognised, or does fewer multiply-adds (Winograd, FFT);
//             of our own kernels at least what their blocking moves
// Steps and phases add up their layers and are known if all of these are.
#include "analysis/study/study.hpp"

#include "analysis/estimate/footprint.hpp"
#include "analysis/recordings/counted_work.hpp"
#include "analysis/roofline/row_roofs.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/precision.hpp"
#include "ert/base/ranges.hpp"
#include "ert/base/text.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>

namespace roof::analysis {
namespace {

using PartKey = std::tuple<std::string, std::string, std::string>;  ///< row, layer, phase; the last two not of a step
using Counts = std::map<PartKey, std::map<std::string, Bytes>>;     ///< bytes by level

Counts counted_bytes(const RecordedFolder& folder)
{
    std::map<PartKey, Metrics> metrics;
    read_records<CounterRecord>(folder, [&](const std::string& row, const CounterRecord& counter) {
        if (counter.scope == CounterScope::kernel) return;  // counted alone, so with other contents of the caches
        Metric& metric = metrics[{row, counter.layer, counter.phase}][counter.metric];
        metric = {metric.value + counter.value, counter.unit};
    });
    Counts counts;
    for (const auto& [key, of_part] : metrics) counts[key] = count_work(of_part).bytes;
    return counts;
}

PartKey key_of(const Placement& p)
{
    return {p.row, p.scope == Scope::layer ? p.name : "", p.phase_name()};
}

/// What all parts of a row share.
struct RowFacts {
    RowRoofs over;
    std::map<std::string, double> uses;  ///< by layer
    Bytes value;                         ///< size of a value; 0 if unknown
};

bool is_product(const Placement& p)
{
    return p.kind == "convolution" || p.kind == "linear";
}

/// The windows that read an input value; 0 if unknown. A fused layer is named "conv1+relu1".
double uses_of(const Placement& p, const RowFacts& row)
{
    const auto found = row.uses.find(split(p.name, '+').front());
    return found == row.uses.end() ? 0 : found->second;
}

/// Bytes of each level; nullopt where they are not known.
using Moved = std::vector<std::optional<LevelBytes>>;

Moved analytic_bytes(const Placement& p, const RowFacts& row)
{
    const Bytes registers = registers_of(p.implementation);
    const double uses = uses_of(p, row);
    Moved moved(p.levels.size());
    const bool is_own = !p.levels.empty() && p.levels.front().again.value > 0;
    if (is_product(p) && !is_own && (registers == Bytes{} || uses == 0 || row.value == Bytes{})) return moved;
    for (std::size_t i = 0; i < p.levels.size(); ++i) {
        const Bytes own = p.levels[i].low + p.levels[i].again;
        moved[i] = LevelBytes{own, std::max(own, p.levels[i].high), p.known};
        if (!is_product(p) || p.phase == Phase::update || registers == Bytes{} || uses == 0) continue;
        const int products = p.phase == Phase::backward ? 2 : 1;
        const bool in_registers = row.over.nearer[i] == Bytes{};
        const Bytes least = least_bytes_of_product(p.done(), uses, in_registers ? registers : row.over.nearer[i],
                                                   in_registers ? std::max(1, p.threads) : 1, row.value, products);
        moved[i]->low = std::min(std::max(moved[i]->low, least), moved[i]->high);
    }
    return moved;
}

/// Puts counted bytes in place of others. Empty if a level is then still not known.
std::vector<LevelBytes> with_counts(Moved moved, const Placement& p, const Counts& counts)
{
    if (const auto counted = counts.find(key_of(p)); counted != counts.end())
        for (std::size_t i = 0; i < moved.size(); ++i) {
            const auto level = counted->second.find(p.levels[i].level);
            if (level != counted->second.end()) moved[i] = LevelBytes{level->second, level->second, Known::counter};
        }
    std::vector<LevelBytes> known;
    for (const auto& bytes : moved)
        if (bytes) known.push_back(*bytes);
    return known.size() == moved.size() ? known : std::vector<LevelBytes>{};
}

/// The sum over the layers of a step or a phase; not known unless all of them are.
Moved sum_of(const Placement& whole, std::span<const Placement> layers)
{
    const LevelBytes none{Bytes{}, Bytes{}, Known::counter};
    Moved sums(whole.levels.size(), layers.empty() ? std::nullopt : std::optional{none});
    for (const Placement& layer : layers) {
        if (whole.phase && layer.phase != whole.phase) continue;
        if (layer.moved.size() != sums.size()) return Moved(sums.size());
        for (std::size_t i = 0; i < sums.size(); ++i) {
            sums[i]->low += layer.moved[i].low;
            sums[i]->high += layer.moved[i].high;
            if (layer.moved[i].known != Known::counter) sums[i]->known = layer.moved[i].known;
        }
    }
    return sums;
}

}  // namespace

Bytes registers_of(std::string_view implementation)
{
    for (const std::string_view fewer : {"wino", "fft"})
        if (implementation.find(fewer) != std::string_view::npos) return {};
    struct Registers {
        std::string_view isa;
        double bytes;
    };
    // The first that is named: an implementation for AMX also uses the registers of AVX-512.
    constexpr std::array<Registers, 3> known{{{"amx", 8 * 1024 + 32 * 64}, {"avx512", 32 * 64}, {"avx2", 16 * 32}}};
    for (const Registers& one : known)
        if (implementation.find(one.isa) != std::string_view::npos) return {one.bytes};
    return {};
}

void find_level_bytes(std::span<Placement> placements, std::span<const Measurement> rows,
                      const RecordedFolder& recorded, const Ceilings& ceilings, const Machine& machine)
{
    const Counts counts = recorded.path.empty() ? Counts{} : counted_bytes(recorded);
    std::map<std::string, std::map<std::string, double>> uses;  // by model
    for (const Measurement& measured : rows) {
        const std::string id = measured.id();
        const auto first = std::ranges::find(placements, id, &Placement::row);
        const auto last = std::find_if(first, placements.end(), [&](const Placement& p) { return p.row != id; });
        if (first == last || first->levels.empty()) continue;
        const auto layers = std::find_if(first, last, [](const Placement& p) { return p.scope == Scope::layer; });
        const auto known = uses.try_emplace(first->model).first;
        if (known->second.empty()) known->second = input_uses(first->model);
        const auto* const format = find_in(precision_table, precision_of(measured), &PrecisionTraits::name);
        const RowFacts row{
            look_up(measured, ceilings, machine), known->second, {format ? 1.0 * format->storage_bytes : 0}};
        for (auto p = layers; p != last; ++p) p->moved = with_counts(analytic_bytes(*p, row), *p, counts);
        for (auto p = first; p != layers; ++p) p->moved = with_counts(sum_of(*p, {layers, last}), *p, counts);
    }
}

}  // namespace roof::analysis
