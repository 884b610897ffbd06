#include "ert/method/plan/measure.hpp"

#include "ert/base/text.hpp"
#include "ert/method/bench/machine.hpp"
#include "ert/method/bench/process_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <ctime>
#include <iterator>
#include <map>
#include <new>
#include <numeric>
#include <optional>
#include <system_error>
#include <thread>

namespace roof {
namespace {

/// "lost its processor: 3 of 12 launches left out", or a remark that every launch was disturbed. Empty if none was.
std::vector<std::string> remarks_on(const std::vector<Sample>& samples)
{
    std::map<std::string, int> dropped;
    for (const Sample& sample : samples)
        if (!sample.used && !sample.disturbance.empty()) ++dropped[sample.disturbance];
    std::vector<std::string> remarks;
    for (const auto& [why, count] : dropped)
        remarks.push_back(fmt::format("{}: {} of {} launches left out", why, count, samples.size()));
    const auto is_kept = [](const Sample& sample) { return sample.used && !sample.disturbance.empty(); };
    if (std::ranges::any_of(samples, is_kept)) remarks.emplace_back("no launch was undisturbed: all are counted");
    return remarks;
}

/// The profile of a subject if the item requests one; or none, with the reason in the remarks.
std::optional<Profile> start_profiling(const Item& item, const BenchRegistry& registry, const Device& device,
                                       const std::vector<TimedPart>& parts, std::vector<std::string>& remarks)
{
    if (item.profile == Profiling::off) return {};
    try {
        if (const Profiler* const profiler = registry.profiler(device.kind)) return profiler->attach(device, parts);
        remarks.push_back("not profiled: this build has no profiler for a " + device.kind);
    } catch (const Error& error) {
        remarks.push_back(std::string("not profiled: ") + error.what());
    }
    return {};
}

/// Profiles launches after the measurement. Returns remarks.
std::vector<std::string> record(Subject& subject, Trace& trace, const Profile& profiling, Profiling what,
                                const Clock& clock, const std::filesystem::path& folder, const std::string& id)
{
    try {
        std::vector<std::string> remarks = profile(subject, trace, profiling, what, clock);
        profiling.write(folder, id);
        return remarks;
    } catch (const InputError&) {
        throw;
    } catch (const Error& error) {
        return {std::string("not profiled to the end: ") + error.what()};
    }
}

/// A wrong input that shows only here, such as a folder without a usable image, fails the row and not the run.
template <class Call>
auto failing(const Call& call)
{
    try {
        return call();
    } catch (const InputError& error) {
        throw Error(error.what());
    }
}

/// Throws Error unless so many threads, this one included, can run at once: OpenMP's library ends the process where
/// they cannot.
void require_threads(long long count)
{
    std::atomic_flag may_end = ATOMIC_FLAG_INIT;
    std::vector<std::thread> others;
    std::string reason;
    try {
        while (static_cast<long long>(others.size()) + 1 < count)
            others.emplace_back([&may_end] { may_end.wait(false); });
    } catch (const std::system_error& error) {
        reason = error.code().message();
    }
    may_end.test_and_set();
    may_end.notify_all();
    for (std::thread& other : others) other.join();
    if (!reason.empty())
        throw Error(
            fmt::format("{} threads cannot be started ({}); `ulimit -u` and `ulimit -s` show limits", count, reason));
}

/// No interval is so narrow.
constexpr double never = -1;

void run(Measurement& row, const Item& item, const BenchRegistry& registry, const Clock& clock,
         const SampleObserver& observer, const std::filesystem::path& folder)
{
    if (item.point.has("threads")) require_threads(item.point.integer("threads"));
    const Device device = device_for(registry.machine(), item.device);
    const std::unique_ptr<Subject> subject =
        failing([&] { return item.bench->make(item.point, registry.machine(), device); });
    row.work = subject->work();
    row.memory = subject->memory();
    const std::vector<TimedPart> parts = subject->parts();
    Trace trace(clock, parts.size());
    std::vector<std::string> of_profile;
    const std::optional<Profile> profile = start_profiling(item, registry, device, parts, of_profile);
    if (profile) trace.set_listener(&profile->listener);
    const std::unique_ptr<HostMonitor> host = row.role == Role::step ? registry.host_monitor() : nullptr;
    // Probes leave launches out that were throttled.
    const auto groups = row.role == Role::step ? group_periods() : std::map<std::filesystem::path, GroupPeriods>{};
    StoppingOptions stopping = item.stopping;
    if (stopping.max_noise > 0) stopping.interval = stopping.max_noise;
    if (row.role == Role::step) stopping.interval = never;  // the interval of a step is what its samples are for
    row.samples = failing([&] { return collect(*subject, trace, stopping, clock, row.parts, observer, host.get()); });
    if (row.role == Role::step) subject->check();  // ranks that go apart late
    // Other ranks are processes of this step.
    if (row.ranks() > 1)
        for (Sample& sample : row.samples) sample.host.others.reset();
    row.host = mean_host_use(row.samples);
    if (profile) of_profile = record(*subject, trace, *profile, item.profile, clock, folder, row.id());
    std::vector<std::string> remarks = subject->remarks();
    for (const std::string& more : {throttling_since(groups), variables_set()})
        if (!more.empty()) remarks.push_back(more);
    for (const auto& more : {of_profile, remarks_on(row.samples)})
        remarks.insert(remarks.end(), more.begin(), more.end());
    row.variant = subject->variant();
    row.seconds = row.role == Role::step ? time_of_step(row.samples) : estimate_of(row.samples, &Sample::seconds);
    row.data = estimate_of(row.samples, &Sample::data);
    row.forward = estimate_of(row.samples, &Sample::forward);
    row.backward = estimate_of(row.samples, &Sample::backward);
    row.update = estimate_of(row.samples, &Sample::update);
    row.clock = estimate_of(row.samples, &Sample::clock);
    const auto communication = [&row](auto Communication::*field) {
        return estimate_of(row.samples, [field](const Sample& sample) { return sample.communication.*field; });
    };
    row.exposed = communication(&Communication::exposed);
    row.hidden = communication(&Communication::hidden);
    row.messages = row.samples.back().communication.bytes;
    if (item.stopping.sustain.value > 0)
        std::ranges::move(
            sustain(*subject, trace, item.stopping.sustain, registry.power_meter(device), clock, observer, row),
            std::back_inserter(remarks));
    row.remarks = join(remarks, "; ");
}

/// Without results.
Measurement row_of(const Item& item)
{
    Measurement row;
    row.bench = item.bench_name;
    row.role = item.bench == nullptr ? item.role : item.bench->role();
    row.device = item.device;
    row.point = item.point;
    row.started = utc_text(std::time(nullptr));
    if (item.bench != nullptr) {
        row.description = item.bench->description();
        row.time_known = item.bench->time_known();
    }
    return row;
}

/// A launch that took a second more than ten times the median of the others: the process was stopped, or the machine
/// stood still, as while a snapshot of it is taken. It is no step, and is left out under that name.
void leave_out_pauses(std::span<Sample> samples)
{
    constexpr double times = 10;
    constexpr std::size_t fewest = 4;
    if (std::ranges::none_of(samples, [](const Sample& sample) { return sample.seconds.value > 1; })) return;
    std::vector<double> seconds;
    for (const Sample& sample : samples)
        if (sample.used) seconds.push_back(sample.seconds.value);
    if (seconds.size() < fewest) return;
    const double median = spread_of(seconds).median;
    for (Sample& sample : samples) {
        if (!sample.used || sample.seconds.value <= times * median + 1) continue;
        sample.used = false;
        sample.disturbance = "the program was stopped";
    }
}

}  // namespace

Sample time_launch(const std::function<void(Trace&)>& launch, Trace& trace, const Clock& clock)
{
    trace.reset();
    const Seconds begin = clock();
    launch(trace);
    const Seconds elapsed = clock() - begin;
    if (elapsed.value <= 0) throw Error("the clock did not advance during a launch");
    Sample sample = trace.sample();
    sample.seconds = trace.time_taken().value_or(elapsed - sample.data) / sample.launches;
    return sample;
}

Spread spread_in_time(std::span<const double> values)
{
    constexpr std::size_t fewest = 6;
    Spread spread = spread_of(values);
    if (values.size() < fewest) return spread;
    const auto n = static_cast<double>(values.size());
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return values[i]; });
    std::vector<double> ranks(values.size());  // from their mean; equal values share one
    for (std::size_t first = 0, end = 0; first < order.size(); first = end) {
        while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
        for (std::size_t i = first; i < end; ++i) ranks[order[i]] = static_cast<double>(first + end) / 2 - n / 2;
    }
    double neighbours = 0;
    double squares = 0;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        squares += ranks[i] * ranks[i];
        if (i > 0) neighbours += ranks[i] * ranks[i - 1];
    }
    if (squares <= 0) return spread;
    // Few values show less correlation than there is, so its error is added, once and with few of them twice.
    constexpr double most = 0.95;
    const double shown = (n * neighbours / squares + 1) / (n - 4);
    const double error = std::sqrt(std::max(0.0, 1 - shown * shown) / n);
    const double correlation = std::clamp(shown + (1 + 6 / n) * error, 0.0, most);
    // That of the sides of the median is 2/pi times the arc sine of the values'.
    double times = 1;
    for (double power = correlation; power > 1e-3; power *= correlation) times += 4 / M_PI * std::asin(power);
    const double independent = n / times;
    const auto at = [&](std::size_t rank) { return values[order[rank]]; };
    if (independent < static_cast<double>(fewest)) {
        const double wider = std::sqrt(static_cast<double>(fewest) / independent);
        spread.low = std::max(0.0, spread.median - (spread.median - at(0)) * wider);
        spread.high = spread.median + (at(values.size() - 1) - spread.median) * wider;
    } else if (times > 1) {
        const double count = std::floor(independent);
        const double low = static_cast<double>(median_interval(static_cast<std::size_t>(count)).low);
        const double from_middle = (count / 2 - low - 0.5) / count * n;  // in ranks
        const auto rank = static_cast<std::size_t>(std::max(0.0, std::floor((n - 1) / 2 - from_middle)));
        spread.low = std::min(spread.low, at(rank));
        spread.high = std::max(spread.high, at(values.size() - 1 - rank));
    }
    return spread;
}

