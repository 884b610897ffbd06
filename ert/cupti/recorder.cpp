#include "ert/cupti/recorder.hpp"

#include "ert/base/error.hpp"
#include "ert/base/units.hpp"
#include "ert/recording/record_files.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

namespace roof::cupti {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{4} << 20U;
constexpr std::size_t most_buffers = 64;
constexpr std::uint32_t flush_milliseconds = 100;

/// CUPTI's buffer callbacks carry no user data.
std::atomic<Recorder*> active = nullptr;

void CUPTIAPI buffer_requested(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records)
{
    *buffer = nullptr;
    *bytes = 0;
    *most_records = 0;
    if (Recorder* const recorder = active) recorder->give_buffer(buffer, bytes);
}

void CUPTIAPI buffer_completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t,
                               std::size_t valid)
{
    if (Recorder* const recorder = active) recorder->take_buffer(context, stream, buffer, valid);
}

/// What is recorded beside kernels. A kind that cannot be recorded becomes a note.
constexpr std::array<std::pair<CUpti_ActivityKind, const char*>, 10> kinds{{
    {CUPTI_ACTIVITY_KIND_MEMCPY, "copies"},
    {CUPTI_ACTIVITY_KIND_MEMCPY2, "copies between devices"},
    {CUPTI_ACTIVITY_KIND_MEMSET, "fills"},
    {CUPTI_ACTIVITY_KIND_RUNTIME, "calls of the runtime"},
    {CUPTI_ACTIVITY_KIND_DRIVER, "calls of the driver"},
    {CUPTI_ACTIVITY_KIND_OVERHEAD, "the recorder's own time"},
    {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, "waits"},
    {CUPTI_ACTIVITY_KIND_MEMORY2, "allocations"},
    {CUPTI_ACTIVITY_KIND_MARKER, "the program's ranges"},
    {CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, "layers and phases"},
}};

/// Appends the rows in pieces: all of them at once would take much memory.
template <class Activity>
void append(const std::deque<Activity>& activities, const Records& records, const std::filesystem::path& folder,
            const std::string& id)
{
    using Record = typename decltype(records.record(activities.front()))::value_type;
    constexpr std::size_t piece = 1U << 15U;
    std::vector<Record> rows;
    const auto write = [&] {
        if (!rows.empty()) append_records<Record>(folder, id, rows);
        rows.clear();
    };
    for (const Activity& activity : activities) {
        if (std::optional<Record> row = records.record(activity)) rows.push_back(*std::move(row));
        if (rows.size() == piece) write();
    }
    write();
}

}  // namespace

Recorder::Recorder(std::shared_ptr<const Cupti> cupti)
    : cupti_(std::move(cupti)),
      push_(
          cupti_->function<decltype(cuptiActivityPushExternalCorrelationId)>("cuptiActivityPushExternalCorrelationId")),
      pop_(cupti_->function<decltype(cuptiActivityPopExternalCorrelationId)>("cuptiActivityPopExternalCorrelationId")),
      subscriber_(cupti_, labels_),
      buffers_(buffer_bytes, most_buffers)
{
    Recorder* none = nullptr;
    if (!active.compare_exchange_strong(none, this)) throw Error("this process is being recorded already");
    if (!subscriber_.failure().empty())
        note("not recorded: the layers of kernels in CUDA graphs (" + subscriber_.failure() + ")");
}

Recorder::~Recorder()
{
    try {
        stop();
    } catch (const std::exception&) {
        // Nothing is left to be saved.
    }
    active = nullptr;
}

