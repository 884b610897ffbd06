// From rows to ceilings. Of the visits to a point the fastest counts (rounds.hpp). A compute ceiling is a row. A bandwidth ceiling is a plateau of a working-set sweep: the plateaus
// are found on the load sweep of each thread count (plateau.hpp), and serve the other operations of that thread count.
//
// Estimator of a plateau's rate: of all pairs of neighbouring working sets on the plateau, the pair whose slower member is
// fastest; that member's own estimate is the ceiling. One lucky point cannot set it, nor a slope towards the next level
// pull it down.
#include "ert/method/ceiling.hpp"
#include "ert/method/plateau.hpp"
#include "ert/method/rounds.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace roof {

namespace {

using Rate = Estimate<Quantity<0, 0, -1>>;

/// At one working set, the fastest instruction set.
struct SweepPoint {
    std::string isa;
    std::string precision;
    Rate rate;
};
using Sweep = std::map<double, SweepPoint>;                  ///< by working set in bytes
using SweepKey = std::tuple<std::string, int, std::string>;  ///< device, threads, operation
using Sweeps = std::map<SweepKey, Sweep>;

struct Level {
    std::string name;
    double from = 0;
    double to = 0;
};

template <class Unit>
Rate bare(const Estimate<Unit>& rate)
{
    return {{rate.median.value}, {rate.low.value}, {rate.high.value}, rate.n, rate.discarded};
}

std::string text_or(const Point& point, std::string_view axis, std::string_view otherwise)
{
    return std::string(point.has(axis) ? std::string_view(point.text(axis)) : otherwise);
}

int threads_of(const Point& point)
{
    return point.has("threads") ? static_cast<int>(point.integer("threads")) : 1;
}

Ceiling compute_ceiling(const Measurement& row)
{
    Ceiling ceiling;
    ceiling.device = row.device;
    ceiling.kind = Role::compute;
    ceiling.level = "core";
    ceiling.operation = text_or(row.point, "operation", row.bench);
    ceiling.precision = text_or(row.point, "precision", "");
    ceiling.isa = text_or(row.point, "isa", "");
    ceiling.threads = threads_of(row.point);
    ceiling.rate = bare(row.work.flops / row.seconds);
    return ceiling;
}

void add_to_sweeps(const Measurement& row, Sweeps& sweeps)
{
    const SweepKey key{row.device, threads_of(row.point), text_or(row.point, "operation", row.bench)};
    SweepPoint point{text_or(row.point, "isa", ""), text_or(row.point, "precision", ""),
                     bare(row.work.compulsory / row.seconds)};
    const auto [place, is_new] = sweeps[key].try_emplace(row.point.number("working_set"), point);
    if (!is_new && place->second.rate.median < point.rate.median) place->second = std::move(point);
}

/// L1, L2, … from the fastest; the last is memory.
std::vector<Level> levels_of(const Sweep& sweep)
{
    std::vector<RatePoint> points;
    for (const auto& [bytes, point] : sweep)
        points.push_back({bytes, point.rate.median.value, point.rate.relative_half_width()});
    const std::vector<Plateau> plateaus = find_plateaus(points);
    std::vector<Level> levels;
    for (std::size_t i = 0; i < plateaus.size(); ++i) {
        const bool is_last = i + 1 == plateaus.size();
        levels.push_back({is_last ? "DRAM" : "L" + std::to_string(i + 1), points[plateaus[i].first].working_set,
                          points[plateaus[i].last].working_set});
    }
    return levels;
}

/// The estimator described above; null if the sweep has no point on the level.
const SweepPoint* best_sustained(const Sweep& sweep, const Level& level)
{
    const SweepPoint* best = nullptr;
    const SweepPoint* previous = nullptr;
    const auto end = sweep.upper_bound(level.to);
    for (auto at = sweep.lower_bound(level.from); at != end; ++at) {
        const SweepPoint* const point = &at->second;
        const bool previous_is_slower = previous != nullptr && previous->rate.median < point->rate.median;
        const SweepPoint* const slower = previous_is_slower ? previous : point;
        const bool is_pair = previous != nullptr || std::next(at) == end;
        if (is_pair && (best == nullptr || best->rate.median < slower->rate.median)) best = slower;
        previous = point;
    }
    return best;
}

/// Capacity of all instances of the level that so many threads reach when they take one core after the other.
Bytes reported_capacity(const Machine& machine, const std::string& device_name, const std::string& level, int threads)
{
    for (const Device& device : machine.devices) {
        if (device.name != device_name) continue;
        for (const MemoryLevel& reported : device.levels) {
            if (reported.name != level) continue;
            const int cores_each = std::max(1, reported.shared_by / std::max(1, machine.smt));
            const int reached = std::clamp((threads + cores_each - 1) / cores_each, 1, std::max(1, reported.instances));
            return reported.capacity * static_cast<double>(reached);
        }
    }
    return {};
}

MeasuredLevel beside_report(const std::string& device, const Level& level, Bytes reported)
{
    constexpr double tolerance = 2;
    MeasuredLevel measured{device, level.name, Bytes{level.from}, Bytes{level.to}, reported, false};
    // A sweep ends long before memory does, so memory's capacity says nothing here.
    if (level.name == "DRAM" || reported.value <= 0) return measured;
    const double ratio = level.to / reported.value;
    measured.contradiction = ratio > tolerance || ratio < 1 / tolerance;
    return measured;
}

void fit_bandwidth(const Sweeps& sweeps, const Machine& machine, Ceilings& ceilings)
{
    std::map<std::string, int> threads_of_levels;
    for (const auto& [key, sweep] : sweeps) {
        const auto& [device, threads, operation] = key;
        const auto load = sweeps.find({device, threads, "load"});
        const std::vector<Level> levels = levels_of(load == sweeps.end() ? sweep : load->second);
        if (threads > threads_of_levels[device] && !levels.empty()) {
            threads_of_levels[device] = threads;
            std::erase_if(ceilings.levels,
                          [&name = device](const MeasuredLevel& level) { return level.device == name; });
            for (const Level& level : levels) {
                ceilings.levels.push_back(
                    beside_report(device, level, reported_capacity(machine, device, level.name, threads)));
            }
        }
        for (const Level& level : levels) {
            const SweepPoint* const best = best_sustained(sweep, level);
            if (best == nullptr) continue;
            ceilings.all.push_back({device, Role::bandwidth, level.name, operation, best->precision, best->isa, threads,
                                    best->rate, Bytes{level.from}, Bytes{level.to}});
        }
    }
}

template <class Accept>
const Ceiling* best_of(const std::vector<Ceiling>& ceilings, Accept accept)
{
    const Ceiling* best = nullptr;
    for (const Ceiling& ceiling : ceilings) {
        if (accept(ceiling) && (best == nullptr || best->rate.median < ceiling.rate.median)) best = &ceiling;
    }
    return best;
}

}  // namespace