bool is_enough(std::span<const Sample> launches, Seconds elapsed, const StoppingOptions& options)
{
    constexpr double budgets = 4;  // beside the samples
    std::vector<double> seconds;
    Seconds spent{};
    for (const Sample& sample : launches) {
        if (!sample.used) continue;
        spent += sample.seconds;
        seconds.push_back(sample.seconds.value);
    }
    const auto kept = static_cast<int>(seconds.size());
    const int discarded = static_cast<int>(launches.size()) - kept;
    if (discarded > options.max_samples || (discarded > 0 && elapsed - spent >= options.budget * budgets)) return true;
    if (kept < options.min_samples || spent < options.min_time) return false;
    if (kept >= options.max_samples || spent >= options.budget) return true;
    // With fewer than six samples no interval covers the median with 95% probability. The last launch decides whether
    // it is a look.
    const bool is_look = kept % 6 == 0 && std::has_single_bit(static_cast<unsigned>(kept / 6)) && launches.back().used;
    return is_look && Estimate<Seconds>::of(seconds).relative_half_width() <= options.interval;
}

std::vector<Sample> collect(Subject& subject, Trace& trace, const StoppingOptions& options, const Clock& clock,
                            std::vector<PartMeasurement>& parts, const SampleObserver& observer, HostMonitor* host)
{
    const std::vector<TimedPart> declared = subject.parts();
    std::vector<std::vector<double>> part_seconds;  ///< of each launch that counts
    std::vector<Sample> samples;
    const auto launch = [&](bool used) {
        if (host != nullptr) host->begin();
        Sample sample = time_launch([&](Trace& one) { subject.launch(one); }, trace, clock);
        if (host != nullptr) sample.host = host->end();
        for (std::size_t i = 0; i < declared.size(); ++i) {
            Seconds& phase = declared[i].phase == Phase::forward    ? sample.forward
                             : declared[i].phase == Phase::backward ? sample.backward
                                                                    : sample.update;
            phase += trace.part_seconds()[i];
        }
        sample.used = used;
        samples.push_back(sample);
        if (sample.loss && !std::isfinite(*sample.loss))
            throw Diverged(fmt::format("the loss is not a finite number at step {}", samples.size()));
        if (observer && !observer(sample, static_cast<int>(samples.size()))) throw Interrupted();
    };

    // Warm-up launches (first touch, clocks, just-in-time compilation) are recorded but left out of the estimates.
    for (int i = 0; i < options.warmup; ++i) launch(false);
    subject.check();
    const std::size_t warm_ups = samples.size();
    const bool is_shared = warm_ups > 0 && has_several_processes(options, samples.back().seconds);
    const StoppingOptions stopping = is_shared ? of_one_process(options) : options;
    const Seconds begin = clock();
    const auto counted = [&] { return std::span(samples).subspan(warm_ups); };
    do {
        launch(true);
        samples.back().used = samples.back().disturbance.empty();
        std::vector<double>& seconds = part_seconds.emplace_back();
        for (std::size_t i = 0; i < declared.size(); ++i) seconds.push_back(trace.part_seconds()[i].value);
        leave_out_pauses(counted());
    } while (!is_enough(counted(), clock() - begin, stopping));
    const auto of_part = [&](std::size_t part) {
        std::vector<double> seconds;
        for (std::size_t i = 0; i < part_seconds.size(); ++i)
            if (counted()[i].used) seconds.push_back(part_seconds[i][part]);
        return Estimate<Seconds>::of(seconds);
    };
    for (std::size_t i = 0; i < declared.size(); ++i) parts.push_back({declared[i], of_part(i)});
    if (std::ranges::none_of(counted(), &Sample::used))
        for (Sample& sample : counted()) sample.used = true;
    return samples;
}