void Recorder::start()
{
    if (!is_registered_) {
        const auto register_callbacks =
            cupti_->function<decltype(cuptiActivityRegisterCallbacks)>("cuptiActivityRegisterCallbacks");
        cupti_->check(register_callbacks(buffer_requested, buffer_completed), "cuptiActivityRegisterCallbacks");
        is_registered_ = true;
    }
    const auto set_thread_id = cupti_->function<decltype(cuptiSetThreadIdType)>("cuptiSetThreadIdType");
    set_thread_id(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
    cupti_->call<decltype(cuptiActivityEnable)>("cuptiActivityEnable", CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    enabled_.push_back(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    is_running_ = true;
    for (const auto& [kind, what] : kinds) enable(kind, what);
    cupti_->call<decltype(cuptiActivityFlushPeriod)>("cuptiActivityFlushPeriod", flush_milliseconds);
}

void Recorder::enable(CUpti_ActivityKind kind, const char* what)
{
    const CUptiResult result = cupti_->function<decltype(cuptiActivityEnable)>("cuptiActivityEnable")(kind);
    if (result == CUPTI_SUCCESS)
        enabled_.push_back(kind);
    else
        note(std::string("not recorded: ") + what + " (" + cupti_->describe(result) + ")");
}

/// Adds a note once, however often the recording is started.
void Recorder::note(const std::string& what)
{
    if (std::find(notes_.begin(), notes_.end(), what) == notes_.end()) notes_.push_back(what);
}

void Recorder::stop()
{
    if (!is_running_) return;
    is_running_ = false;
    const auto disable = cupti_->function<decltype(cuptiActivityDisable)>("cuptiActivityDisable");
    for (const CUpti_ActivityKind kind : enabled_) disable(kind);
    enabled_.clear();
    cupti_->call<decltype(cuptiActivityFlushAll)>("cuptiActivityFlushAll", CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
}

void Recorder::bring_completed() const noexcept
{
    if (is_running_) cupti_->function<decltype(cuptiActivityFlushAll)>("cuptiActivityFlushAll")(0);
}

void Recorder::enter(std::uint64_t label)
{
    Subscriber::label_calls(label);
    push_(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, label);
}

void Recorder::leave()
{
    Subscriber::label_calls(0);
    std::uint64_t last = 0;
    pop_(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &last);
}

void Recorder::add_range(RangeKind kind, const std::string& name, Nanoseconds begin, Nanoseconds end)
{
    const auto thread = static_cast<std::uint32_t>(::gettid());
    const std::lock_guard lock(mutex_);
    log_.add({begin, end, thread, kind, nullptr}, name);
}

Nanoseconds Recorder::now() const
{
    std::uint64_t moment = 0;
    cupti_->function<decltype(cuptiGetTimestamp)>("cuptiGetTimestamp")(&moment);
    return moment;
}

std::size_t Recorder::activities() const
{
    const std::lock_guard lock(mutex_);
    return log_.kernels().size() + log_.copies().size();
}

bool Recorder::has_kernel(std::string_view text) const
{
    const std::lock_guard lock(mutex_);
    return std::any_of(log_.kernels().begin(), log_.kernels().end(),
                       [&](const KernelActivity& kernel) { return kernel.name->find(text) != std::string::npos; });
}

void Recorder::forget()
{
    const std::lock_guard lock(mutex_);
    log_.clear();
}

void Recorder::write(const std::filesystem::path& folder, const std::string& id, const RecordOptions& options)
{
    const std::lock_guard lock(mutex_);
    const ApiName name = [this](ApiDomain domain, std::uint32_t function) {
        return api_name(*cupti_, domain, function);
    };
    const Records records(log_, labels_, name, options);
    append(log_.kernels(), records, folder, id);
    append(log_.calls(), records, folder, id);
    append(log_.copies(), records, folder, id);
    append(log_.allocations(), records, folder, id);
    append(log_.waits(), records, folder, id);
    append(log_.ranges(), records, folder, id);
    log_.clear();
}

std::size_t Recorder::dropped() const
{
    const std::lock_guard lock(mutex_);
    return log_.dropped();
}

Seconds Recorder::overhead() const
{
    const std::lock_guard lock(mutex_);
    return {nanosecond * static_cast<double>(log_.overhead())};
}

void Recorder::give_buffer(std::uint8_t** buffer, std::size_t* bytes)
{
    *buffer = buffers_.take();
    *bytes = *buffer == nullptr ? 0 : buffers_.bytes();
}

/// Reads the buffer up to the first incomplete or invalid record.
void Recorder::take_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t valid)
{
    const auto next = cupti_->function<decltype(cuptiActivityGetNextRecord)>("cuptiActivityGetNextRecord");
    const auto count_dropped =
        cupti_->function<decltype(cuptiActivityGetNumDroppedRecords)>("cuptiActivityGetNumDroppedRecords");
    {
        const std::lock_guard lock(mutex_);
        CUpti_Activity* record = nullptr;
        while (next(buffer, valid, &record) == CUPTI_SUCCESS) log_.add(*record);
        std::size_t dropped = 0;
        if (count_dropped(context, stream, &dropped) == CUPTI_SUCCESS) log_.dropped(dropped);
    }
    buffers_.give_back(buffer);
}

std::vector<LaunchSeen> Recorder::kernels_between(Nanoseconds begin, Nanoseconds end) const
{
    const std::lock_guard lock(mutex_);
    std::vector<const KernelActivity*> found;
    for (const KernelActivity& kernel : log_.kernels())
        if (begin <= kernel.at.begin && kernel.at.begin <= end) found.push_back(&kernel);
    std::sort(found.begin(), found.end(),
              [](const KernelActivity* a, const KernelActivity* b) { return a->at.begin < b->at.begin; });
    std::vector<LaunchSeen> kernels;
    for (const KernelActivity* kernel : found) {
        const std::uint64_t of_node = labels_.of_node(kernel->at.graph_node);
        const std::uint64_t label = of_node == 0 ? log_.label_of(kernel->at.correlation) : of_node;
        kernels.push_back({plain_kernel_name(*kernel->name), labels_.label_of(label)});
    }
    return kernels;
}

}  // namespace roof::cupti
