#include "ert/cupti/step_profiler.hpp"

#include "ert/base/error.hpp"
#include "ert/cupti/memory_use.hpp"
#include "ert/cupti/phase_ranges.hpp"
#include "ert/cupti/recorder.hpp"
#include "ert/recording/record_files.hpp"

#include <charconv>
#include <optional>

namespace roof::cupti {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view counted_set = "usual";

/// N of "gpu:N".
std::size_t number_of(const Device& device)
{
    std::size_t number = 0;
    const std::string_view digits = std::string_view(device.name).substr(device.name.find(':') + 1);
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return number;
}

/// Someone is told of the program's calls, while it lives.
class Told {
  public:
    Told(Watcher& watcher, Watcher::OnCall on_call) : watcher_(watcher) { watcher_.tell(std::move(on_call)); }
    ~Told() { watcher_.tell(nullptr); }
    Told(const Told&) = delete;
    Told& operator=(const Told&) = delete;

  private:
    Watcher& watcher_;
};

/// While it lives, the pointer points there; then nowhere.
class Pointing {
  public:
    Pointing(PhaseRanges*& pointer, PhaseRanges& there) : pointer_(pointer) { pointer_ = &there; }
    ~Pointing() { pointer_ = nullptr; }
    Pointing(const Pointing&) = delete;
    Pointing& operator=(const Pointing&) = delete;

  private:
    PhaseRanges*& pointer_;
};

/// What the functions of one Profile share.
class StepProfile {
  public:
    StepProfile(std::shared_ptr<const Cupti> cupti, const CounterTable& table, const Device& device,
                const std::vector<TimedPart>& parts, std::function<CUcontext()> context)
        : cupti_(cupti), table_(table), device_(device), context_(std::move(context)), recorder_(std::move(cupti))
    {
        for (const TimedPart& part : parts)
            labels_.push_back(recorder_.number_of({part.layer, std::string(name(part.phase))}));
        for (const TimedPart& part : parts) phases_.emplace_back(name(part.phase));
    }

    void enter(std::size_t part)
    {
        recorder_.enter(labels_.at(part));
        has_told_ = true;
        if (phase_ranges_ != nullptr) phase_ranges_->enter(phases_.at(part));
    }
    void leave() { recorder_.leave(); }

    void trace(const Launch& launch)
    {
        recorder_.start();
        has_told_ = false;
        const Nanoseconds begin = recorder_.now();
        if (!zero_) zero_ = begin;
        launch();
        const Nanoseconds end = recorder_.now();
        recorder_.stop();
        recorder_.add_range(RangeKind::step, "step " + std::to_string(++steps_), begin, end);
        traced_ = recorder_.kernels_between(begin, end);
    }

    std::vector<std::string> count(const Launch& launch)
    {
        std::vector<std::string> remarks = recorder_.notes();
        if (const std::size_t dropped = recorder_.dropped(); dropped > 0)
            remarks.push_back(std::to_string(dropped) + " records were dropped: kernels, calls or copies are missing");
        try_to_count(launch, remarks);
        look_again(launch, remarks);
        return remarks;
    }

    void write(const fs::path& folder, const std::string& id)
    {
        recorder_.write(folder, id, {zero_.value_or(0)});
        if (!counters_.empty()) append_records<CounterRecord>(folder, id, counters_);
        counters_.clear();
    }

  private:
    void try_to_count(const Launch& launch, std::vector<std::string>& remarks)
    {
        try {
            count_all(launch, remarks);
        } catch (const Unsupported& error) {
            remarks.push_back(std::string("no hardware counters: ") + error.what());
        } catch (const Error& error) {
            remarks.push_back(std::string("hardware counters failed: ") + error.what());
        }
    }

    /// At the traffic of device memory, by a counter that has nothing to do with CUPTI's, and needs other rights.
    void look_again(const Launch& launch, std::vector<std::string>& remarks)
    {
        try {
            const MemoryUse use = memory_use(number_of(device_), launch);
            remarks.push_back(in_words(use, device_));
            counters_.push_back(
                {device_.name, CounterScope::step, {}, {}, {}, std::nullopt, "nvml.gpm.dram_bw_util", use.share, "1"});
        } catch (const Error& error) {
            remarks.emplace_back(error.what());
        }
    }

