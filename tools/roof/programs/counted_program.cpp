#include "tools/roof/programs/counted_program.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/machine.hpp"
#include "ert/recording/record_files.hpp"

#include <map>
#include <optional>

namespace roof {
namespace {

namespace fs = std::filesystem;

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

std::string why_not_counted(const BenchRegistry& registry)
{
    std::string reason;
    profile_of(registry, reason);
    return reason;
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
        counted.row.remarks = "not counted: " + reason;
        return counted;
    }
    counted.row.remarks = join(profile->count([] {}), "; ");
    profile->write(folder, counted.row.id());
    set_work(counted.row, folder);
    return counted;
}

}  // namespace roof
