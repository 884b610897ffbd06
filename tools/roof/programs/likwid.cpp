#include "tools/roof/programs/likwid.hpp"

#include "analysis/table/fitted_text.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/table.hpp"
#include "ert/base/error.hpp"
#include "ert/base/text.hpp"
#include "ert/method/plan/measure.hpp"
#include "tools/roof/console/terminal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace roof {
namespace {

struct TestName {
    std::string_view operation;  ///< ours
    std::string_view test;       ///< without its instruction set
    bool only_memory = false;    ///< bypasses the caches
};
constexpr std::array<TestName, 7> streams{{{"load", "load"},
                                           {"store", "store"},
                                           {"store_nt", "store_mem", true},
                                           {"copy", "copy"},
                                           {"copy_nt", "copy_mem", true},
                                           {"update", "update"},
                                           {"triad", "stream"}}};
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> peaks{
    {{"fp64", "peakflops"}, {"fp32", "peakflops_sp"}}};

/// likwid's names of the machine's instruction sets, widest first.
std::vector<std::string> widths_of(const Machine& machine)
{
    constexpr std::array<std::pair<std::string_view, std::string_view>, 3> names{
        {{"avx512", "avx512"}, {"avx2", "avx"}, {"sse", "sse"}}};
    std::vector<std::string> widths;
    for (const auto& [ours, theirs] : names)
        if (std::ranges::find(machine.isa, ours) != machine.isa.end()) widths.emplace_back(theirs);
    return widths;
}

/// The first existing test of `stem`_<width>`ending`, widest first; empty without one.
std::string widest(std::string_view stem, std::string_view ending, const Machine& machine,
                   const std::set<std::string>& tests)
{
    for (const std::string& width : widths_of(machine)) {
        std::string test = fmt::format("{}_{}{}", stem, width, ending);
        if (tests.contains(test)) return test;
    }
    return {};
}

double middle_of(const MeasuredLevel& level)
{
    return level.name == "DRAM" ? level.to.value : std::sqrt(level.from.value * level.to.value);
}

Bytes whole_kibibytes_of_every_thread(double size, int threads)
{
    const double grain = 1024.0 * threads;
    return Bytes{std::max(1.0, std::floor(size / grain)) * grain};
}

/// Our ceiling for the point, or null.
const Ceiling* ours_of(const LikwidPoint& point, const Ceilings& ceilings)
{
    const auto found = std::ranges::find_if(ceilings.all, [&](const Ceiling& ours) {
        return ours.kind == Role::bandwidth && ours.level == point.level && ours.operation == point.operation &&
               ours.threads == point.threads && ours.condition.empty() && ours.device == "cpu";
    });
    return found == ceilings.all.end() ? nullptr : &*found;
}

/// Sets the working set to that of our ceiling, because a level may reach its best rate for some sizes only.
void use_our_working_set(const Ceilings& ceilings, const MeasuredLevel& level, LikwidPoint& point)
{
    constexpr double seconds = 0.2;
    constexpr double least = 10;
    const Ceiling* const ours = ours_of(point, ceilings);
    const bool has_size = ours != nullptr && ours->working_set.value > 0;
    point.working_set =
        whole_kibibytes_of_every_thread(has_size ? ours->working_set.value : middle_of(level), point.threads);
    if (ours == nullptr) return;
    point.iterations = std::llround(std::max(least, seconds * ours->rate.median.value / point.working_set.value));
}

/// The number after "key:" at the start of a line; 0 without one.
double number_after(std::string_view output, std::string_view key)
{
    for (const std::string& line : split(output, '\n'))
        if (line.starts_with(key) && line.substr(key.size()).starts_with(":"))
            return std::strtod(line.c_str() + key.size() + 1, nullptr);
    return 0;
}

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

std::set<std::string> parse_likwid_tests(std::string_view listing)
{
    std::set<std::string> tests;
    for (const std::string& line : split(listing, '\n'))
        if (const std::size_t dash = line.find(" - "); dash != std::string::npos) tests.insert(line.substr(0, dash));
    return tests;
}

std::vector<LikwidPoint> likwid_points(const Ceilings& ceilings, const Machine& machine,
                                       const std::set<std::string>& tests)
{
    constexpr double bytes_in_l1 = 16384;
    std::vector<LikwidPoint> points;
    std::set<int> thread_counts;
    for (const MeasuredLevel& level : ceilings.levels_by_threads) {
        if (level.device != "cpu") continue;
        thread_counts.insert(level.threads);
        for (const TestName& stream : streams) {
            const std::string test = widest(stream.test, "", machine, tests);
            if (test.empty() || (stream.only_memory && level.name != "DRAM")) continue;
            points.push_back({level.name, std::string(stream.operation), "", level.threads, {}, test});
            use_our_working_set(ceilings, level, points.back());
        }
    }
    for (const int threads : thread_counts) {
        for (const auto& [precision, stem] : peaks) {
            const std::string test = widest(stem, "_fma", machine, tests);
            if (test.empty()) continue;
            points.push_back({"core", "fma", std::string(precision), threads, Bytes{bytes_in_l1 * threads}, test});
        }
    }
    return points;
}

std::vector<std::string> likwid_command(const LikwidPoint& point)
{
    // likwid's kB is 1000 bytes.
    const auto kilobytes = std::max(1LL, std::llround(point.working_set.value / 1000));
    std::vector<std::string> words{"likwid-bench", "-t", point.test, "-W",
                                   fmt::format("N:{}kB:{}", kilobytes, point.threads)};
    if (point.iterations > 0)
        words.insert(words.end(), {"-i", std::to_string(point.iterations)});
    else
        words.insert(words.end(), {"-s", "1"});
    return words;
}

std::optional<double> parse_likwid(std::string_view output)
{
    const bool is_peak = output.find("Test: peakflops") != std::string_view::npos;
    const double millions = number_after(output, is_peak ? "MFlops/s" : "MByte/s");
    return millions > 0 ? std::optional(millions * 1e6) : std::nullopt;
}

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
