#include "tools/roof/programs/simulated_program.hpp"

#include "ert/base/error.hpp"

#include <linux/perf_event.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <map>
#include <thread>

namespace roof {
namespace {

constexpr std::size_t pages = 64;
constexpr auto pause_between_reads = std::chrono::milliseconds(50);
constexpr double window = 0.01;  ///< seconds in which the threads at work are counted

struct Mapping {
    std::uint64_t begin, end, place;
    std::string file;
};

struct AddressSample {
    std::uint64_t address, time;
    std::uint32_t process, thread;
};

/// What the kernel wrote, in any order.
struct Records {
    std::vector<AddressSample> samples;
    std::map<std::uint32_t, std::vector<Mapping>> mappings;  ///< by process; a later one hides those before
    std::map<std::uint32_t, std::uint32_t> parents;          ///< of forked processes
    int lost = 0;
};

template <class Value>
Value take(const char*& at)
{
    Value value;
    std::memcpy(&value, at, sizeof value);
    at += sizeof value;
    return value;
}

void read_mapping(const char* at, Records& records)
{
    const auto process = take<std::uint32_t>(at);
    take<std::uint32_t>(at);  // the thread
    const auto address = take<std::uint64_t>(at), bytes = take<std::uint64_t>(at), place = take<std::uint64_t>(at);
    constexpr std::size_t inode_protection_and_flags = 24 + 8;
    at += inode_protection_and_flags;
    records.mappings[process].push_back({address, address + bytes, place, at});
}

void read_record(const perf_event_header& header, const char* at, Records& records)
{
    if (header.type == PERF_RECORD_MMAP2) return read_mapping(at, records);
    if (header.type == PERF_RECORD_SAMPLE) {
        const auto address = take<std::uint64_t>(at);
        const auto process = take<std::uint32_t>(at), thread = take<std::uint32_t>(at);
        records.samples.push_back({address, take<std::uint64_t>(at), process, thread});
    } else if (header.type == PERF_RECORD_FORK) {
        const auto process = take<std::uint32_t>(at), parent = take<std::uint32_t>(at);
        if (process != parent) records.parents[process] = parent;
    } else if (header.type == PERF_RECORD_LOST) {
        take<std::uint64_t>(at);
        records.lost += static_cast<int>(take<std::uint64_t>(at));
    }
}

/// The kernel's buffer of one processor.
class Buffer {
  public:
    explicit Buffer(int descriptor) : descriptor_(descriptor)
    {
        void* const mapped = ::mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
        if (mapped == MAP_FAILED) {
            const int error = errno;
            ::close(descriptor);
            throw Unsupported("no buffer for samples: " + std::string(std::strerror(error)));
        }
        page_ = static_cast<perf_event_mmap_page*>(mapped);
    }
    ~Buffer()
    {
        ::munmap(page_, bytes());
        ::close(descriptor_);
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    void turn(bool on) const { ::ioctl(descriptor_, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0); }

    void drain(Records& records)
    {
        const std::uint64_t head = __atomic_load_n(&page_->data_head, __ATOMIC_ACQUIRE);
        std::uint64_t tail = page_->data_tail;
        const std::size_t page = page_size(), size = pages * page;
        const char* const data = reinterpret_cast<const char*>(page_) + page;
        while (tail < head) {
            perf_event_header header;
            copy(data, size, tail, &header, sizeof header);
            record_.resize(header.size);
            copy(data, size, tail, record_.data(), header.size);
            record_.push_back('\0');  // ends a file's name in any case
            read_record(header, record_.data() + sizeof header, records);
            tail += header.size;
        }
        __atomic_store_n(&page_->data_tail, tail, __ATOMIC_RELEASE);
    }

  private:
    static std::size_t page_size() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }
    static std::size_t bytes() { return (1 + pages) * page_size(); }
    /// The buffer is a ring.
    static void copy(const char* data, std::size_t size, std::uint64_t from, void* to, std::size_t count)
    {
        const std::size_t at = from % size, first = std::min(count, size - at);
        std::memcpy(to, data + at, first);
        std::memcpy(static_cast<char*>(to) + first, data, count - first);
    }

