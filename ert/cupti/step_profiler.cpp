#include "ert/cupti/step_profiler.hpp"

#include "ert/base/error.hpp"
#include "ert/cupti/launch_counter.hpp"
#include "ert/cupti/recorder.hpp"
#include "ert/gpu/probes/device_facts.hpp"
#include "ert/recording/record_files.hpp"

#include <map>
#include <memory>
#include <optional>

namespace roof::cupti {
namespace {

namespace fs = std::filesystem;

/// The rare ones too: without them tensor work in fp64, fp8 and int8 would not show, and nothing would say so.
constexpr std::string_view counted_set = "all";

/// {phase: values}, summed over the ranges of each phase, which have a number before its name.
std::map<std::string, std::vector<double>> by_phase(const std::vector<CountedRange>& stretches)
{
    std::map<std::string, std::vector<double>> phases;
    for (const CountedRange& stretch : stretches) {
        std::vector<double>& sums = phases[stretch.name.substr(stretch.name.find(' ') + 1)];
        sums.resize(stretch.values.size());
        for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += stretch.values[i];
    }
    return phases;
}

/// The state shared by the functions of one Profile.
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
        has_parts_ = true;
        if (counting_ != nullptr) count_phase(phases_.at(part));
    }
    void leave() { recorder_.leave(); }

    void trace(const Launch& launch)
    {
        recorder_.start();
        has_parts_ = false;
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
        try_to_count(remarks, [&] { count_whole(launch, remarks); });
        return remarks;
    }

    std::vector<std::string> count_kernels(const Launch& launch)
    {
        std::vector<std::string> remarks;
        // A collective's kernel that is replayed alone waits for those of other devices for ever.
        if (recorder_.has_kernel("nccl"))
            return {
                "kernels were not counted one by one: some work with other devices, and cannot be repeated by "
                "themselves"};
        if (is_counted_) try_to_count(remarks, [&] { count_each(launch, remarks); });
        return remarks;
    }

    void write(const fs::path& folder, const std::string& id)
    {
        recorder_.write(folder, id, {zero_.value_or(0)});
        if (!counters_.empty()) append_records<CounterRecord>(folder, id, counters_);
        counters_.clear();
    }

  private:
    std::size_t number() const { return static_cast<std::size_t>(gpu::number_of(device_)); }

    template <class Count>
    void try_to_count(std::vector<std::string>& remarks, const Count& count)
    {
        unknown_ = 0;
        try {
            count();
            if (unknown_ > 0) remarks.push_back(without_value(unknown_));
        } catch (const Unsupported& error) {
            remarks.push_back(std::string("no hardware counters: ") + error.what());
        } catch (const Error& error) {
            remarks.push_back(std::string("hardware counters failed: ") + error.what());
        }
    }

    std::vector<std::string> metrics_of(const std::string& chip) const
    {
        const ChipFamily* const family = table_.family_of_chip(chip);
        if (family == nullptr) throw Unsupported("the table of counters has no chip " + chip);
        std::vector<std::string> metrics;
        for (const CounterMetric& metric : table_.metrics_of(*family, counted_set)) metrics.push_back(metric.metric);
        return metrics;
    }

    void count_whole(const Launch& launch, std::vector<std::string>& remarks)
    {
        is_counted_ = false;
        const RangeProfiler profiler(cupti_, number(), context_());
        const std::vector<std::string> metrics = metrics_of(profiler.chip());
        const Chip chip(cupti_, profiler.chip());
        keep(chip, CounterScope::step, std::nullopt, {}, metrics, profiler.count_whole(launch, "step", metrics).values);
        is_counted_ = true;
        try {
            count_phases(launch, profiler, chip, metrics);
        } catch (const Error& error) {
            remarks.push_back(std::string("phases were not counted as a whole: ") + error.what());
        }
    }

