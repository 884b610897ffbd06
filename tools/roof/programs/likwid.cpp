#include "tools/roof/programs/likwid.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

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

}  // namespace roof