    int descriptor_;
    perf_event_mmap_page* page_ = nullptr;
    std::vector<char> record_;
};

perf_event_attr attributes(Seconds period)
{
    perf_event_attr clock{};
    clock.size = sizeof clock;
    clock.type = PERF_TYPE_SOFTWARE;
    clock.config = PERF_COUNT_SW_CPU_CLOCK;
    clock.sample_period = static_cast<std::uint64_t>(std::llround(1e9 * period.value));
    clock.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
    clock.disabled = clock.inherit = clock.exclude_kernel = clock.exclude_hv = 1;
    clock.mmap = clock.mmap2 = clock.task = 1;
    return clock;
}

const Mapping* find(const Records& records, std::uint32_t process, std::uint64_t address)
{
    for (int generation = 0; generation < 64; ++generation) {
        if (const auto own = records.mappings.find(process); own != records.mappings.end())
            for (auto mapping = own->second.rbegin(); mapping != own->second.rend(); ++mapping)
                if (address >= mapping->begin && address < mapping->end) return &*mapping;
        const auto parent = records.parents.find(process);
        if (parent == records.parents.end()) return nullptr;
        process = parent->second;
    }
    return nullptr;
}

/// How many threads were at work around each sample, at least 1.
std::vector<double> threads_at_work(const std::vector<AddressSample>& samples, double period)
{
    const auto window_of = [](const AddressSample& sample) {
        return static_cast<std::uint64_t>(1e-9 * static_cast<double>(sample.time) / window);
    };
    std::map<std::uint64_t, int> in_window;
    for (const AddressSample& sample : samples) ++in_window[window_of(sample)];
    std::vector<double> threads;
    for (const AddressSample& sample : samples)
        threads.push_back(std::max(1.0, in_window[window_of(sample)] * period / window));
    return threads;
}

}  // namespace

struct Sampler::Kept {
    Seconds period;
    std::vector<std::unique_ptr<Buffer>> buffers;
    Records records;
    std::atomic<bool> done = false;
    std::thread reader;
};

Sampler::Sampler(Seconds period) : kept_(std::make_unique<Kept>())
{
    kept_->period = period;
    perf_event_attr clock = attributes(period);
    int error = 0;
    for (int processor = 0; processor < static_cast<int>(::sysconf(_SC_NPROCESSORS_CONF)); ++processor) {
        const long descriptor = ::syscall(SYS_perf_event_open, &clock, 0, processor, -1, PERF_FLAG_FD_CLOEXEC);
        if (descriptor >= 0)
            kept_->buffers.push_back(std::make_unique<Buffer>(static_cast<int>(descriptor)));
        else if (errno != ENODEV)  // the processor is off
            error = errno;
    }
    if (error != 0) throw Unsupported("perf_event_open: " + std::string(std::strerror(error)));
}

Sampler::~Sampler()
{
    if (kept_->reader.joinable()) stop();
}

void Sampler::start()
{
    for (const auto& buffer : kept_->buffers) buffer->turn(true);
    sigset_t all, before;
    sigfillset(&all);  // signals are for the thread that waits for the program
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    kept_->reader = std::thread([this] {
        while (!kept_->done) {
            for (const auto& buffer : kept_->buffers) buffer->drain(kept_->records);
            std::this_thread::sleep_for(pause_between_reads);
        }
    });
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Sampler::stop()
{
    for (const auto& buffer : kept_->buffers) buffer->turn(false);
    kept_->done = true;
    kept_->reader.join();
    for (const auto& buffer : kept_->buffers) buffer->drain(kept_->records);
}

std::vector<SampledPlace> Sampler::places(int& lost) const
{
    const Records& records = kept_->records;
    const double period = kept_->period.value;
    const std::vector<double> threads = threads_at_work(records.samples, period);
    std::map<std::pair<std::string, std::uint64_t>, SampledPlace> places;
    for (std::size_t i = 0; i < records.samples.size(); ++i) {
        const AddressSample& sample = records.samples[i];
        const Mapping* const mapping = find(records, sample.process, sample.address);
        const bool is_in_file =
            mapping != nullptr && mapping->file.starts_with('/') && !mapping->file.starts_with("//");
        const bool is_of_kernel = mapping != nullptr && mapping->file == "[vdso]";
        const std::string object = is_in_file || is_of_kernel ? mapping->file : "";
        const std::uint64_t place = is_in_file ? sample.address - mapping->begin + mapping->place : 0;
        SampledPlace& sum = places[{object, place}];
        sum.object = object;
        sum.place = place;
        ++sum.samples;
        sum.time += Seconds{period / threads[i]};
    }
    lost = records.lost;
    std::vector<SampledPlace> all;
    for (auto& [key, place] : places) all.push_back(std::move(place));
    return all;
}

int Sampler::threads() const
{
    constexpr double least = 0.1;
    std::map<std::uint32_t, std::map<std::uint32_t, int>> samples;
    for (const AddressSample& sample : kept_->records.samples) ++samples[sample.process][sample.thread];
    const double all = least * static_cast<double>(kept_->records.samples.size());
    int most = 0;
    for (const auto& [process, of_threads] : samples) {
        int of_process = 0;
        for (const auto& [thread, count] : of_threads) of_process += count;
        if (of_process < all) continue;
        const auto busy =
            std::ranges::count_if(of_threads, [&](const auto& thread) { return thread.second >= least * of_process; });
        most = std::max(most, static_cast<int>(busy));
    }
    return most;
}

}  // namespace roof
