#include "ert/cupti/launch_counter.hpp"

#include "ert/base/error.hpp"

#include <algorithm>
#include <utility>

namespace roof::cupti {
namespace {

using Kind = UpcomingCall::Kind;

/// For programs whose kernels alternate with graphs: switching the counters on costs much more than a launch.
constexpr std::size_t max_switched_on = 64;

/// Takes back that a context was made current on this thread.
struct PopContext {
    void operator()(const gpu::Library* driver) const
    {
        CUcontext last = nullptr;
        driver->function<CUresult(CUcontext*)>("cuCtxPopCurrent_v2")(&last);
    }
};

std::uint32_t device_of(const Cupti& cupti, CUcontext context)
{
    std::uint32_t device = 0;
    cupti.call<decltype(cuptiGetDeviceId)>("cuptiGetDeviceId", context, &device);
    return device;
}

bool is_collective(const std::string& kernel)
{
    return kernel.find("nccl") != std::string::npos || kernel.find("nvshmem") != std::string::npos;
}

std::string count_of(std::size_t number, const char* what)
{
    return std::to_string(number) + ' ' + what;
}

}  // namespace

void LaunchCounter::before(const UpcomingCall& call) noexcept
{
    const std::lock_guard lock(mutex_);
    if (is_finished_) return;
    try {
        count(call);
    } catch (const Unsupported& error) {
        end(std::string("no hardware counters: ") + error.what());
    } catch (const std::exception& error) {
        end(std::string("hardware counters failed: ") + error.what());
    }
}

void LaunchCounter::count(const UpcomingCall& call)
{
    if (call.kind == Kind::end_of_context) return end_of_context(call.context);
    if (!is_countable(call)) return close();
    if (context_ != nullptr && call.context != context_) {
        ++elsewhere_;
        return;
    }
    if (counted_ + launches_.size() == order_.max_kernels) {
        close();
        is_finished_ = true;
        return;
    }
    if (counting_ == nullptr) open(call.context);
    launches_.push_back(call.launch);
}

bool LaunchCounter::is_countable(const UpcomingCall& call)
{
    // A capture ends if anything waits for the device.
    if (call.kind == Kind::begin_of_capture) return false;
    if (order_.is_wanted && !order_.is_wanted()) return false;
    const bool is_graph = call.kind == Kind::graph;
    const bool waits = is_collective(call.launch.kernel);
    graphs_ += is_graph ? 1 : 0;
    collectives_ += waits ? 1 : 0;
    return !is_graph && !waits;
}

void LaunchCounter::end_of_context(CUcontext context)
{
    if (context != context_) return;
    close();
    profiler_.reset();
    context_ = nullptr;
}

void LaunchCounter::open(CUcontext context)
{
    if (switched_on_ == max_switched_on)
        throw Unsupported("kernels that can be counted alternate with those that cannot; " +
                          count_of(counted_, "were counted"));
    if (!profiler_) {
        const std::uint32_t device = device_of(*cupti_, context);
        profiler_.emplace(cupti_, device, context);
        device_ = "gpu:" + std::to_string(device);
        context_ = context;
    }
    const auto metrics = order_.metrics.find(profiler_->chip());
    if (metrics == order_.metrics.end()) throw Unsupported("the table of counters has no chip " + profiler_->chip());
    counting_ = profiler_->begin_kernels(metrics->second, order_.max_kernels - counted_);
    ++switched_on_;
}

void LaunchCounter::close()
{
    if (counting_ == nullptr) return;
    const std::unique_ptr<Counting> ended = std::move(counting_);
    ended->stop();
    add_rows(ended->counted());
    launches_.clear();
}

/// CUPTI only numbers the kernels it counts. They are named if there are as many as launches were seen.
void LaunchCounter::add_rows(const std::vector<CountedRange>& counted)
{
    const Chip chip(cupti_, profiler_->chip());
    const std::vector<std::string>& metrics = order_.metrics.at(profiler_->chip());
    const bool are_named = counted.size() == launches_.size();
    if (!are_named) unnamed_ += counted.size();
    for (std::size_t i = 0; i < counted.size(); ++i) {
        const LaunchSeen seen = are_named ? launches_[i] : LaunchSeen{};
        unknown_ += append_counters(records_, device_, CounterScope::kernel, counted_ + i, seen, chip, metrics,
                                    counted[i].values);
    }
    counted_ += counted.size();
}

void LaunchCounter::end(const std::string& reason)
{
    counting_.reset();
    is_finished_ = true;
    reason_ = reason;
}

void LaunchCounter::finish() noexcept
{
    const std::lock_guard lock(mutex_);
    if (is_finished_) return;
    try {
        const std::optional<gpu::Library> driver = open_driver();  // a thread of ours has no context
        const bool is_pushed =
            driver && driver->function<CUresult(CUcontext)>("cuCtxPushCurrent_v2")(context_) == CUDA_SUCCESS;
        const std::unique_ptr<const gpu::Library, PopContext> pushed(is_pushed ? &*driver : nullptr);
        close();
        is_finished_ = true;
    } catch (const std::exception& error) {
        end(std::string("hardware counters failed: ") + error.what());
    }
}

bool LaunchCounter::is_finished() const
{
    const std::lock_guard lock(mutex_);
    return is_finished_;
}

bool LaunchCounter::has_failed() const
{
    const std::lock_guard lock(mutex_);
    return !reason_.empty() && counted_ == 0;
}

std::vector<CounterRecord> LaunchCounter::take()
{
    const std::lock_guard lock(mutex_);
    return std::exchange(records_, {});
}

std::vector<std::string> LaunchCounter::notes() const
{
    const std::lock_guard lock(mutex_);
    std::vector<std::string> notes;
    if (!reason_.empty()) notes.push_back(reason_);
    if (reason_.empty() && counted_ == 0) notes.emplace_back("no kernel was counted: none was launched by itself");
    if (counted_ > 0)
        notes.push_back(
            count_of(counted_, "kernels were counted, each repeated by itself, with the caches as it left them"));
    if (graphs_ > 0)
        notes.push_back(count_of(graphs_,
                                 "launches of CUDA graphs were not counted: their kernels are none of their own "
                                 "launches; a program that can do without graphs is counted whole"));
    if (collectives_ > 0)
        notes.push_back(count_of(collectives_, "collectives were not counted: by themselves they would wait for ever"));
    if (elsewhere_ > 0) notes.push_back(count_of(elsewhere_, "kernels were not counted: of another context or device"));
    if (unknown_ > 0) notes.push_back(without_value(unknown_));
    if (unnamed_ > 0) notes.push_back(count_of(unnamed_, "kernels were counted without their names"));
    return notes;
}

}  // namespace roof::cupti
