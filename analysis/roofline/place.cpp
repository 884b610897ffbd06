#include "analysis/roofline/place.hpp"

#include "analysis/roofline/row_roofs.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/ranges.hpp"
#include "ert/method/bench/machine.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>

namespace roof::analysis {
namespace {

LevelBytes traffic(const Work& work, Bytes nearer)
{
    const bool fits = work.compulsory <= nearer;
    return {work.compulsory, fits ? work.compulsory : std::max(work.compulsory, work.no_reuse)};
}

/// Traffic per level, summed over all works. Layers run one after another, so each footprint counts separately. Empty
/// if unknown.
std::vector<LevelBytes> traffic(const std::vector<const Work*>& works, const RowRoofs& over)
{
    const auto moves_none = [](const Work* work) { return work->compulsory == Bytes{} && work->no_reuse == Bytes{}; };
    if (std::ranges::all_of(works, moves_none)) return {};  // every work moves some
    std::vector<LevelBytes> sums(over.nearer.size());
    for (const Work* work : works)
        for (std::size_t i = 0; i < sums.size(); ++i) {
            const LevelBytes one = traffic(*work, over.nearer[i]);
            sums[i].low += one.low;
            sums[i].high += one.high;
        }
    return sums;
}

/// The model's FLOPs, unless the algorithm is known to execute others.
Flops executed_by(const Work& work)
{
    return work.executed.value > 0 ? work.executed : work.flops;
}

Flops sum_of(const std::vector<const Work*>& works, Flops (*flops)(const Work&))
{
    Flops sum{};
    for (const Work* work : works) sum += flops(*work);
    return sum;
}

std::string why_above_compute(bool executed_is_known)
{
    return executed_is_known
               ? "above the compute roof even by the FLOPs that the algorithm executes: the calibration was disturbed "
                 "or is out of date: calibrate again"
               : "above the compute roof: taps on padding count as FLOPs, and some algorithms need fewer "
                 "multiplications than are counted; if neither applies, the calibration was disturbed: calibrate again";
}

/// The farthest cache that may have held what cannot have moved at the level that binds; `levels.size()` if there is
/// none.
std::size_t serving_cache(const Placement& p, std::size_t binding, const RowRoofs& over)
{
    const Bytes elsewhere = p.levels[binding].low - p.levels[binding].roof * p.seconds.median;
    for (std::size_t i = binding; i-- > 0;) {
        const bool allows = p.levels[i].low / p.levels[i].roof <= p.seconds.median;
        if (allows && elsewhere <= over.nearer[i + 1]) return i;
    }
    return p.levels.size();
}

/// Sets `served_by` too. `writes_as_copies`: of the level that binds, or of one of the works.
std::string why_above_bandwidth(Placement& p, const RowRoofs& over, bool writes_as_copies)
{
    if (p.fraction() < shown_as_above) return "at the " + p.binds + " roof";
    const auto binding =
        static_cast<std::size_t>(std::ranges::find(p.levels, p.binds, &LevelPlacement::level) - p.levels.begin());
    const LevelPlacement& level = p.levels[binding];
    const std::size_t serving = serving_cache(p, binding, over);
    const ByteRate fastest{over.roofs.levels[binding]->rate.median.value};
    std::string cause =
        "no roof of a cache that holds so much allows its rate: if its bytes are right, calibrate again";
    if (serving < p.levels.size()) {
        p.served_by = p.levels[serving].level;
        cause = "the " + p.served_by + " roof allows its rate";
    } else if (writes_as_copies && level.low / fastest <= p.seconds.median) {
        return "above the " + p.binds + " roof, " + std::string(writes_as_copies_words);
    }
    if (p.roof_may_be_higher)
        return "above the " + p.binds + " roof, a lower bound: it is higher" +
               (p.served_by.empty() ? "" : ", or some bytes were in a nearer cache; " + cause);
    if (p.served_by.empty()) return "above the " + p.binds + " roof: " + cause;
    return fmt::format(
        "above the {} roof: in this time at most {:.0f}% of its bytes moved there, the others were in a "
        "nearer cache; {}",
        p.binds, 100 / p.fraction(), cause);
}

struct Limit {
    Seconds time;
    std::string roof;
    bool compute = false;
    bool is_lower_bound = false;  ///< the roof may be higher
    Seconds of_nearer{};          ///< the part of the time for which a nearer level may limit it instead
};

Limit limit_of(const Work& work, const RowRoofs& over)
{
    Limit limit;
    Seconds next{};     // under the roof that allows least but for the one that limits it
    Seconds certain{};  // under that, for the bytes that no nearer cache holds
    const auto offer = [&](Seconds time, const std::string& roof, bool compute, bool may_be_higher, Seconds least) {
        next = std::max(next, std::min(time, limit.time));
        if (time <= limit.time) return;
        limit = {time, roof, compute, may_be_higher};
        certain = least;
    };
    for (std::size_t i = 0; i < over.roofs.levels.size(); ++i) {
        const auto [roof, access, is_lower_bound, as_copies] = roof_of(work, over, i);
        if (roof.value > 0)
            offer(work.compulsory / roof, over.roofs.levels[i]->level, false, is_lower_bound,
                  std::max(Bytes{}, work.compulsory - over.nearer[i]) / roof);
    }
    if (over.compute) {
        const Seconds time = executed_by(work) / FlopRate{over.compute->rate.median.value};
        offer(time, over.compute->precision, true, over.compute->steadiness == Steadiness::at_least, time);
    }
    if (work.known == Known::analytic && certain < next) limit.of_nearer = limit.time;
    return limit;
}

/// The time that the bandwidth roofs allow for the most bytes.
Seconds most_time_of(const Work& work, const RowRoofs& over)
{
    Seconds most{};
    for (std::size_t i = 0; i < over.roofs.levels.size(); ++i)
        if (const ByteRate rate = roof_of(work, over, i).roof; rate.value > 0)
            most = std::max(most, traffic(work, over.nearer[i]).high / rate);
    return most;
}

/// Works run one after another, so the times that their roofs allow add up. The roof with most of that time binds.
/// `taken`: the measured time of each work, which is all that a work above its roof adds; empty for a single work.
void bind(Placement& p, const std::vector<const Work*>& works, const std::vector<Seconds>& taken, const RowRoofs& over)
{
    const auto has_flops = [](const Work* work) { return executed_by(*work).value > 0; };
    if (!over.compute && std::ranges::any_of(works, has_flops))
        return;  // that roof may allow more time than the others
    std::map<std::string, Limit> under;
    p.is_sum = works.size() > 1;
    p.bytes_may_be_more = p.levels.empty() && !over.roofs.levels.empty();
    for (std::size_t i = 0; i < works.size(); ++i) {
        Limit limit = limit_of(*works[i], over);
        if (i < taken.size() && taken[i].value > 0) limit.time = std::min(limit.time, taken[i]);
        limit.of_nearer = std::min(limit.of_nearer, limit.time);
        p.attainable += limit.time;
        p.roof_may_be_higher = p.roof_may_be_higher || limit.is_lower_bound;
        const Seconds own = i < taken.size() ? taken[i] : p.seconds.median;
        p.bytes_may_be_more = p.bytes_may_be_more || std::min(most_time_of(*works[i], over), own) > limit.time;
        Limit& sum = under[limit.roof];
        sum = {sum.time + limit.time, limit.roof, limit.compute, limit.is_lower_bound, sum.of_nearer + limit.of_nearer};
    }
    const auto longest = std::max_element(under.begin(), under.end(),
                                          [](const auto& a, const auto& b) { return a.second.time < b.second.time; });
    if (longest == under.end()) return;
    p.binds = longest->second.roof;
    p.binds_compute = longest->second.compute;
    p.nearer_may_bind = longest->second.of_nearer * 2 > longest->second.time;
    const auto at = std::ranges::find(p.levels, p.binds, &LevelPlacement::level);
    const bool as_copies =
        at != p.levels.end() && roof_of(works, over, static_cast<std::size_t>(at - p.levels.begin())).writes_as_copies;
    if (!p.above() && as_copies)
        remark(p.note, "under the " + p.binds + " roof, " + std::string(writes_as_copies_words));
    if (p.above())
        remark(p.note,
               p.binds_compute ? why_above_compute(p.executed.value > 0) : why_above_bandwidth(p, over, as_copies));
}

/// The rate counts the model's FLOPs, so it may exceed a roof although the rate of executed FLOPs does not.
void explain_rate(Placement& p)
{
    if (p.above() || p.executed.value <= 0 || p.executed >= p.flops) return;
    if (p.rate.median <= p.compute_roof || p.compute_roof.value <= 0) return;
    const auto share = std::lround(100 * p.executed / p.flops);
    remark(p.note, "the rate is above the compute roof because it counts the model's FLOPs: the algorithm executes " +
                       std::to_string(share) + "% of them");
}

/// `works` must not be empty. `taken`: as for bind().
Placement complete(Placement p, Flops flops, const std::vector<const Work*>& works, const std::vector<Seconds>& taken,
                   const RowRoofs& over)
{
    p.flops = flops;
    const Flops saved = sum_of(works, [](const Work& work) { return work.flops; }) - sum_of(works, executed_by);
    if (saved != Flops{}) p.executed = flops - saved;
    p.known = works.front()->known;
    p.rate = p.flops / p.seconds;
    p.roof_threads = over.roofs.threads;
    p.lasting = has_lasting(over.roofs, over.compute);
    p.note = over.note;
    if (over.compute) p.compute_roof = {over.compute->rate.median.value};
    p.peak_is_lower_bound = over.compute != nullptr && over.compute->steadiness == Steadiness::at_least;
    const std::vector<LevelBytes> bytes = traffic(works, over);
    if (bytes.size() < over.roofs.levels.size())
        remark(p.note, over.compute ? "bytes are unknown: only the compute roof applies" : "bytes are unknown");
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const Bytes low = bytes[i].low, high = bytes[i].high;
        Bytes again{};
        for (const Work* work : works) again += work->refetched_beyond(over.nearer[i]);
        p.levels.push_back({roof_of(works, over, i), over.roofs.levels[i]->level, low, high, p.known,
                            high.value > 0 ? p.flops / high : Intensity{}, low.value > 0 ? p.flops / low : Intensity{},
                            again});
    }
    bind(p, works, taken, over);
    explain_rate(p);
    return p;
}

/// The works of the parts of a phase, or of all, and the measured time of each.
std::pair<std::vector<const Work*>, std::vector<Seconds>> works_in(const Measurement& row, std::optional<Phase> phase)
{
    std::pair<std::vector<const Work*>, std::vector<Seconds>> works;
    for (const PartMeasurement& part : row.parts) {
        if (phase && part.part.phase != *phase) continue;
        works.first.push_back(&part.part.work);
        works.second.push_back(part.seconds.median);
    }
    return works;
}

Placement place_step(Placement p, const Measurement& row, const RowRoofs& over)
{
    p.name = p.model;
    p.seconds = row.seconds;
    auto [works, taken] = works_in(row, {});
    if (works.empty()) works.push_back(&row.work);
    p.is_lower_bound = row.work.at_least;
    return complete(std::move(p), row.work.flops, works, taken, over);
}

/// The link's roof over a whole step. Messages may move during the step's own work, so the longer of the two times is
/// attainable. If the link binds, it is the only bottleneck.
void place_under_link(Placement& p, const Measurement& row, const Ceilings& ceilings)
{
    if (row.ranks() < 2 || p.levels.empty() || !(row.messages.value > 0)) return;
    const bool is_group = devices_in(row.device).size() > 1;
    const Ceiling* link = link_between_nodes(ceilings, row.ranks());
    if (link == nullptr && is_group) link = link_between_gpus(ceilings);
    if (link == nullptr && is_group) return remark(p.note, "no link between the devices was measured");
    if (link == nullptr) return;
    const Bytes bytes = link_bytes(row);
    const ByteRate roof{link->rate.median.value};
    const Intensity intensity = p.flops / bytes;
    p.link = LevelPlacement{{roof}, is_group ? "link" : "network", bytes, bytes, Known::analytic, intensity, intensity};
    const Seconds least = bytes / roof;
    if (p.binds.empty() || least <= p.attainable) return;
    p.attainable = least;
    p.attainable_low = bytes / ByteRate{link->rate.high.value};
    p.attainable_high = bytes / ByteRate{link->rate.low.value};
    p.is_sum = false;
    p.binds = p.link->level;
    p.binds_compute = false;
    p.bottlenecks = {{p.binds, 1}};
    if (p.above()) remark(p.note, "above the link's roof: the calibration was disturbed: calibrate again");
}

void place_phases(std::vector<Placement>& placements, const Placement& blank, const Measurement& row,
                  const RowRoofs& over)
{
    const std::array<std::pair<Phase, const Estimate<Seconds>*>, 3> phases{
        {{Phase::forward, &row.forward}, {Phase::backward, &row.backward}, {Phase::update, &row.update}}};
    for (const auto& [phase, seconds] : phases) {
        const auto [works, taken] = works_in(row, phase);
        if (works.empty() || seconds->median.value <= 0) continue;
        Placement p = blank;
        p.scope = Scope::phase;
        p.phase = phase;
        p.name = roof::name(phase);
        p.seconds = *seconds;
        const Flops flops = sum_of(works, [](const Work& work) { return work.flops; });
        placements.push_back(complete(std::move(p), flops, works, taken, over));
    }
}

Placement place_layer(Placement p, const PartMeasurement& part, const RowRoofs& over)
{
    p.scope = Scope::layer;
    p.phase = part.part.phase;
    p.name = part.part.layer;
    p.kind = part.part.kind;
    p.implementation = part.part.implementation;
    p.seconds = part.seconds;
    return complete(std::move(p), part.part.work.flops, {&part.part.work}, {}, over);
}

/// Seconds to fetch one line from memory; 0 if not measured.
double latency_of_memory(const Ceilings& ceilings, const std::string& device)
{
    double seconds = 0;
    for (const Ceiling& c : ceilings.all)
        if (c.kind == Role::latency && c.device == device && c.condition.empty())
            seconds = std::max(seconds, c.per_access().value);
    return seconds;
}

Seconds shortest_layer(const std::vector<Placement>& placements)
{
    Seconds shortest{INFINITY};
    for (const Placement& p : placements)
        if (p.scope == Scope::layer && p.seconds.median.value > 0) shortest = std::min(shortest, p.seconds.median);
    return shortest;
}

/// Sets the bounds launch and latency for layers below their roofs.
void look_beyond_roofs(std::vector<Placement>& placements, double seconds_per_line)
{
    constexpr double line = 64;
    constexpr double near = 2;
    const double shortest = shortest_layer(placements).value;
    for (Placement& p : placements) {
        if (p.scope != Scope::layer || p.binds.empty()) continue;
        const double time = p.seconds.median.value;
        const double bytes = p.levels.empty() ? 0 : p.levels.front().low.value;
        const double chain = bytes / line * seconds_per_line / std::max(1, p.threads);
        if (p.attainable.value < shortest && time <= near * shortest)
            p.beyond_roofs = Bound::launch;
        else if (chain > 0 && time * near >= chain && time <= near * chain)
            p.beyond_roofs = Bound::latency;
    }
}

}  // namespace

