// The bandwidth roof of a memory level for any mix of reads and writes. The model: the work runs as a sequence of the
// loops that were measured (loads, stores, non-temporal stores, copies, updates, …), and their times add up. The roof
// is the fastest sequence that reads and writes at least the bytes of the work. It never exceeds what the measured
// loops do together, and is exact at their own mixes; it does not know how far the reads and writes of other mixes
// overlap. docs/method.md, section 6, compares it with mixes that it was not derived from. The fastest sequence is a
// linear program with two constraints, so at most two loops take part: all pairs are tried.
#include "analysis/roofline/row_roofs.hpp"

#include "analysis/table/rows.hpp"
#include "ert/method/bench/array_operation.hpp"
#include "ert/method/bench/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace roof::analysis {
namespace {

/// Capacity of a level for the threads of the row: measured with as many, else scaled from the size measured with the
/// most.
Bytes capacity(const std::string& level, const Ceilings& ceilings, const Machine& machine, const std::string& device,
               int threads)
{
    for (const MeasuredLevel& found : ceilings.levels_by_threads)
        if (found.device == device && found.name == level && found.threads == threads) return found.to;
    Bytes measured{};
    for (const MeasuredLevel& found : ceilings.levels)
        if (found.device == device && found.name == level) measured = found.to;
    if (const MemoryLevel* const reported = machine.find_level(device, level))
        measured = measured * reported->instances_reached(threads, machine.smt) /
                   reported->instances_reached(ceilings.most_threads(device), machine.smt);
    return measured;
}

constexpr double never = std::numeric_limits<double>::infinity();

struct Bulk {
    double read;
    double written;
};

double rate_of(const MeasuredLoop& loop)
{
    return loop.ceiling->rate.median.value;
}

/// Seconds for the loop alone to do both.
double alone(const MeasuredLoop& loop, const Bulk& work)
{
    const auto bytes = [](double wanted, double share) { return wanted <= 0 ? 0 : share > 0 ? wanted / share : never; };
    return std::max(bytes(work.read, loop.access.read), bytes(work.written, loop.access.written)) / rate_of(loop);
}

/// Seconds for the two loops together to do exactly both; never if that takes a negative share of one.
double together(const MeasuredLoop& a, const MeasuredLoop& b, const Bulk& work)
{
    const double determinant = a.access.read * b.access.written - b.access.read * a.access.written;
    if (determinant == 0) return never;
    const double of_a = (work.read * b.access.written - work.written * b.access.read) / determinant;
    const double of_b = (work.written * a.access.read - work.read * a.access.written) / determinant;
    return of_a >= 0 && of_b >= 0 ? of_a / rate_of(a) + of_b / rate_of(b) : never;
}

/// "2:1", "1:3.5": reads to writes.
std::string ratio_text(const Bulk& work)
{
    const auto text = [](double number) {
        return number > 99 ? ">99" : fmt::format("{:g}", std::round(10 * number) / 10);
    };
    if (work.written <= 0) return "1:0";
    return work.read >= work.written ? text(work.read / work.written) + ":1" : "1:" + text(work.written / work.read);
}

bool has_mix(const Access& access, const Bulk& work)
{
    constexpr double close = 0.02;
    return std::abs(access.read - work.read / (work.read + work.written)) < close;
}

}  // namespace

void remark(std::string& note, const std::string& more)
{
    if (!note.empty()) note += "; ";
    note += more;
}

RowRoofs look_up(const Measurement& row, const Ceilings& ceilings, const Machine& machine)
{
    const int threads = threads_of(row);
    RowRoofs over{roofs_of(ceilings, row.device, threads), nullptr, {}, {}};
    if (took_turns(row)) {
        over.roofs = {};
        over.note = "its ranks took turns on one device: this time is under no roof";
        return over;
    }
    if (has_bytes_of_others(row)) {
        over.roofs = {};
        over.note =
            "its bytes are those of its layers one by one, not of the operations that ran, which fuse batch norms: "
            "measure it again";
        return over;
    }
    if (over.roofs.empty()) {
        if (devices_in(row.device).size() > 1)
            over.note = "the roofs of several devices are the sums of their roofs: calibrate each device";
        return over;
    }
    // Counted and simulated bytes are those at the farthest level.
    if ((row.work.known == Known::counter || row.work.known == Known::simulated) && over.roofs.levels.size() > 1)
        over.roofs.levels.erase(over.roofs.levels.begin(), over.roofs.levels.end() - 1);
    over.compute = over.roofs.precision(precision_of(row));
    if (threads > 0 && over.roofs.threads != threads)
        remark(over.note, "no ceiling was measured with " + std::to_string(threads) + " threads; those of " +
                              std::to_string(over.roofs.threads) + " are used");
    const std::string precision = precision_of(row);
    if (!over.compute)
        remark(over.note, precision.empty() ? "the precision is unknown, and so is the compute roof"
                                            : "no compute roof was measured for " + precision);
    Bytes held{};
    for (const Ceiling* level : over.roofs.levels) {
        over.nearer.push_back(held);
        over.loops.push_back(loops_of(ceilings, row.device, *level));
        held = std::max(
            held, capacity(level->level, ceilings, machine, row.device, threads > 0 ? threads : over.roofs.threads));
    }
    return over;
}