const Ceiling* Ceilings::bandwidth(const std::string& device, const std::string& level, int threads) const
{
    return best_of(all, [&](const Ceiling& c) {
        return c.kind == Role::bandwidth && c.device == device && c.level == level && c.threads == threads;
    });
}

const Ceiling* Ceilings::compute(const std::string& device, const std::string& precision, int threads) const
{
    return best_of(all, [&](const Ceiling& c) {
        return c.kind == Role::compute && c.device == device && c.precision == precision && c.threads == threads;
    });
}

const Ceiling* Ceilings::multiply_add(const std::string& device, const std::string& precision, int threads) const
{
    for (const std::string_view operation : {"fma", "mul+add"}) {
        const Ceiling* const best = best_of(all, [&](const Ceiling& c) {
            return c.kind == Role::compute && c.device == device && c.precision == precision && c.threads == threads &&
                   c.operation == operation;
        });
        if (best != nullptr) return best;
    }
    return compute(device, precision, threads);
}

int Ceilings::most_threads(const std::string& device) const
{
    int most = 0;
    for (const Ceiling& ceiling : all) {
        if (ceiling.device == device) most = std::max(most, ceiling.threads);
    }
    return most;
}

Ceilings fit_ceilings(std::span<const Measurement> rows, const Machine& machine)
{
    Ceilings ceilings;
    Sweeps sweeps;
    for (const Measurement& row : best_of_rounds(rows)) {
        if (row.status != Status::ok || row.seconds.median.value <= 0) continue;
        if (row.role == Role::compute) ceilings.all.push_back(compute_ceiling(row));
        if (row.role == Role::bandwidth && row.point.has("working_set")) add_to_sweeps(row, sweeps);
    }
    fit_bandwidth(sweeps, machine, ceilings);
    return ceilings;
}

}  // namespace roof