bool is_above(const LevelPlacement& level, FlopRate rate)
{
    return level.roof.value > 0 && rate.value > level.roof.value * level.intensity_high.value;
}

Bound Placement::bound() const
{
    if (binds.empty()) return Bound::unknown;
    if (fraction() < unexplained_fraction) return beyond_roofs;
    return binds_compute ? Bound::compute : Bound::bandwidth;
}

std::vector<Placement> place(const Measurement& row, const Ceilings& ceilings, const Machine& machine)
{
    if (row.status != Status::ok || row.role != Role::step) return {};
    const RowRoofs over = look_up(row, ceilings, machine);
    Placement blank;
    blank.row = row.id();
    blank.model = model_of(row);
    blank.batch = batch_of(row);
    blank.device = row.device;
    blank.precision = precision_of(row);
    blank.data = data_of(row);
    blank.threads = threads_of(row);

    std::vector<Placement> placements{place_step(blank, row, over)};
    place_phases(placements, blank, row, over);
    for (const PartMeasurement& part : row.parts) placements.push_back(place_layer(blank, part, over));
    find_bottlenecks(placements, over.roofs);
    place_under_link(placements.front(), row, ceilings);
    look_beyond_roofs(placements, latency_of_memory(ceilings, row.device));
    return placements;
}

const Placement* step_placement(std::span<const Placement> placements, const Measurement& row)
{
    return first_in(placements, [id = row.id()](const Placement& p) { return p.scope == Scope::step && p.row == id; });
}

std::vector<const Placement*> layers_of(std::span<const Placement> placements, const Measurement& row)
{
    const std::string id = row.id();
    std::vector<const Placement*> layers;
    for (const Placement& p : placements)
        if (p.scope == Scope::layer && p.row == id) layers.push_back(&p);
    return layers;
}

Needs needs_of(const Placement& p)
{
    Needs needs{{}, p.compute_roof.value > 0 ? p.done() / p.compute_roof : Seconds{}};
    for (const LevelPlacement& level : p.levels)
        if (level.roof.value > 0) needs.memory = std::max(needs.memory, level.low / level.roof);
    return needs;
}

}  // namespace roof::analysis
