#include "ert/gpu/probes/stream.hpp"

#include "ert/base/error.hpp"
#include "ert/gpu/device.hpp"
#include "ert/gpu/probes/stream_arrays.hpp"
#include "ert/gpu/probes/tuning.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace roof::gpu {

namespace {

constexpr double least_l2_multiple = 8;
constexpr std::uint64_t usual_l2_multiple = 64;
constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30;

constexpr std::array<std::string_view, 4> operation_names{"load", "store", "copy", "triad"};

StreamOperation parse_operation(std::string_view word)
{
    const auto found = std::ranges::find(operation_names, word);
    if (found == operation_names.end()) throw InputError("unknown operation '" + std::string(word) + "'");
    return static_cast<StreamOperation>(found - operation_names.begin());
}

double l2_capacity(const Device& device)
{
    const auto found = std::ranges::find(device.levels, "L2", &MemoryLevel::name);
    return found == device.levels.end() ? 0 : found->capacity.value;
}

class StreamSubject final : public Subject {
  public:
    StreamSubject(StreamOperation operation, std::size_t working_set, DeviceId id)
        : id_(id), arrays_(operation, working_set, attribute(id, cudaDevAttrMultiProcessorCount))
    {
        const EventTimer timer;
        timer.time(stream_, [this] { arrays_.enqueue_pass(stream_); });
        const Seconds pass = timer.time(stream_, [this] { arrays_.enqueue_pass(stream_); });
        passes_ = repeats_for(launch_length, pass, 1, most_passes);
    }

    Work work() const override
    {
        const Bytes moved = arrays_.bytes_per_pass() * static_cast<double>(passes_);
        return {{}, moved, moved, Known::analytic};
    }

    void launch(Trace&) override
    {
        const CurrentDevice current(id_);
        for (long long pass = 0; pass < passes_; ++pass) arrays_.enqueue_pass(stream_);
        stream_.synchronize();
    }

    void check() override { arrays_.check(); }
    Bytes memory() const override { return arrays_.memory(); }

  private:
    static constexpr long long most_passes = 10000;

    DeviceId id_;
    StreamArrays arrays_;
    Stream stream_;
    long long passes_ = 1;
};

class StreamBench final : public Bench {
  public:
    std::string_view name() const override { return "bandwidth"; }
    Role role() const override { return Role::bandwidth; }
    std::string_view sentence() const override
    {
        return "Bytes that the kernel's instructions read and write, over arrays far larger than the L2.";
    }
    std::string_view device_kind() const override { return "gpu"; }

    std::vector<Axis> axes(const Machine& machine) const override
    {
        const std::vector<std::string> operations(operation_names.begin(), operation_names.end());
        return {
            {.name = "operation", .meaning = "what a pass does", .usual = operations, .legal = operations},
            {.name = "isa", .meaning = "the pipe: CUDA cores", .usual = {"cuda"}, .legal = {"cuda"}},
            {.name = "working_set",
             .meaning = "bytes of all arrays together",
             .usual = usual_working_sets(machine),
             .legal = {},
             .numeric = true,
             .least = 3 * static_cast<long long>(StreamArrays::block_bytes),
             .most = static_cast<long long>(1024 * gibibyte)},
        };
    }

    std::optional<std::string> obstacle(const Point& point, const Machine&, const Device& device) const override
    {
        if (point.number("working_set") >= least_l2_multiple * l2_capacity(device)) return {};
        return "the working set is less than 8 times the L2, whose hits would be taken for memory traffic";
    }

    std::unique_ptr<Subject> make(const Point& point, const Machine&, const Device& device) const override
    {
        const DeviceId id = id_of(device);
        const CurrentDevice current(id);
        return std::make_unique<StreamSubject>(parse_operation(point.text("operation")),
                                               static_cast<std::size_t>(point.integer("working_set")), id);
    }

  private:
    /// Three sizes, so that a plateau can be told from a slope.
    static std::vector<std::string> usual_working_sets(const Machine& machine)
    {
        std::uint64_t largest = gibibyte;
        for (const Device& device : machine.devices) {
            if (device.kind == "gpu") {
                largest = std::max(largest, usual_l2_multiple * static_cast<std::uint64_t>(l2_capacity(device)));
            }
        }
        largest = std::bit_ceil(largest);
        return {std::to_string(largest / 4), std::to_string(largest / 2), std::to_string(largest)};
    }
};

}  // namespace

std::unique_ptr<Bench> stream_bench()
{
    return std::make_unique<StreamBench>();
}

}  // namespace roof::gpu
