// The ceilings, and the memory levels as measured beside those reported.
#include "analysis/html.hpp"
#include "analysis/panels/panels.hpp"
#include "analysis/words.hpp"
#include "ert/base/text.hpp"

namespace roof::analysis {

namespace {

std::string bandwidths(const Ceilings& ceilings)
{
    std::vector<std::vector<Cell>> rows;
    for (const Ceiling& c : ceilings.all)
        if (c.kind == Role::bandwidth)
            rows.push_back({Cell::text(c.device), Cell::text(c.level), Cell::text(c.operation),
                            Cell::value(std::to_string(c.threads)), Cell::value(with_interval(c.rate, c.unit())),
                            Cell::value(std::to_string(c.rate.n)),
                            Cell::value(format_capacity(c.working_set_low.value) + " to " +
                                        format_capacity(c.working_set_high.value))});
    if (rows.empty()) return {};
    return "<h4>Bandwidth, measured</h4>\n" +
           html_table({"device", "level", "operation", "threads", "bandwidth", "samples", "working sets"}, rows);
}

std::string rates(const Ceilings& ceilings)
{
    std::vector<std::vector<Cell>> rows;
    for (const Ceiling& c : ceilings.all)
        if (c.kind == Role::compute)
            rows.push_back({Cell::text(c.device), Cell::text(c.precision), Cell::text(c.isa), Cell::text(c.operation),
                            Cell::value(std::to_string(c.threads)), Cell::value(with_interval(c.rate, c.unit())),
                            Cell::value(std::to_string(c.rate.n))});
    if (rows.empty()) return {};
    return "<h4>Compute, measured</h4>\n" +
           html_table({"device", "precision", "ISA", "operation", "threads", "rate", "samples"}, rows);
}

std::string levels(const Ceilings& ceilings)
{
    std::vector<std::vector<Cell>> rows;
    for (const MeasuredLevel& level : ceilings.levels) {
        const bool reported = level.reported.value > 0;
        const Cell verdict =
            level.contradiction
                ? Cell{"<span class=\"warn\">contradiction: more than a factor of two apart</span>", false, 1}
                : Cell::text(reported && level.name != "DRAM" ? "agree" : "-");
        rows.push_back({Cell::text(level.device), Cell::text(level.name),
                        Cell::value(format_capacity(level.from.value) + " to " + format_capacity(level.to.value)),
                        Cell::value(reported ? format_capacity(level.reported.value) : "not reported"), verdict});
    }
    if (rows.empty()) return {};
    return "<h4>Memory levels, with the most threads</h4>\n" +
           html_table({"device", "level", "measured: holds working sets of", "reported capacity", "verdict"}, rows);
}

}  // namespace

std::string ceilings_panel(const Study& study, const std::string&)
{
    return bandwidths(study.ceilings) + rates(study.ceilings) + levels(study.ceilings);
}

}  // namespace roof::analysis
