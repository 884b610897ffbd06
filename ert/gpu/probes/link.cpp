#include "ert/gpu/probes/link.hpp"

#include "ert/base/error.hpp"
#include "ert/gpu/host_buffer.hpp"
#include "ert/gpu/probes/arrays.hpp"
#include "ert/gpu/probes/capability.hpp"
#include "ert/gpu/probes/copy_subject.hpp"
#include "ert/gpu/probes/gpu_bench.hpp"
#include "ert/gpu/probes/tuning.hpp"

#include <cstring>

namespace roof::gpu {

namespace {

/// Host and device memory for each direction, filled with different numbers.
struct Ends {
    Ends(std::size_t bytes, HostBuffer::Pages pages)
        : host_out(bytes, pages),
          host_in(bytes, pages),
          device_in(bytes, "an array to copy into"),
          device_out(bytes, "an array to copy out of")
    {
        fill_with_numbers(host_out.data(), bytes, 1);
        std::vector<std::byte> numbers(bytes);
        fill_with_numbers(numbers.data(), bytes, 2);
        device_out.write(numbers);
    }

    void check(bool in, bool out) const
    {
        const std::size_t bytes = host_out.size();
        if (in && std::memcmp(device_in.read(0, bytes).data(), host_out.data(), bytes) != 0)
            throw Error("what arrived on the device is not what was sent");
        if (out && std::memcmp(host_in.data(), device_out.read(0, bytes).data(), bytes) != 0)
            throw Error("what arrived on the host is not what was sent");
    }

    HostBuffer host_out;
    HostBuffer host_in;
    Buffer<std::byte> device_in;
    Buffer<std::byte> device_out;
};

std::unique_ptr<Subject> make_host_copy(std::string_view operation, std::size_t bytes, HostBuffer::Pages pages,
                                        DeviceId id, std::shared_ptr<const Nvml> nvml)
{
    const auto ends = std::make_shared<Ends>(bytes, pages);
    const bool in = operation != "d2h";
    const bool out = operation != "h2d";
    std::vector<Copies::OneWay> ways;
    if (in) ways.push_back({ends->device_in.data(), ends->host_out.data()});
    if (out) ways.push_back({ends->host_in.data(), ends->device_out.data()});
    return make_copies({bytes, std::move(ways), [ends, in, out] { ends->check(in, out); }}, id, std::move(nvml));
}

/// A kernel's own accesses to pinned host memory.
class ZeroCopySubject final : public Subject {
  public:
    ZeroCopySubject(StreamOperation operation, std::size_t bytes, DeviceId id, std::shared_ptr<const Nvml> nvml)
        : id_(id),
          kernel_{operation, StreamLayout::together, stream_block_sizes.front()},
          blocks_(attribute(id, cudaDevAttrMultiProcessorCount) * resident_stream_blocks(kernel_)),
          tuned_(id, std::move(nvml)),
          memory_(bytes, HostBuffer::Pages::pinned),
          sums_(static_cast<std::size_t>(blocks_ * kernel_.threads), "sums of what was read")
    {
        for (std::size_t i = 0; i < bytes / sizeof(float); ++i) word(i) = due_word(StreamOperation::load, i);
        tuned_.settle_on_fastest({{"", static_cast<double>(bytes), [this](long long passes) { enqueue(passes); }}},
                                 most_copies);
    }

    Work work() const override
    {
        const Bytes moved{tuned_.work()};
        return {{}, moved, moved, Known::analytic};
    }
    void launch(Trace& trace) override { tuned_.launch(trace); }

    void check() override
    {
        const CurrentDevice current(id_);
        const std::size_t words = memory_.size() / sizeof(float);
        if (kernel_.operation == StreamOperation::store) {
            for (std::size_t i = 0; i < words; ++i) word(i) = 0;
            tuned_.run(1);
            for (std::size_t i = 0; i < words; ++i) {
                if (word(i) != stream_value) throw Error("word " + std::to_string(i) + " was not written");
            }
            return;
        }
        tuned_.run(1);
        std::uint32_t found = 0;
        for (const std::uint32_t sum : sums_.read(0, sums_.size())) found += sum;
        if (found != sum_of_bits(words)) throw Error("what was read does not sum to what the host wrote");
    }
    Bytes memory() const override { return {static_cast<double>(sums_.bytes())}; }

  private:
    float& word(std::size_t i) { return reinterpret_cast<float*>(memory_.data())[i]; }

    void enqueue(long long passes) const
    {
        StreamLaunch launch;
        launch.a = launch.out = memory_.data();
        launch.sums = sums_.data();
        launch.vectors = memory_.size() / vector_bytes;
        launch.reading = tuned_.stream().reading();
        launch.blocks = blocks_;
        launch.passes = static_cast<int>(passes);
        enqueue_stream(kernel_, launch, tuned_.stream().get());
    }

    DeviceId id_;
    StreamKernel kernel_;
    int blocks_;
    TunedStream tuned_;
    HostBuffer memory_;
    Buffer<std::uint32_t> sums_;
};

class LinkBench final : public GpuBench {
  public:
    explicit LinkBench(std::shared_ptr<const Nvml> nvml)
        : GpuBench({"link", Role::bandwidth, "gpu",
                    "Bytes copied between host memory and the device, or accessed by a kernel in pinned host memory; "
                    "both ways at once count both."},
                   std::move(nvml))
    {
    }

    std::vector<Axis> axes(const Machine&) const override
    {
        return {{.name = "operation",
                 .meaning = "host to device, device to host, both at once, or a kernel's own accesses",
                 .defaults = {"h2d", "d2h", "both", "zero_copy_load", "zero_copy_store"},
                 .allowed = {"h2d", "d2h", "both", "zero_copy_load", "zero_copy_store"}},
                {.name = "pages",
                 .meaning = "of the host's memory",
                 .defaults = {"pinned", "pageable"},
                 .allowed = {"pinned", "pageable"}},
                {.name = "path", .meaning = "to the host", .defaults = {"host"}, .allowed = {"host"}},
                array_axis()};
    }

    std::optional<std::string> unsupported_reason(const Point& point, const Machine&,
                                                  const Device& device) const override
    {
        if (point.text("operation").starts_with("zero_copy") && point.text("pages") == "pageable")
            return "a kernel reaches pinned host memory alone";
        return missing_capability(device, 80, "this build");
    }

  private:
    std::unique_ptr<Subject> make_here(const Point& point, const Machine&, const Device&, DeviceId id) const override
    {
        const std::string& operation = point.text("operation");
        if (operation == "zero_copy_load")
            return std::make_unique<ZeroCopySubject>(StreamOperation::load, array_bytes(point), id, nvml());
        if (operation == "zero_copy_store")
            return std::make_unique<ZeroCopySubject>(StreamOperation::store, array_bytes(point), id, nvml());
        const bool pinned = point.text("pages") == "pinned";
        return make_host_copy(operation, array_bytes(point),
                              pinned ? HostBuffer::Pages::pinned : HostBuffer::Pages::pageable, id, nvml());
    }
};

}  // namespace

std::unique_ptr<Bench> link_bench(std::shared_ptr<const Nvml> nvml)
{
    return std::make_unique<LinkBench>(std::move(nvml));
}

}  // namespace roof::gpu
