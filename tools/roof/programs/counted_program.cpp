#include "tools/roof/programs/counted_program.hpp"

#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/device_group.hpp"
#include "ert/recording/record_files.hpp"
#include "tools/roof/programs/simulation.hpp"

#include <map>
#include <optional>

namespace roof {
namespace {

namespace fs = std::filesystem;

constexpr double bytes_of_line = 64;

/// What counts the program; nothing, with the reason, where that is not possible.
std::optional<Profile> profile_of(const BenchRegistry& registry, std::string& reason)
{
    const Profiler* const profiler = registry.profiler("cpu");
    if (profiler == nullptr || !profiler->attach_program) {
        reason = "this build counts no events of the processor";
        return {};
    }
    try {
        return profiler->attach_program(device_for(registry.machine(), "cpu"));
    } catch (const Unsupported& unsupported) {
        reason = unsupported.what();
        return {};
    }
}

/// Sets the row's work from its lines in counters.csv. A sum of both precisions has none.
void set_work(Measurement& row, const fs::path& folder)
{
    std::map<std::string, Flops> flops;
    read_records<CounterRecord>(RecordedFolder(folder), [&](const std::string& id, const CounterRecord& record) {
        if (id != row.id()) return;
        if (record.unit == "FLOP") flops[record.metric] = Flops{record.value};
        if (record.unit == "byte" && record.metric == "lines from memory")
            row.work.compulsory = row.work.no_reuse = Bytes{record.value};
    });
    for (const auto& [metric, sum] : flops) row.work.flops += sum;
    row.work.known = Known::counter;
}

}  // namespace

Measurement program_row(const std::string& program, const std::string& device, const std::string& description)
{
    Measurement row;
    row.bench = "program";
    row.role = Role::step;
    row.device = device;
    row.point.set("model", program);
    row.description = description;
    return row;
}

CountedProgram count_program(const BenchRegistry& registry, const fs::path& folder, const std::string& name,
                             const Clock& clock, const RunCounted& run)
{
    CountedProgram counted{
        program_row(name, "cpu", "The wall time of a program, and the processor's events in user mode.")};
    std::string reason;
    const std::optional<Profile> profile = profile_of(registry, reason);
    Seconds taken{};
    const Launch launch = [&] {
        const Seconds begin = clock();
        counted.status = run(counted.problem);
        taken = clock() - begin;
    };
    profile ? profile->trace(launch) : launch();
    if (!counted.problem.empty()) return counted;
    counted.row.seconds = Estimate<Seconds>::of(std::vector<double>{taken.value});
    if (!profile) {
        counted.row.remarks = "not counted: " + reason + "; --simulate simulates the caches";
        return counted;
    }
    counted.row.remarks = join(profile->count([] {}), "; ");
    profile->write(folder, counted.row.id());
    set_work(counted.row, folder);
    return counted;
}

std::vector<std::string> under_cachegrind(const std::vector<std::string>& words, const SimulatedCaches& caches,
                                          const fs::path& file)
{
    std::vector<std::string> all{"valgrind", "--quiet", "--tool=cachegrind", "--cachegrind-out-file=" + file.string()};
    const std::vector<std::string> simulated = caches.options();
    all.insert(all.end(), simulated.begin(), simulated.end());
    all.insert(all.end(), words.begin(), words.end());
    return all;
}

CountedProgram simulated_program(const fs::path& file, const fs::path& folder, const std::string& name)
{
    CountedProgram counted{
        program_row(name, "cpu", "Misses of simulated caches (valgrind's cachegrind); no time was measured.")};
    const std::string text = read_file(file);
    if (text.find(" DLmw") == text.npos)
        throw InputError(file.string() + ": no summary of cachegrind with simulated caches");
    for (const std::string& line : split(text, '\n'))
        if (line.starts_with("desc: ") && line.find(" cache:") != line.npos)
            counted.row.remarks += (counted.row.remarks.empty() ? "simulated: " : ", ") + line.substr(6);
    const Dump misses = parse_dump(text);
    const Bytes moved{bytes_of_line * misses.last};
    counted.row.work = {.flops = {}, .compulsory = moved, .no_reuse = moved, .known = Known::simulated};
    CounterRecord record{"cpu",           CounterScope::step,           {},    {}, {}, {},
                         "lines into L1", bytes_of_line * misses.first, "byte"};
    std::vector<CounterRecord> records{record};
    record.metric = "lines from memory";
    record.value = moved.value;
    records.push_back(record);
    append_records<CounterRecord>(folder, counted.row.id(), records);
    return counted;
}

}  // namespace roof
