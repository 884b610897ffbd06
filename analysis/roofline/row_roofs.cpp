#include "analysis/roofline/row_roofs.hpp"

#include "analysis/table/rows.hpp"
#include "ert/method/bench/device_group.hpp"

#include <algorithm>

namespace roof::analysis {

namespace {

/// Capacity of a level for the threads of the row: measured with as many, else scaled from the size measured with the most.
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
    if (over.roofs.empty()) {
        if (devices_in(row.device).size() > 1)
            over.note = "the roofs of several devices are the sums of their roofs: calibrate each device";
        return over;
    }
    // Counted bytes are those at the farthest level.
    if (row.work.known == Known::counter && over.roofs.levels.size() > 1)
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
        over.accesses.push_back(accesses_of(ceilings, row.device, level->level, over.roofs.threads));
        held = std::max(
            held, capacity(level->level, ceilings, machine, row.device, threads > 0 ? threads : over.roofs.threads));
    }
    return over;
}

MixRoof roof_of(const Work& work, const RowRoofs& over, std::size_t level)
{
    if (work.tells_reads_from_writes()) {
        if (auto mixed = mix_roof(over.accesses[level], work.read, work.written)) return *mixed;
    }
    const Ceiling& fastest = *over.roofs.levels[level];
    return {ByteRate{fastest.rate.median.value}, {}, fastest.steadiness == Steadiness::at_least};
}

MixRoof roof_of(const std::vector<const Work*>& works, const RowRoofs& over, std::size_t level)
{
    Work sum;
    Seconds time{};
    for (const Work* work : works) {
        sum.compulsory += work->compulsory;
        sum.read += work->read;
        sum.written += work->written;
        const ByteRate rate = roof_of(*work, over, level).rate;
        if (rate.value > 0) time += work->compulsory / rate;
    }
    MixRoof roof = roof_of(sum, over, level);
    if (works.size() > 1 && time.value > 0) roof.rate = sum.compulsory / time;
    return roof;
}

}  // namespace roof::analysis
