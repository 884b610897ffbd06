#include "analysis/study/ceilings/ceiling_tables.hpp"

#include "analysis/roofline/roofs.hpp"
#include "analysis/study/tables.hpp"
#include "analysis/table/fitted_text.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/ranges.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/level.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <tuple>

namespace roof::analysis {
namespace {

using C = const Ceiling&;
using Columns = std::vector<ColumnOf<Ceiling>>;

/// A lower bound has no upper end.
Cell rate_cell(C ceiling)
{
    if (ceiling.steadiness != Steadiness::at_least) return range(ceiling.rate, ceiling.unit());
    return numeric_text(rate_text(ceiling));
}

Cell samples_cell(C c)
{
    return only_if(c.rate.n > 0, numeric_text(samples_text(c.rate.n)));
}

Cell verdict_cell(C ceiling)
{
    if (ceiling.steadiness == Steadiness::steady)
        return only_if(ceiling.times > 0, word(fmt::format("steady ({} looks over {})", ceiling.times,
                                                           format_duration(ceiling.over.value))));
    if (ceiling.steadiness == Steadiness::changed && !ceiling.change.empty())
        return warning_if(true, word(ceiling.change));
    return warning_if(ceiling.steadiness != Steadiness::seen_once, word(name(ceiling.steadiness)));
}

/// The share of the set that a nearer level may have served, where that is a tenth or more.
Cell nearer_cell(C c)
{
    constexpr double noticed = 0.1;
    return only_if(c.kind == Role::bandwidth && c.nearer_share >= noticed,
                   number(c.nearer_share, "≤ " + percent(c.nearer_share)));
}

Cell working_set_cell(C c)
{
    return only_if(c.working_set.value > 0, numeric_text(format_capacity(c.working_set.value)));
}

/// Whether its working set alone tells it from another one, such as half the L2 from four times the L2.
bool is_alike(C c, const Ceilings& ceilings)
{
    const auto name = [](C one) {
        return std::tie(one.kind, one.device, one.level, one.operation, one.condition, one.threads);
    };
    return std::ranges::count_if(ceilings.all, [&](C other) { return name(other) == name(c); }) > 1;
}

Columns with_rate(Columns columns, const char* rate, const char* per_clock, const Ceilings& ceilings,
                  const Machine& machine)
{
    for (const ColumnOf<Ceiling>& column :
         Columns{{rate, "", [](C c) { return rate_cell(c); }},
                 {"n", "", samples_cell},
                 {"GHz", "",
                  [](C c) {
                      const double clock = c.clock.median.value;
                      return only_if(clock > 0, number(clock, fmt::format("{:.2f}", clock / 1e9)));
                  }},
                 {per_clock, "",
                  [&](C c) {
                      const double reached = per_clock_and_core(c, machine);
                      return only_if(reached > 0, number(reached, plain_number(reached, reached < 100 ? 3 : 4)));
                  }},
                 {"of spec", "",
                  [&](C c) {
                      const std::optional<double> share = share_of_spec(c, machine);
                      if (!share) return absent();
                      const bool is_above = is_above_spec(c, ceilings, machine);
                      const std::string text = fmt::format("{:.1f}%{}", 100 * *share, is_above ? "*" : "");
                      return warning_if(is_above, number(*share, text));
                  }},
                 {"verdict", "", [](C c) { return verdict_cell(c); }},
                 {"a nearer level's", "", nearer_cell},
                 {"found by search", "", [](C c) { return name_cell(c.variant); }}})
        columns.push_back(column);
    return columns;
}

/// They refer to the ceilings and the machine.
Columns columns_of(Role kind, const Ceilings& ceilings, const Machine& machine)
{
    if (kind == Role::bandwidth)
        return with_rate(
            {{"level", "", [](C c) { return name_cell(c.level); }},
             {"operation", "", [](C c) { return name_cell(c.operation); }},
             {"working set", "", [&](C c) { return only_if(is_alike(c, ceilings), working_set_cell(c)); }}},
            "bandwidth [95%]", "B/clock", ceilings, machine);
    if (kind == Role::compute)
        return with_rate({{"precision", "", [](C c) { return name_cell(c.precision); }},
                          {"isa", "", [](C c) { return name_cell(c.isa); }},
                          {"operation", "", [](C c) { return name_cell(c.operation); }}},
                         "rate [95%]", "FLOP/clock", ceilings, machine);
    return {{"device", "", [](C c) { return name_cell(c.device == "cpu" ? "" : c.device); }},
            {"level", "", [](C c) { return name_cell(c.level); }},
            {"condition", "", [](C c) { return name_cell(c.condition == c.level ? "" : c.condition); }},
            {"working set", "", working_set_cell},
            {"per access [95%]", "",
             [](C c) {
                 if (c.steadiness == Steadiness::at_least)
                     return numeric_text("≤ " + format_si(c.per_access().value, "s"));
                 return range({c.per_access().value, 1 / c.rate.high.value, 1 / c.rate.low.value}, "s");
             }},
            {"n", "", samples_cell},
            {"clocks", "",
             [](C c) {
                 const double clocks = c.per_access().value * c.clock.median.value;
                 return only_if(clocks > 0, plain(clocks));
             }},
            {"verdict", "", [](C c) { return verdict_cell(c); }}};
}

/// The values of a field over the ceilings of the device, in order: the usual condition (empty) first.
template <class Value>
std::set<Value> values_of(const Ceilings& ceilings, const std::string& device, Value Ceiling::*field)
{
    std::set<Value> values;
    for (const Ceiling& ceiling : ceilings.all)
        if (ceiling.device == device) values.insert(ceiling.*field);
    return values;
}

/// The chosen ceilings, with levels in the order of the sweep. Columns and rows without content are left out.
DataTable table_of_ceilings(std::string title, Role kind, const Ceilings& ceilings, const Machine& machine,
                            const std::function<bool(const Ceiling&)>& is_chosen)
{
    std::vector<Ceiling> group;
    for (const Ceiling& ceiling : ceilings.all)
        if (ceiling.kind == kind && is_chosen(ceiling)) group.push_back(ceiling);
    std::ranges::stable_sort(group, {}, [&](C ceiling) {
        return std::ranges::find_if(ceilings.levels,
                                    [&](const MeasuredLevel& level) {
                                        return level.device == ceiling.device && level.name == ceiling.level;
                                    }) -
               ceilings.levels.begin();
    });
    DataTable table =
        table_of(columns_of(kind, ceilings, machine), group,
                 {.title = std::move(title), .expendable = {"found by search", "GHz", "B/clock", "FLOP/clock", "n"}});
    drop_empty_columns(table);
    return table;
}

/// The thread counts of the device with which this level was not measured.
std::vector<int> unmeasured_with(const MeasuredLevel& level, const std::vector<MeasuredLevel>& all)
{
    std::set<int> counts;
    for (const MeasuredLevel& other : all)
        if (other.device == level.device) counts.insert(other.threads);
    for (const MeasuredLevel& other : all)
        if (other.device == level.device && other.name == level.name) counts.erase(other.threads);
    return {counts.begin(), counts.end()};
}

using L = const MeasuredLevel&;

Cell level_verdict(L level, const std::vector<MeasuredLevel>& all)
{
    std::vector<std::string> remarks;
    if (level.contradiction)
        remarks.emplace_back("contradiction: more than a factor of two apart");
    else if (level.reported.value > 0 && level.edge.value > 0)
        remarks.emplace_back("agree");
    if (const std::vector<int> without = unmeasured_with(level, all); !without.empty())
        remarks.push_back(fmt::format("not measured with {} thread{}", fmt::join(without, ", "),
                                      without == std::vector{1} ? "" : "s"));
    if (remarks.empty()) return absent();
    return warning_if(level.contradiction, word(join(remarks, "; ")));
}

Cell capacity_cell(Bytes bytes)
{
    return only_if(bytes.value > 0, number(bytes.value, format_capacity(bytes.value)));
}

}  // namespace

std::vector<DataTable> ceiling_tables(const Ceilings& ceilings, const Machine& machine)
{
    std::vector<DataTable> tables;
    const auto add = [&](Role kind, const std::string& device, const std::string& condition, int threads) {
        const auto is_chosen = [&](const Ceiling& c) {
            return c.kind == kind && c.device == device && c.condition == condition && c.threads == threads;
        };
        const Ceiling* const first = first_in(ceilings.all, is_chosen);
        if (first == nullptr) return;
        const std::string title =  // "Bandwidth, 2 threads, small pages (measured)"
            fmt::format("{}, {}{} ({})", kind == Role::bandwidth ? "Bandwidth" : "Compute",
                        processors_text(device, threads), condition.empty() ? "" : ", " + condition,
                        name(first->known));
        tables.push_back(table_of_ceilings(title, kind, ceilings, machine, is_chosen));
    };
    for (const Role kind : {Role::bandwidth, Role::compute})
        for (const std::string& device : devices_of(ceilings))
            for (const std::string& condition : values_of(ceilings, device, &Ceiling::condition))
                for (const int threads : values_of(ceilings, device, &Ceiling::threads))
                    add(kind, device, condition, threads);
    tables.push_back(table_of_ceilings(
        fmt::format("Latency ({}): one dependent load after another; core to core: a line moved to this core",
                    name(ceilings.known())),
        Role::latency, ceilings, machine, [](const Ceiling&) { return true; }));
    tables.push_back(named_ceilings(ceilings));
    tables.push_back(levels_table(ceilings));
    std::erase_if(tables, [](const DataTable& table) { return table.rows.empty(); });
    return tables;
}

DataTable levels_table(const Ceilings& ceilings)
{
    const std::vector<MeasuredLevel>& all =
        ceilings.levels_by_threads.empty() ? ceilings.levels : ceilings.levels_by_threads;
    const bool names_device = devices_of(ceilings).size() > 1;
    const std::vector<ColumnOf<MeasuredLevel>> columns{
        {"device", "", [&](L l) { return only_if(names_device, word(l.device)); }},
        {"", "device", [](L l) { return word(l.device); }},
        {"", "level", [](L l) { return word(l.name); }},
        {"threads", "threads", [](L l) { return count(l.threads); }},
        {"level", "", [](L l) { return word(l.name); }},
        {"holds working sets", "",
         [](L l) { return numeric_text(format_capacity(l.from.value) + " to " + format_capacity(l.to.value)); }},
        {"", "from_bytes", [](L l) { return number(l.from.value); }},
        {"", "to_bytes", [](L l) { return number(l.to.value); }},
        {"but not", "beyond_bytes", [](L l) { return capacity_cell(l.beyond); }},
        {"instances", "", [](L l) { return only_if(l.sharing != Sharing::unclear, word(name(l.sharing))); }},
        {"reported", "reported_bytes",
         [](L l) {
             const bool is_known = l.reported.value > 0;
             return is_known ? capacity_cell(l.reported) : numeric_text("not reported");
         }},
        {"verdict", "", [&](L l) { return level_verdict(l, all); }},
        {"", "sharing", [](L l) { return word(name(l.sharing)); }},
        {"", "contradiction", [](L l) { return truth(l.contradiction); }},
    };
    DataTable table = table_of(columns, all,
                               {.title = fmt::format("Memory levels ({} beside reported)", name(ceilings.known())),
                                .expendable = {"instances", "but not"}});
    drop_empty_columns(table);
    return table;
}

std::string moved_processors(const Ceilings& ceilings)
{
    constexpr double far_apart = 0.5;
    const auto moved = std::ranges::find_if(ceilings.all, [](const Ceiling& ceiling) {
        return ceiling.operation == "core_to_core" && ceiling.typical_share() <= far_apart;
    });
    if (moved == ceilings.all.end()) return {};
    return fmt::format(
        "vCPUs migrate: a line went from one core to another in {} at best and typically in {}. The cores share a last "
        "cache only at times, so several threads have two rates there and in memory",
        format_duration(moved->per_access().value), format_duration(1 / moved->typical));
}

std::string spec_footnote(const Ceilings& ceilings, const Machine& machine)
{
    for (const Ceiling& ceiling : ceilings.all)
        if (const SpecRate* spec = spec_rate_of(ceiling, machine))
            return "of spec: per clock and core, as a share of the figure of " + spec->source +
                   (above_spec(ceilings, machine).empty()
                        ? ""
                        : ". * Above it: the clock was read too low, a nearer level served a part of the working set, "
                          "or the figure does not hold for this processor. The rate stays as measured");
    return "The spec of this processor per clock is unknown, so the ceilings have no spec beside them.";
}

std::string ceilings_text(const Ceilings& ceilings, const Machine& machine, int columns)
{
    std::string text;
    for (const DataTable& table : ceiling_tables(ceilings, machine)) text += to_text(table, columns) + "\n";
    std::string remarks =
        ceilings.all.empty() ? "No ceilings were measured.\n" : printable(spec_footnote(ceilings, machine)) + "\n";
    std::vector<std::string> inconsistencies = machine.inconsistencies;
    if (std::string moved = moved_processors(ceilings); !moved.empty()) inconsistencies.push_back(std::move(moved));
    for (const Ceiling& one : ceilings.refused)
        inconsistencies.push_back(fmt::format(
            "refused: {} {}, {}, {} of {}: {}", one.level, one.operation, threads_text(one.threads), rate_text(one),
            how_many(static_cast<std::size_t>(std::max(0, one.rate.n)), "sample"), one.stands_in));
    return text +
           fitted_lines(remarks + listed("Inconsistencies in what the machine reports", inconsistencies), columns);
}

}  // namespace roof::analysis
