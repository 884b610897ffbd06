#include "analysis/rows.hpp"
#include "analysis/verdict.hpp"
#include "analysis/words.hpp"
#include "ert/base/text.hpp"

namespace roof::analysis {

namespace {

std::string bandwidth_table(const Ceilings& ceilings)
{
    Table table({"device", "level", "operation", "threads", "bandwidth [95%]", "samples", "working sets"});
    bool any = false;
    for (const Ceiling& c : ceilings.all) {
        if (c.kind != Role::bandwidth) continue;
        any = true;
        table.add({printable(c.device), printable(c.level), printable(c.operation), std::to_string(c.threads),
                   with_interval(c.rate, c.unit()), std::to_string(c.rate.n),
                   format_capacity(c.working_set_low.value) + " to " + format_capacity(c.working_set_high.value)});
    }
    return any ? "Bandwidth (measured)\n" + table.text() + "\n" : "";
}

std::string compute_table(const Ceilings& ceilings)
{
    Table table({"device", "precision", "isa", "operation", "threads", "rate [95%]", "samples"});
    bool any = false;
    for (const Ceiling& c : ceilings.all) {
        if (c.kind != Role::compute) continue;
        any = true;
        table.add({printable(c.device), printable(c.precision), printable(c.isa), printable(c.operation),
                   std::to_string(c.threads), with_interval(c.rate, c.unit()), std::to_string(c.rate.n)});
    }
    return any ? "Compute (measured)\n" + table.text() + "\n" : "";
}

std::string levels_table(const Ceilings& ceilings)
{
    if (ceilings.levels.empty()) return {};
    Table table({"device", "level", "measured: holds working sets", "reported", "verdict"});
    for (const MeasuredLevel& level : ceilings.levels)
        table.add({printable(level.device), printable(level.name),
                   format_capacity(level.from.value) + " to " + format_capacity(level.to.value),
                   level.reported.value > 0 ? format_capacity(level.reported.value) : "not reported",
                   level.contradiction        ? "contradiction: more than a factor of two apart"
                   : level.name == "DRAM"     ? "-"
                   : level.reported.value > 0 ? "agree"
                                              : "-"});
    return "Memory levels, with the most threads (measured beside reported)\n" + table.text() + "\n";
}

std::string doubts(const Machine& machine)
{
    std::string text;
    for (const std::string& doubt : machine.doubts) text += "  " + printable(doubt) + "\n";
    return text.empty() ? text : "Doubts about what the machine reports\n" + text;
}

}  // namespace

std::string ceilings_table(const Ceilings& ceilings, const Machine& machine)
{
    if (ceilings.all.empty()) return "No ceilings were measured.\n" + doubts(machine);
    return bandwidth_table(ceilings) + compute_table(ceilings) + levels_table(ceilings) + doubts(machine);
}

}  // namespace roof::analysis