HostUse mean_host_use(const std::vector<Sample>& samples)
{
    HostUse mean;
    for (const auto use : {&HostUse::others, &HostUse::stolen, &HostUse::waited, &HostUse::shared}) {
        double sum = 0;
        Seconds time{};
        for (const Sample& sample : samples) {
            if (!sample.used || !(sample.host.*use)) continue;
            sum += *(sample.host.*use) * sample.seconds.value;
            time += sample.seconds;
        }
        if (time.value > 0) mean.*use = sum / time.value;
    }
    return mean;
}

Measurement skipped(const Item& item, const std::string& reason)
{
    Measurement row = row_of(item);
    row.status = Status::skipped;
    row.reason = reason;
    return row;
}

Measurement measure(const Item& item, const BenchRegistry& registry, const Clock& clock, const SampleObserver& observer,
                    const std::filesystem::path& folder, bool* lost_device)
{
    Measurement row = row_of(item);
    const auto give_up = [&row](Status status, const std::string& reason) {
        row.status = status;
        row.reason = reason;
        row.samples.clear();
        row.parts.clear();
    };
    if (item.bench == nullptr) {
        give_up(Status::unsupported, item.missing);
        return row;
    }
    try {
        run(row, item, registry, clock, observer, folder);
    } catch (const Interrupted&) {
        throw;
    } catch (const InputError&) {
        throw;
    } catch (const Unsupported& error) {
        give_up(Status::unsupported, error.what());
    } catch (const OutOfMemory& error) {
        give_up(Status::out_of_memory, error.what());
        row.memory = error.wanted;
    } catch (const Diverged& error) {
        give_up(Status::diverged, error.what());
    } catch (const DeviceFault& error) {
        give_up(Status::failed, error.what());
        if (lost_device != nullptr) *lost_device = true;
    } catch (const std::bad_alloc&) {
        give_up(Status::out_of_memory, "the allocator had no more memory");
    } catch (const std::exception& error) {
        give_up(Status::failed, in_own_words(error));
    }
    return row;
}

}  // namespace roof
