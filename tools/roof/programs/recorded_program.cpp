// The files of the injected recorder as rows of a results folder.
#include "analysis/recordings/counted_work.hpp"
#include "ert/base/files.hpp"
#include "ert/base/text.hpp"
#include "ert/recording/record_files.hpp"
#include "tools/roof/programs/child_program.hpp"
#include "tools/roof/programs/counted_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>

namespace roof {
namespace {

namespace fs = std::filesystem;

constexpr const char* description =
    "the time of one step that the program marked, or of the whole recording if it marked none, "
    "while every kernel, copy and call was traced";
constexpr const char* counted_description =
    "the kernels of a program that were counted, each alone and repeated, one after the other: their FLOPs, the bytes "
    "they moved between the device's memory and its caches, and the time they took then";
constexpr const char* never_called =
    "no process of the program initialised the CUDA driver, or there is no driver here";

/// recorded.yaml of one process: a "key: value" in each line. `note` may occur several times.
struct Summary {
    std::map<std::string, std::string> values;
    std::vector<std::string> notes;

    double number(const std::string& key) const
    {
        const auto found = values.find(key);
        return found == values.end() ? 0 : std::strtod(found->second.c_str(), nullptr);
    }
};

Summary read_summary(const fs::path& file)
{
    Summary summary;
    if (!fs::exists(file)) {
        summary.notes.emplace_back("the process ended before it could write its recording");
        return summary;
    }
    for (const std::string& line : split(read_file(file), '\n')) {
        const std::size_t colon = line.find(": ");
        if (colon == std::string::npos) continue;
        const std::string key = line.substr(0, colon);
        if (key == "note")
            summary.notes.push_back(line.substr(colon + 2));
        else
            summary.values[key] = line.substr(colon + 2);
    }
    return summary;
}

/// The device with most recorded or counted kernels of the process; nullopt without kernels.
std::optional<std::string> device_of(const fs::path& process)
{
    std::map<std::string, std::size_t> kernels;
    read_records<KernelRecord>(process,
                               [&](const std::string&, const KernelRecord& kernel) { ++kernels[kernel.cause.device]; });
    if (kernels.empty())
        read_records<CounterRecord>(
            process, [&](const std::string&, const CounterRecord& counter) { ++kernels[counter.device]; });
    const auto most = std::max_element(kernels.begin(), kernels.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == kernels.end() ? std::nullopt : std::optional(most->first);
}

std::vector<double> steps_of(const fs::path& process)
{
    std::vector<double> seconds;
    read_records<RangeRecord>(process, [&](const std::string&, const RangeRecord& range) {
        if (range.kind == RangeKind::step) seconds.push_back(range.duration.value);
    });
    return seconds;
}

void set_seconds(Measurement& row, const std::vector<double>& seconds)
{
    row.seconds = Estimate<Seconds>::of(seconds);
    for (const double one : seconds) {
        Sample& sample = row.samples.emplace_back();
        sample.seconds = Seconds{one};
    }
}

/// For a process that was counted but not traced: only its counted kernels are known.
void set_counted(Measurement& row, const fs::path& process)
{
    analysis::Metrics sums;
    read_records<CounterRecord>(process, [&](const std::string&, const CounterRecord& counter) {
        analysis::Metric& sum = sums[counter.metric];
        sum.value += counter.value;
        sum.unit = counter.unit;
    });
    const analysis::CountedWork work = analysis::count_work(sums);
    if (!work.precision().empty()) row.point.set("precision", work.precision());
    row.work.flops = work.total();
    row.work.known = Known::counter;
    if (const auto memory = work.bytes.find("DRAM"); memory != work.bytes.end())
        row.work.compulsory = row.work.no_reuse = memory->second;
    row.description = counted_description;
    set_seconds(row, {sums["gpu__time_duration.sum"].value});
}

template <class Record>
void move_records(const fs::path& from, const fs::path& to, const std::string& id)
{
    constexpr std::size_t piece = 1U << 15U;
    std::vector<Record> records;
    const auto write = [&] {
        if (!records.empty()) append_records<Record>(to, id, records);
        records.clear();
    };
    read_records<Record>(from, [&](const std::string&, const Record& record) {
        records.push_back(record);
        if (records.size() == piece) write();
    });
    write();
}

std::string remarks_of(const Summary& summary, bool has_steps)
{
    std::vector<std::string> remarks = summary.notes;
    if (summary.values.contains("counted"))
        remarks.emplace_back(
            "the time is that of the counted kernels alone, by the counter gpu__time_duration: nothing was traced");
    else if (!has_steps)
        remarks.emplace_back(
            "the program marked no steps by NVTX ranges (step, iteration): the time is all that was recorded");
    if (summary.values.contains("has_start") && summary.values.at("has_start") == "yes")
        remarks.emplace_back("holds the program's start, with its loading, allocating and trying of algorithms");
    if (const double dropped = summary.number("dropped"); dropped > 0)
        remarks.push_back(fmt::format("{:.0f} records were dropped: kernels, calls or copies are missing", dropped));
    if (const double overhead = summary.number("overhead_s"); overhead > 0)
        remarks.push_back(fmt::format("CUPTI's own work took {:.3g} s of it", overhead));
    return join(remarks, "; ");
}

Measurement row_of_process(const fs::path& process, const std::string& device, const std::string& program)
{
    const Summary summary = read_summary(process / "recorded.yaml");
    Measurement row = program_row(program, device, description);
    const std::vector<double> seconds = steps_of(process);
    row.remarks = remarks_of(summary, !seconds.empty());
    if (summary.values.contains("counted"))
        set_counted(row, process);
    else
        set_seconds(row, seconds.empty() ? std::vector{summary.number("recorded_s")} : seconds);
    return row;
}

}  // namespace

std::vector<Measurement> gather_recording(const fs::path& folder, const std::string& program)
{
    std::vector<Measurement> rows;
    std::vector<std::string> reasons;
    std::vector<fs::path> processes = entries_of(folder, "process-");
    std::erase_if(processes, [](const fs::path& entry) { return !fs::is_directory(entry); });
    for (const fs::path& process : processes) {
        if (const std::optional<std::string> device = device_of(process)) {
            Measurement row = row_of_process(process, *device, program);
            if (!rows.empty()) row.point.set("round", std::to_string(rows.size() + 1));
            for_each_kind_of_record([&]<class Record>() { move_records<Record>(process, folder, row.id()); });
            rows.push_back(std::move(row));
        } else {
            for (const std::string& note : read_summary(process / "recorded.yaml").notes) reasons.push_back(note);
        }
        fs::remove_all(process);
    }
    if (!rows.empty()) return rows;
    if (reasons.empty()) reasons.emplace_back(processes.empty() ? never_called : "no kernel ran while it was recorded");
    Measurement row = program_row(program, "gpu:0", description);
    row.status = Status::unsupported;
    row.reason = "no GPU activity was recorded: " + join(reasons, "; ");
    return {row};
}

}  // namespace roof
