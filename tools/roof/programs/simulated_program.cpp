#include "tools/roof/programs/simulated_program.hpp"

#include "analysis/instructions/executed_work.hpp"
#include "ert/base/error.hpp"
#include "ert/base/text.hpp"
#include "ert/recording/record_files.hpp"
#include "tools/roof/console/terminal.hpp"
#include "tools/roof/programs/child_program.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <memory>

namespace roof {
namespace {

namespace fs = std::filesystem;
using analysis::ExecutedProgram;
using analysis::ExecutedWork;

constexpr std::size_t most_functions = 200;
constexpr double of_one_thread = 1.1;    ///< processor time over wall time
constexpr double decoded_enough = 1e-3;  ///< the share of instructions without known FLOPs that is left out of account
constexpr double pure = 0.99;            ///< the share of a number format that gives the row its compute roof

/// What the programs that ended had used.
struct Used {
    double seconds = 0;        ///< of processors
    double interruptions = 0;  ///< involuntary context switches
};

Used used_by_children()
{
    rusage use{};
    ::getrusage(RUSAGE_CHILDREN, &use);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return {seconds(use.ru_utime) + seconds(use.ru_stime), static_cast<double>(use.ru_nivcsw)};
}

struct SimulatedProgram {
    const std::vector<std::string>& words;
    std::map<std::string, std::string> variables;
    const Clock& clock;
    std::ostream& say;
    bool is_live;  ///< `say` is a terminal
};

/// Runs words silently, and says for how long already: on a terminal in one line, else once a minute.
int run_silently(const SimulatedProgram& program, const std::vector<std::string>& words, const std::string& what,
                 std::string& problem)
{
    const Seconds begin = program.clock(), often{program.is_live ? 1.0 : 60.0};
    Seconds told;
    const int status = run_again(words, program.variables, problem, [&] {
        const Seconds passed = program.clock() - begin;
        if (passed - told < often) return;
        told = passed;
        program.say << (program.is_live ? erase_line : "") << what << ": " << format_duration(std::round(passed.value))
                    << (program.is_live ? "" : "\n") << std::flush;
    });
    if (program.is_live) program.say << erase_line << std::flush;
    return status;
}

void remark(Measurement& row, const std::string& sentence)
{
    if (!sentence.empty()) row.remarks += (row.remarks.empty() ? "" : "; ") + sentence;
}

/// The undisturbed run. Returns whether one thread was at work.
bool run_timed(const SimulatedProgram& program, CountedProgram& counted)
{
    constexpr double often = 20;  ///< interruptions per second
    const Used before = used_by_children();
    const Seconds begin = program.clock();
    counted.status = run_child(program.words, program.variables, counted.problem);
    const Seconds wall = program.clock() - begin;
    counted.row.seconds = Estimate<Seconds>::of(std::vector<double>{wall.value});
    const Used after = used_by_children();
    const double interruptions = after.interruptions - before.interruptions;
    if (interruptions > std::max(2.0, often * wall.value))
        remark(counted.row, fmt::format("other programs interrupted the timed run {:.0f} times", interruptions));
    return after.seconds - before.seconds < of_one_thread * wall.value;
}

/// Null, with a remark, where the system allows no samples.
std::unique_ptr<Sampler> sampler_for(Measurement& row)
{
    constexpr double wanted = 2000, least = 1e-4, most = 1e-3;
    try {
        return std::make_unique<Sampler>(Seconds{std::clamp(row.seconds.median.value / wanted, least, most)});
    } catch (const Unsupported& reason) {
        remark(row, std::string("functions have no time: ") + reason.what());
        return nullptr;
    }
}

/// Samples of another run, with times as in the undisturbed one; with its threads, which a busy machine lets take
/// turns. Throws Unsupported if the run fails or is stopped.
std::vector<SampledPlace> run_sampled(const SimulatedProgram& program, Sampler& sampler, Measurement& row,
                                      bool& is_of_one_thread)
{
    std::string problem;
    sampler.start();
    const Seconds begin = program.clock();
    const int status = run_silently(program, program.words, "sampled run", problem);
    const Seconds sampled = program.clock() - begin;
    sampler.stop();
    if (status != 0) throw Unsupported(fmt::format("the sampled run ended with status {}", status));
    is_of_one_thread = is_of_one_thread && sampler.threads() < 2;
    int lost = 0;
    std::vector<SampledPlace> places = sampler.places(lost);
    if (lost > 0) remark(row, fmt::format("samples that were lost: {}", lost));
    if (sampled.value > 0)
        for (SampledPlace& place : places) place.time = place.time * (row.seconds.median / sampled);
    return places;
}

/// The functions that ran under callgrind. Throws Unsupported with the reason why they are not known.
std::vector<analysis::ExecutedFunction> run_executed(const SimulatedProgram& program, const SimulatedCaches& caches,
                                                     const fs::path& scratch)
{
    std::string problem;
    const int status =
        run_silently(program, under_callgrind(program.words, caches, scratch), "under valgrind", problem);
    if (!problem.empty()) throw Unsupported(problem);
    if (const std::string unknown = unknown_instruction(scratch); !unknown.empty()) throw Unsupported(unknown);
    if (status != 0) throw Unsupported(fmt::format("under valgrind the program ended with status {}", status));
    return executed_functions(scratch);
}

void set_work(Measurement& row, const ExecutedWork& whole)
{
    row.work = {.flops = {whole.total_flops()},
                .compulsory = {whole.read + whole.written},
                .no_reuse = {whole.read + whole.written},
                .known = Known::simulated,
                .read = {whole.read},
                .written = {whole.written}};
    if (whole.unknown > decoded_enough * whole.instructions) {
        row.work.flops = {};
        remark(row, fmt::format("{:.1f}% of the instructions are in no file, so the FLOPs are unknown",
                                100 * whole.unknown / whole.instructions));
    }
    for (const auto& [precision, flops] : whole.by_precision())
        if (flops >= pure * whole.total_flops() && precision != "fp80") row.point.set("precision", precision);
}

void add_records(std::vector<CounterRecord>& records, const ExecutedWork& work, CounterRecord record)
{
    const auto add = [&](const std::string& metric, double value, const char* unit) {
        record.metric = metric;
        record.value = value;
        record.unit = unit;
        records.push_back(record);
    };
    if (work.unknown <= decoded_enough * work.instructions) {
        for (const auto& [kind, flops] : work.flops) add("FLOPs of " + kind.text(), flops, "FLOP");
        add(operand_bytes_metric, work.operand_bytes, "byte");
    }
    add(into_first_metric, work.into_first, "byte");
    add(read_metric, work.read, "byte");
    add(written_metric, work.written, "byte");
    add(instructions_metric, work.instructions, "inst");
}

/// "gemm", or "sin [libm.so.6]" outside the program.
std::string name_of(const ExecutedWork& function, const std::string& program)
{
    const std::string object = fs::path(function.object).filename();
    return function.name + (object == program ? "" : " [" + object + "]");
}

std::vector<CounterRecord> records_of(const ExecutedProgram& program, const SampledFunctions& sampled,
                                      const std::string& name)
{
    struct Timed {
        const ExecutedWork* work;
        FunctionTime time;
    };
    std::vector<Timed> functions;
    for (const ExecutedWork& function : program.functions) {
        const auto found = sampled.functions.find({function.object, function.name});
        const FunctionTime time = found == sampled.functions.end() ? FunctionTime{} : found->second;
        if (time.samples > 0 || !function.flops.empty()) functions.push_back({&function, time});
    }
    std::ranges::stable_sort(functions, [](const Timed& a, const Timed& b) { return a.time.time > b.time.time; });
    functions.resize(std::min(functions.size(), most_functions));
    std::vector<CounterRecord> records;
    add_records(records, program.whole, {.device = "cpu", .scope = CounterScope::step});
    for (const Timed& function : functions) {
        const CounterRecord of{
            .device = "cpu", .scope = CounterScope::kernel, .name = name_of(*function.work, name), .launch = 0};
        add_records(records, *function.work, of);
        if (function.time.samples == 0) continue;
        records.push_back(of);
        records.back().metric = time_metric;
        records.back().value = function.time.time.value;
        records.back().unit = "s";
    }
    return records;
}

std::string about_same_code(const SampledFunctions& sampled)
{
    constexpr double enough = 0.98;
    constexpr int fewest = 100;
    if (sampled.samples < fewest)
        return fmt::format("too few samples, {}, to see whether the timed run took the same code", sampled.samples);
    const double share = static_cast<double>(sampled.executed) / sampled.samples;
    if (share >= enough)
        return fmt::format("{:.1f}% of the time was in instructions that valgrind ran, too", 100 * share);
    return fmt::format(
        "the timed run took other code than valgrind's: {:.1f}% of its time was in instructions that valgrind did not "
        "run, most of it in {}",
        100 * (1 - share), sampled.elsewhere);
}

}  // namespace

std::string missing_simulation()
{
    if (const std::string decoder = analysis::missing_decoder(); !decoder.empty()) return decoder;
    return installed("valgrind").empty() ? "valgrind is not installed (Debian's package valgrind)" : "";
}

CountedProgram simulate_program(const std::vector<std::string>& words, const std::string& name, const fs::path& folder,
                                const SimulatedCaches& caches, const Clock& clock, std::ostream& say, bool is_live)
{
    CountedProgram counted{program_row(name, "cpu",
                                       "The wall time of an undisturbed run; FLOPs of the instructions that valgrind "
                                       "ran, and lines of data between simulated caches and memory.")};
    const SimulatedProgram program{words, variables_of_same_code(), clock, say, is_live};
    const Scratch scratch;  // before the run, which may take hours
    bool is_of_one_thread = run_timed(program, counted);
    if (!counted.problem.empty()) return counted;
    if (counted.status != 0) {
        remark(counted.row, fmt::format("not simulated: the program ended with status {}", counted.status));
        return counted;
    }
    say << fmt::format(
        "roof: it took {}; now it runs again, silent: sampled, then under valgrind, which takes 20 to 100 times "
        "as long (Ctrl-C keeps the time)\n",
        format_duration(counted.row.seconds.median.value));
    try {
        std::vector<SampledPlace> places;
        if (const std::unique_ptr<Sampler> sampler = sampler_for(counted.row))
            places = run_sampled(program, *sampler, counted.row, is_of_one_thread);
        const std::vector<analysis::ExecutedFunction> functions = run_executed(program, caches, scratch.path());
        const ExecutedProgram executed = analysis::executed_work(functions);
        const SampledFunctions sampled = sampled_functions(places, functions);
        remark(counted.row, "simulated caches: " + caches.text() + "; libraries held to AVX2");
        remark(counted.row, about_same_code(sampled));
        set_work(counted.row, executed.whole);
        if (is_of_one_thread) counted.row.point.set("threads", "1");
        append_records<CounterRecord>(folder, counted.row.id(), records_of(executed, sampled, name));
    } catch (const std::exception& reason) {  // the time that was measured stays
        remark(counted.row, "not simulated: " + in_own_words(reason));
    }
    return counted;
}

}  // namespace roof