    /// Counts each stretch of the launch that belongs to one phase, where the launch enters its parts.
    void count_phases(const Launch& launch, const RangeProfiler& profiler, const Chip& chip,
                      const std::vector<std::string>& metrics)
    {
        if (!has_parts_) return;
        const auto in_ranges = [&](Counting& counting) {
            counting_ = &counting;
            const std::shared_ptr<void> until_end(nullptr, [this](void*) { counting_ = nullptr; });
            counted_phase_.clear();
            begun_ = 0;
            launch();
            count_phase({});  // before the launch ends
        };
        for (const auto& [phase, values] : by_phase(profiler.count_stretches(in_ranges, metrics)))
            keep(chip, CounterScope::phase, std::nullopt, {{}, {{}, phase}}, metrics, values);
    }

    /// A new range begins where the phase changes, with a number, because names must differ; none if it is empty.
    void count_phase(const std::string& phase)
    {
        if (phase == counted_phase_) return;
        if (!counted_phase_.empty()) counting_->pop();
        if (!phase.empty()) counting_->push(std::to_string(begun_++) + ' ' + phase);
        counted_phase_ = phase;
    }

    void count_each(const Launch& launch, std::vector<std::string>& remarks)
    {
        const RangeProfiler profiler(cupti_, number(), context_());
        const std::vector<std::string> metrics = metrics_of(profiler.chip());
        const Chip chip(cupti_, profiler.chip());
        std::vector<LaunchSeen> launched;
        recorder_.subscriber().set_listener([&](const UpcomingCall& call) {
            if (call.kind == UpcomingCall::Kind::kernel) launched.push_back(call.launch);
        });
        const struct Listening {
            Subscriber& to;
            ~Listening() { to.set_listener(nullptr); }
        } until_end{recorder_.subscriber()};
        const std::vector<CountedRange> kernels = profiler.count_kernels(launch, metrics);
        const std::vector<LaunchSeen> names = names_for(kernels.size(), std::move(launched), remarks);
        for (std::size_t i = 0; i < kernels.size(); ++i)
            keep(chip, CounterScope::kernel, i, names[i], metrics, kernels[i].values);
    }

    /// CUPTI only numbers the kernels it counts. Those of a graph are named by their order in the traced step.
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
        unknown_ += append_counters(counters_, device_.name, scope, launch, seen, chip, metrics, values);
    }

    std::shared_ptr<const Cupti> cupti_;
    const CounterTable& table_;
    Device device_;
    std::function<CUcontext()> context_;
    Recorder recorder_;
    std::vector<std::uint64_t> labels_;  ///< by part
    std::vector<std::string> phases_;    ///< by part
    Counting* counting_ = nullptr;       ///< while phases are counted
    std::string counted_phase_;          ///< whose range is open; empty: none is
    int begun_ = 0;                      ///< ranges of this launch
    bool has_parts_ = false;             ///< the last launch entered its parts: it was not a graph
    bool is_counted_ = false;            ///< the step could be counted as a whole
    std::optional<Nanoseconds> zero_;
    int steps_ = 0;
    std::vector<LaunchSeen> traced_;  ///< kernels of the last step
    std::vector<CounterRecord> counters_;
    std::size_t unknown_ = 0;  ///< counters without a value, in the last count
};

}  // namespace

Profile profile_with(std::shared_ptr<const Cupti> cupti, const CounterTable& table, const Device& device,
                     const std::vector<TimedPart>& parts, std::function<CUcontext()> context)
{
    const auto shared = std::make_shared<StepProfile>(std::move(cupti), table, device, parts, std::move(context));
    return {{[shared](std::size_t part) { shared->enter(part); }, [shared] { shared->leave(); }},
            [shared](const Launch& launch) { shared->trace(launch); },
            [shared](const Launch& launch) { return shared->count(launch); },
            [shared](const fs::path& folder, const std::string& id) { shared->write(folder, id); },
            [shared](const Launch& launch) { return shared->count_kernels(launch); }};
}

Profiler step_profiler(const CounterTable& table)
{
    return {"gpu", [&table](const Device& device, const std::vector<TimedPart>& parts) {
                return profile_with(Cupti::open(), table, device, parts);
            }};
}

}  // namespace roof::cupti