    void count_all(const Launch& launch, std::vector<std::string>& remarks)
    {
        const RangeProfiler profiler(cupti_, number_of(device_), context_());
        const ChipFamily* const family = table_.family_of_chip(profiler.chip());
        if (family == nullptr) throw Unsupported("the table of counters has no chip " + profiler.chip());
        std::vector<std::string> metrics;
        for (const CounterMetric& metric : table_.metrics_of(*family, counted_set)) metrics.push_back(metric.metric);
        const Chip chip(cupti_, profiler.chip());
        keep(chip, CounterScope::step, std::nullopt, {}, metrics, profiler.count_whole(launch, "step", metrics).values);

        try {
            count_phases(launch, profiler, chip, metrics);
        } catch (const Error& error) {
            remarks.push_back(std::string("phases were not counted as a whole: ") + error.what());
        }
        // Replayed alone, a collective's kernel waits for other devices' for ever.
        if (recorder_.has_kernel("nccl"))
            remarks.emplace_back(
                "kernels were not counted one by one: some work with other devices, and cannot be repeated alone");
        else
            count_kernels(launch, profiler, chip, metrics, remarks);
    }

    /// Over each stretch of the launch that is of one phase. A step that is launched as a graph tells of no phases on the way: its
    /// phases are what their kernels add up to.
    void count_phases(const Launch& launch, const RangeProfiler& profiler, const Chip& chip,
                      const std::vector<std::string>& metrics)
    {
        if (!has_told_) return;
        const auto in_ranges = [&](Counting& counting) {
            PhaseRanges ranges(counting);
            const Pointing pointing(phase_ranges_, ranges);
            launch();
            ranges.leave();
        };
        for (const auto& [phase, values] : PhaseRanges::add_up(profiler.count_stretches(in_ranges, metrics)))
            keep(chip, CounterScope::phase, std::nullopt, {{}, {{}, phase}}, metrics, values);
    }

    void count_kernels(const Launch& launch, const RangeProfiler& profiler, const Chip& chip,
                       const std::vector<std::string>& metrics, std::vector<std::string>& remarks)
    {
        std::vector<LaunchSeen> launched;
        const Told told(recorder_.watcher(), [&](const UpcomingCall& call) {
            if (call.kind == UpcomingCall::Kind::kernel) launched.push_back(call.launch);
        });
        const std::vector<CountedRange> kernels = profiler.count_kernels(launch, metrics);
        const std::vector<LaunchSeen> names = names_for(kernels.size(), std::move(launched), remarks);
        for (std::size_t i = 0; i < kernels.size(); ++i)
            keep(chip, CounterScope::kernel, i, names[i], metrics, kernels[i].values);
    }

    /// CUPTI numbers the kernels it counts. Those of a CUDA graph have no launch of their own: they are named by their order in the
    /// step that was traced.
    std::vector<LaunchSeen> names_for(std::size_t kernels, std::vector<LaunchSeen> launched,
                                      std::vector<std::string>& remarks) const
    {
        if (launched.size() == kernels) return launched;
        if (traced_.size() == kernels) {
            remarks.emplace_back("counted kernels are named by their order in a traced step");
            return traced_;
        }
        remarks.push_back(std::to_string(kernels) + " kernels were counted without their names: " +
                          std::to_string(traced_.size()) + " were traced in a step");
        return std::vector<LaunchSeen>(kernels);
    }

    void keep(const Chip& chip, CounterScope scope, Number launch, const LaunchSeen& seen,
              const std::vector<std::string>& metrics, const std::vector<double>& values)
    {
        for (std::size_t i = 0; i < metrics.size(); ++i)
            counters_.push_back({device_.name, scope, seen.label.layer, seen.label.phase, seen.kernel, launch,
                                 metrics[i], values[i], chip.unit(metrics[i])});
    }

    std::shared_ptr<const Cupti> cupti_;
    const CounterTable& table_;
    Device device_;
    std::function<CUcontext()> context_;
    Recorder recorder_;
    std::vector<std::uint64_t> labels_;    ///< by part
    std::vector<std::string> phases_;      ///< by part
    PhaseRanges* phase_ranges_ = nullptr;  ///< while phases are counted
    bool has_told_ = false;                ///< of its parts in the last launch: it was no graph
    std::optional<Nanoseconds> zero_;
    int steps_ = 0;
    std::vector<LaunchSeen> traced_;  ///< kernels of the last step
    std::vector<CounterRecord> counters_;
};

}  // namespace

Profile profile_with(std::shared_ptr<const Cupti> cupti, const CounterTable& table, const Device& device,
                     const std::vector<TimedPart>& parts, std::function<CUcontext()> context)
{
    const auto shared = std::make_shared<StepProfile>(std::move(cupti), table, device, parts, std::move(context));
    return {{[shared](std::size_t part) { shared->enter(part); }, [shared] { shared->leave(); }},
            [shared](const Launch& launch) { shared->trace(launch); },
            [shared](const Launch& launch) { return shared->count(launch); },
            [shared](const fs::path& folder, const std::string& id) { shared->write(folder, id); }};
}

Profiler step_profiler(const CounterTable& table)
{
    return {"gpu", [&table](const Device& device, const std::vector<TimedPart>& parts) {
                return profile_with(Cupti::open(), table, device, parts);
            }};
}

}  // namespace roof::cupti
