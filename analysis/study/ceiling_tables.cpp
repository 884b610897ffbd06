#include "analysis/study/ceiling_tables.hpp"

#include "analysis/roofline/roofs.hpp"
#include "analysis/table/quantities.hpp"
#include "ert/base/text.hpp"
#include "ert/method/ceilings/spec_rate.hpp"
#include "ert/method/ceilings/steadiness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <set>

namespace roof::analysis {

namespace {

using Group = std::vector<const Ceiling*>;

template <class Row>
struct Column {
    std::string name;
    bool number;
    std::function<std::string(const Row&)> cell;
};

const std::string nothing = "-";

std::string or_nothing(const std::string& text)
{
    return text.empty() ? nothing : text;
}

/// Without the columns in which every cell is `nothing`.
template <class Row>
TextTable table_of(std::string title, const std::vector<Column<Row>>& columns, const std::vector<const Row*>& rows)
{
    TextTable table{std::move(title), {}, std::vector<std::vector<std::string>>(rows.size())};
    for (const Column<Row>& column : columns) {
        std::vector<std::string> cells;
        for (const Row* row : rows) cells.push_back(or_nothing(column.cell(*row)));
        if (std::ranges::all_of(cells, [](const std::string& cell) { return cell == nothing; })) continue;
        table.columns.push_back({column.name, column.number});
        for (std::size_t i = 0; i < cells.size(); ++i) table.rows[i].push_back(std::move(cells[i]));
    }
    return table;
}

std::string count_of_threads(int threads)
{
    return fmt::format("{} thread{}", threads, threads == 1 ? "" : "s");
}

std::vector<int> thread_counts(const Ceilings& ceilings, const std::string& device)
{
    std::set<int> counts;
    for (const Ceiling& ceiling : ceilings.all)
        if (ceiling.device == device) counts.insert(ceiling.threads);
    return {counts.begin(), counts.end()};
}

/// Those there are, the usual one (empty) first.
std::vector<std::string> conditions(const Ceilings& ceilings, const std::string& device)
{
    std::set<std::string> found;
    for (const Ceiling& ceiling : ceilings.all)
        if (ceiling.device == device) found.insert(ceiling.condition);
    return {found.begin(), found.end()};
}

/// Levels in the order in which they were found.
void put_in_order(Group& group, const Ceilings& ceilings)
{
    const auto rank = [&](const Ceiling* ceiling) {
        const auto same = [&](const MeasuredLevel& level) {
            return level.device == ceiling->device && level.name == ceiling->level;
        };
        const auto found = std::ranges::find_if(ceilings.levels, same);
        return std::distance(ceilings.levels.begin(), found);
    };
    std::ranges::stable_sort(group, [&](const Ceiling* a, const Ceiling* b) { return rank(a) < rank(b); });
}

Group select(const Ceilings& ceilings, const std::function<bool(const Ceiling&)>& wanted)
{
    Group group;
    for (const Ceiling& ceiling : ceilings.all)
        if (wanted(ceiling)) group.push_back(&ceiling);
    put_in_order(group, ceilings);
    return group;
}

std::string clock_text(const Estimate<Hertz>& clock)
{
    return clock.median.value > 0 ? fmt::format("{:.2f}", clock.median.value / 1e9) : nothing;
}

std::string share_text(const Ceiling& ceiling, const Machine& machine)
{
    const std::optional<double> share = share_of_spec(ceiling, machine);
    return share ? fmt::format("{:.1f}%", 100 * *share) : nothing;
}

Column<Ceiling> verdict_column()
{
    return {"verdict", false,
            [](const Ceiling& c) { return c.steadiness == Steadiness::steady ? nothing : printable(verdict_of(c)); }};
}

/// Of all ceilings: rate, clock, what that makes per clock and core, and how it was reached.
std::vector<Column<Ceiling>> rate_columns(const std::string& rate, const std::string& per_clock, const Machine& machine)
{
    return {{rate, true, [](const Ceiling& c) { return with_interval(c.rate, c.unit()); }},
            {"GHz", true, [](const Ceiling& c) { return clock_text(c.clock); }},
            {per_clock, true,
             [&machine](const Ceiling& c) {
                 const double reached = per_clock_and_core(c, machine);
                 return reached > 0 ? plain_number(reached, reached < 100 ? 3 : 4) : nothing;
             }},
            {"of spec", true, [&machine](const Ceiling& c) { return share_text(c, machine); }},
            verdict_column(),
            {"found by search", false, [](const Ceiling& c) { return printable(c.variant); }}};
}

TextTable bandwidths(const std::string& title, const Group& group, const Machine& machine)
{
    std::vector<Column<Ceiling>> columns{{"level", false, [](const Ceiling& c) { return printable(c.level); }},
                                         {"operation", false, [](const Ceiling& c) { return printable(c.operation); }}};
    for (const Column<Ceiling>& column : rate_columns("bandwidth [95%]", "B/clock", machine)) columns.push_back(column);
    return table_of(title, columns, group);
}

TextTable rates(const std::string& title, const Group& group, const Machine& machine)
{
    std::vector<Column<Ceiling>> columns{{"precision", false, [](const Ceiling& c) { return printable(c.precision); }},
                                         {"isa", false, [](const Ceiling& c) { return printable(c.isa); }},
                                         {"operation", false, [](const Ceiling& c) { return printable(c.operation); }}};
    for (const Column<Ceiling>& column : rate_columns("rate [95%]", "FLOP/clock", machine)) columns.push_back(column);
    return table_of(title, columns, group);
}

std::string time_per_access(const Ceiling& c)
{
    return with_interval(c.per_access().value, 1 / c.rate.high.value, 1 / c.rate.low.value, "s");
}

std::string clocks_per_access(const Ceiling& c)
{
    const double clocks = c.per_access().value * c.clock.median.value;
    return clocks > 0 ? plain_number(clocks) : nothing;
}

TextTable latencies(const Ceilings& ceilings)
{
    const std::vector<Column<Ceiling>> columns{
        {"device", false, [](const Ceiling& c) { return c.device == "cpu" ? nothing : printable(c.device); }},
        {"level", false, [](const Ceiling& c) { return printable(c.level); }},
        {"condition", false,
         [](const Ceiling& c) { return c.condition == c.level ? nothing : printable(c.condition); }},
        {"working set", true,
         [](const Ceiling& c) { return c.working_set.value > 0 ? format_capacity(c.working_set.value) : nothing; }},
        {"per access [95%]", true, time_per_access},
        {"clocks", true, clocks_per_access},
        verdict_column()};
    const Group group = select(ceilings, [](const Ceiling& c) { return c.kind == Role::latency; });
    return table_of("Latency (measured): one dependent load after another; of a core, a line handed over to it",
                    columns, group);
}

/// "1 thread", "1, 2 threads".
std::string thread_words(const std::vector<int>& threads)
{
    std::vector<std::string> counts;
    for (const int count : threads) counts.push_back(std::to_string(count));
    return join(counts, ", ") + (threads == std::vector{1} ? " thread" : " threads");
}

/// The thread counts of its device whose sweeps do not show a level of its name.
std::vector<int> unseen_with(const MeasuredLevel& level, const std::vector<MeasuredLevel>& all)
{
    std::vector<int> unseen;
    for (const MeasuredLevel& memory : all) {
        if (memory.device != level.device || memory.name != "DRAM") continue;
        const bool is_seen = std::ranges::any_of(all, [&](const MeasuredLevel& other) {
            return other.device == level.device && other.name == level.name && other.threads == memory.threads;
        });
        if (!is_seen) unseen.push_back(memory.threads);
    }
    return unseen;
}

std::string level_verdict(const MeasuredLevel& level, const std::vector<MeasuredLevel>& all)
{
    if (!level.confirmed) return "unconfirmed: seen with " + thread_words(level.seen_with) + " only";
    std::vector<std::string> words;
    if (level.contradiction)
        words.emplace_back("contradiction: more than a factor of two apart");
    else if (level.reported.value > 0 && level.name != "DRAM")
        words.emplace_back("agree");
    if (const std::vector<int> unseen = unseen_with(level, all); !unseen.empty())
        words.push_back("not seen with " + thread_words(unseen));
    return words.empty() ? nothing : join(words, "; ");
}

TextTable levels(const Ceilings& ceilings)
{
    const std::vector<MeasuredLevel> found = ceilings.plateaus();
    std::vector<const MeasuredLevel*> rows;
    for (const MeasuredLevel& level : found) rows.push_back(&level);
    const bool one_device = devices_of(ceilings).size() < 2;
    const std::vector<Column<MeasuredLevel>> columns{
        {"device", false, [&](const MeasuredLevel& l) { return one_device ? nothing : printable(l.device); }},
        {"threads", true, [](const MeasuredLevel& l) { return std::to_string(l.threads); }},
        {"level", false, [](const MeasuredLevel& l) { return printable(l.name); }},
        {"holds working sets", true,
         [](const MeasuredLevel& l) { return format_capacity(l.from.value) + " to " + format_capacity(l.to.value); }},
        {"but not", true,
         [](const MeasuredLevel& l) { return l.beyond.value > 0 ? format_capacity(l.beyond.value) : nothing; }},
        {"instances", false,
         [](const MeasuredLevel& l) { return l.sharing == Sharing::unclear ? nothing : std::string(name(l.sharing)); }},
        {"reported", true,
         [](const MeasuredLevel& l) {
             return l.reported.value > 0 ? format_capacity(l.reported.value) : "not reported";
         }},
        {"verdict", false, [&](const MeasuredLevel& l) { return level_verdict(l, found); }}};
    return table_of("Memory levels (measured beside reported)", columns, rows);
}

/// "Bandwidth, 2 threads, small pages (measured)"; of another device than the CPU, its name instead of threads.
std::string title_of(const Ceiling& first)
{
    return fmt::format("{}, {}{} (measured)", first.kind == Role::bandwidth ? "Bandwidth" : "Compute",
                       first.device == "cpu" ? count_of_threads(first.threads) : printable(first.device),
                       first.condition.empty() ? "" : ", " + printable(first.condition));
}

}  // namespace

std::vector<TextTable> ceiling_tables(const Ceilings& ceilings, const Machine& machine)
{
    std::vector<TextTable> tables;
    const auto add = [&](Role kind, const std::string& device, const std::string& condition, int threads) {
        const Group group = select(ceilings, [&](const Ceiling& c) {
            return c.kind == kind && c.device == device && c.condition == condition && c.threads == threads;
        });
        if (group.empty()) return;
        const std::string title = title_of(*group.front());
        tables.push_back(kind == Role::bandwidth ? bandwidths(title, group, machine) : rates(title, group, machine));
    };
    for (const Role kind : {Role::bandwidth, Role::compute})
        for (const std::string& device : devices_of(ceilings))
            for (const std::string& condition : conditions(ceilings, device))
                for (const int threads : thread_counts(ceilings, device)) add(kind, device, condition, threads);
    tables.push_back(latencies(ceilings));
    tables.push_back(named_ceilings(ceilings));
    tables.push_back(levels(ceilings));
    std::erase_if(tables, [](const TextTable& table) { return table.rows.empty(); });
    return tables;
}

std::string verdict_of(const Ceiling& ceiling)
{
    std::string text(name(ceiling.steadiness));
    if (ceiling.steadiness != Steadiness::bimodal || ceiling.modes.empty()) return text;
    const bool is_time = ceiling.kind == Role::latency;
    std::vector<double> modes;
    for (const Mode& mode : ceiling.modes) modes.push_back(is_time ? 1 / mode.rate : mode.rate);
    return text + " " + in_one_unit(modes, is_time ? "s" : ceiling.unit());
}

bool warns(const std::string& cell)
{
    constexpr std::array<std::string_view, 6> warnings{"contradiction", "bimodal",       "unsteady",
                                                       "few samples",   "short of spec", "unconfirmed"};
    return std::ranges::any_of(warnings, [&](std::string_view warning) { return cell.starts_with(warning); });
}

std::string moved_processors(const Ceilings& ceilings)
{
    const auto moved = std::ranges::find_if(ceilings.all, shows_two_distances);
    if (moved == ceilings.all.end()) return {};
    return fmt::format(
        "processors move: a line went from one core to another in {} at some moments and in {} at others, so they "
        "share a last cache only at times, and there and in memory several threads have two rates",
        format_duration(1 / moved->modes.back().rate), format_duration(1 / moved->modes.front().rate));
}

std::string spec_footnote(const Ceilings& ceilings, const Machine& machine)
{
    for (const Ceiling& ceiling : ceilings.all)
        if (const SpecRate* spec = spec_rate_of(ceiling, machine))
            return "of spec: per clock and core, of what " + spec->source + " says a core can do";
    return "What a core of this processor can do per clock is not known here: nothing stands beside the ceilings.";
}

}  // namespace roof::analysis