LevelRoof roof_of(const Work& work, const RowRoofs& over, std::size_t level)
{
    const Bytes again = work.refetched_beyond(over.nearer[level]);
    std::optional<LevelRoof> roof;
    if (work.tells_reads_from_writes()) roof = mix_roof(over.loops[level], work.read + again, work.written);
    const Ceiling& fastest = *over.roofs.levels[level];
    if (!roof) roof = {ByteRate{fastest.rate.median.value}, {}, fastest.steadiness == Steadiness::at_least};
    if (work.compulsory.value > 0) roof->roof = roof->roof / (1 + again / work.compulsory);
    return *roof;
}

LevelRoof roof_of(const std::vector<const Work*>& works, const RowRoofs& over, std::size_t level)
{
    Work sum;
    Seconds time{};
    bool as_copies = false;
    for (const Work* work : works) {
        sum.compulsory += work->compulsory;
        sum.read += work->read;
        sum.written += work->written;
        sum.refetched.insert(sum.refetched.end(), work->refetched.begin(), work->refetched.end());
        const LevelRoof of_one = roof_of(*work, over, level);
        as_copies = as_copies || of_one.writes_as_copies;
        if (of_one.roof.value > 0) time += work->compulsory / of_one.roof;
    }
    LevelRoof roof = roof_of(sum, over, level);
    roof.writes_as_copies = as_copies;
    if (works.size() > 1 && time.value > 0) roof.roof = sum.compulsory / time;
    return roof;
}

std::optional<Access> access_of(std::string_view operation)
{
    const auto on_arrays = array_operation(operation.substr(0, operation.find(" by ")));  // "load by two readers"
    if (!on_arrays) return std::nullopt;
    const double moves = on_arrays->moves();
    return Access{on_arrays->loads() / moves, on_arrays->stores / moves};
}

std::vector<MeasuredLoop> loops_of(const Ceilings& ceilings, const std::string& device, const Ceiling& roof)
{
    std::vector<MeasuredLoop> measured;
    for (const Ceiling& c : ceilings.all) {
        const bool is_of_level = c.kind == Role::bandwidth && c.device == device && c.level == roof.level;
        if (!is_of_level || c.threads != roof.threads || !c.condition.empty() || !(c.rate.median.value > 0)) continue;
        if (const auto access = access_of(c.operation))
            measured.push_back({&c, *access, c.steadiness == Steadiness::at_least || !roof.stands_in.empty()});
    }
    return measured;
}

std::optional<LevelRoof> mix_roof(const std::vector<MeasuredLoop>& measured, Bytes read, Bytes written)
{
    const Bulk work{read.value, written.value};
    constexpr double half = 0.5;
    const bool as_copies = work.written > work.read && std::ranges::none_of(measured, [](const MeasuredLoop& loop) {
                               return loop.access.written > half;
                           });
    if (!(work.read + work.written > 0)) return std::nullopt;
    constexpr double rounding = 1e-9;
    double least = never;
    const MeasuredLoop* only = nullptr;
    bool may_be_higher = false;
    for (const MeasuredLoop& loop : measured) {
        const double seconds = alone(loop, work);
        if (seconds < least) {
            least = seconds;
            only = &loop;
            may_be_higher = loop.may_be_higher;
        }
    }
    for (const MeasuredLoop& a : measured) {
        for (const MeasuredLoop& b : measured) {
            const double seconds = together(a, b, work);
            if (seconds < least * (1 - rounding)) {
                least = seconds;
                only = nullptr;
                may_be_higher = a.may_be_higher || b.may_be_higher;
            }
        }
    }
    if (least == never) return std::nullopt;
    const bool is_loop = only != nullptr && has_mix(only->access, work);
    return LevelRoof{ByteRate{(work.read + work.written) / least},
                     is_loop ? only->ceiling->operation : "mix " + ratio_text(work), may_be_higher, as_copies};
}

}  // namespace roof::analysis
