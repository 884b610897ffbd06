#include "tools/roof/programs/likwid_comparison.hpp"

#include "analysis/table/fitted_text.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/table.hpp"
#include "ert/base/error.hpp"
#include "ert/base/text.hpp"
#include "ert/method/plan/measure.hpp"
#include "tools/roof/console/safe_stream.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace roof {
namespace {

constexpr int rounds = 3;
constexpr int repetitions = 3;  ///< of our probe per round; much shorter than one run of likwid

bool is_compute(const LikwidPoint& point)
{
    return point.level == "core";
}

/// Our items at the point; none if the bench of this build lacks the operation.
std::vector<Item> items_for(const LikwidPoint& point, const BenchRegistry& registry)
{
    PlanEntry entry;
    entry.bench = is_compute(point) ? "flops" : "bandwidth";
    entry.device = "cpu";
    entry.where = "--compare likwid";
    entry.stopping = {.warmup = 1, .min_samples = 7, .max_samples = 30, .interval = 0.003, .budget = Seconds{0.03}};
    entry.axes = {{"operation", {point.operation}}, {"threads", {std::to_string(point.threads)}}};
    if (is_compute(point)) {
        entry.axes["precision"] = {point.precision};
        entry.axes["isa"] = {registry.machine().isa.back()};
    } else {
        entry.axes["working_set"] = {fmt::format("{:.0f}", point.working_set.value)};
    }
    Plan plan;
    plan.entries = {entry};
    try {
        return expand(plan, registry);
    } catch (const InputError&) {
        return {};
    }
}

/// The fastest repetition of all items; 0 if none could be measured.
double measure_ours(const std::vector<Item>& items, const Context& context)
{
    double best = 0;
    for (int i = 0; i < repetitions; ++i) {
        for (const Item& item : items) {
            const Measurement row = measure(item, context.registry, context.clock);
            if (row.status != Status::ok || row.seconds.median.value <= 0) continue;
            best = std::max(best, work_of(row) / row.seconds.median.value);
        }
    }
    return best;
}

/// nullopt if likwid fails, for example if it may use fewer threads than the point has.
std::optional<double> run_likwid(const LikwidPoint& point, const RunProgram& run)
{
    try {
        return parse_likwid(run(likwid_command(point)));
    } catch (const Error&) {
        return std::nullopt;
    }
}

void show_progress(const Context& context, const std::string& text)
{
    if (context.terminal.live) context.err << erase_line << text << std::flush;
}

void measure_round(int round, std::vector<LikwidComparison>& comparisons, const Context& context, const RunProgram& run)
{
    for (std::size_t i = 0; i < comparisons.size() && !context.interrupted(); ++i) {
        LikwidComparison& comparison = comparisons[i];
        show_progress(context, fmt::format("round {} of {}, {} of {}: {}", round, rounds, i + 1, comparisons.size(),
                                           comparison.point.test));
        const std::optional<double> theirs = run_likwid(comparison.point, run);
        const double ours = measure_ours(items_for(comparison.point, context.registry), context);
        if (!theirs || ours <= 0) continue;
        comparison.ours.push_back(ours);
        comparison.theirs.push_back(*theirs);
    }
}

Spread ratio_of(const LikwidComparison& comparison)
{
    std::vector<double> ratios;
    for (std::size_t i = 0; i < comparison.ours.size(); ++i)
        ratios.push_back(comparison.ours[i] / comparison.theirs[i]);
    return spread_of(ratios);
}

std::string_view unit_of(const LikwidPoint& point)
{
    return is_compute(point) ? "FLOP/s" : "B/s";
}

using C = const LikwidComparison&;

analysis::DataTable table_of(const std::vector<LikwidComparison>& comparisons)
{
    using analysis::amount, analysis::word;
    static const std::vector<analysis::ColumnOf<LikwidComparison>> columns{
        {"level", "level", [](C c) { return word(c.point.level); }},
        {"operation", "operation", [](C c) { return word(c.point.operation); }},
        {"precision", "precision",
         [](C c) { return analysis::only_if(!c.point.precision.empty(), word(c.point.precision)); }},
        {"threads", "threads", [](C c) { return analysis::count(c.point.threads); }},
        {"working set", "working_set_bytes",
         [](C c) { return analysis::number(c.point.working_set.value, format_capacity(c.point.working_set.value)); }},
        {"ours", "ours", [](C c) { return amount(spread_of(c.ours).median, unit_of(c.point)); }},
        {"likwid", "theirs", [](C c) { return amount(spread_of(c.theirs).median, unit_of(c.point)); }},
        {"ratio", "ratio_*",
         [](C c) {
             const Spread ratio = ratio_of(c);
             return analysis::Cell{analysis::Range{ratio.median, ratio.low, ratio.high},
                                   analysis::ratio_text(ratio.median, ratio.low, ratio.high), true};
         }},
        {"test", "test", [](C c) { return word(c.point.test); }},
        {"", "rounds", [](C c) { return analysis::count(c.ours.size()); }},
        {"", "unit", [](C c) { return word(unit_of(c.point)); }},
    };
    return analysis::table_of(columns, comparisons);
}

}  // namespace

void require_likwid()
{
    if (is_installed("likwid-bench")) return;
    throw InputError("--compare likwid: likwid-bench is not on PATH; install likwid");
}

std::vector<LikwidComparison> compare_with_likwid(const Ceilings& ceilings, Context& context, const RunProgram& run)
{
    std::vector<LikwidComparison> comparisons;
    const std::set<std::string> tests = parse_likwid_tests(run({"likwid-bench", "-a"}));
    for (const LikwidPoint& point : likwid_points(ceilings, context.registry.machine(), tests))
        if (!items_for(point, context.registry).empty()) comparisons.push_back({point, {}, {}});
    context.err << fmt::format("comparing with likwid-bench: {} points in {} rounds, a minute or two\n",
                               comparisons.size(), rounds);
    for (int round = 1; round <= rounds; ++round) measure_round(round, comparisons, context, run);
    show_progress(context, "");
    std::erase_if(comparisons, [](const LikwidComparison& comparison) { return comparison.ours.empty(); });
    return comparisons;
}

std::string to_text(const std::vector<LikwidComparison>& comparisons)
{
    if (comparisons.empty()) return "Nothing was compared with likwid-bench.\n";
    return "Compared with likwid-bench (measured, in turns)\n" + analysis::to_text(table_of(comparisons)) +
           fmt::format("Ratio: ours over likwid's, within a round; median, smallest and largest of {} rounds.\n",
                       rounds);
}

nlohmann::json to_json(const std::vector<LikwidComparison>& comparisons)
{
    return analysis::to_json(table_of(comparisons));
}

}  // namespace roof
