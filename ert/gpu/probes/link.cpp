// Bench "link" of a GPU: transfers between host memory and the device.
//
// Launched    copies into the device's memory, out of it, or both at once on two streams. The driver copies pageable
//             memory through buffers of its own. zero_copy: a kernel that reads or writes pinned host memory itself.
// Saturates   PCIe, or whatever connects the two.
//             The host's memory lies on the NUMA node next to the GPU, where Linux tells which that is.
// Bytes       of the arrays, each once. Both ways at once: the sum of both.
// Time        device events around all copies; the second stream is forked from and joined to the first.
// Falsified   if what arrived is not what was sent.
#include "ert/base/error.hpp"
#include "ert/gpu/buffer.hpp"
#include "ert/gpu/near_processors.hpp"
#include "ert/gpu/probes/arrays.hpp"
#include "ert/gpu/probes/copy_subject.hpp"
#include "ert/gpu/probes/gpu_bench.hpp"

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

    HostBuffer host_out;
    HostBuffer host_in;
    Buffer<std::byte> device_in;
    Buffer<std::byte> device_out;
};

std::unique_ptr<Subject> make_host_copy(const GpuPoint& at)
{
    const std::string& operation = at.point.text("operation");
    const bool pinned = at.point.text("pages") == "pinned";
    const auto ends =
        std::make_shared<Ends>(array_bytes(at.point), pinned ? HostBuffer::Pages::pinned : HostBuffer::Pages::pageable);
    std::vector<Copies::OneWay> ways;
    if (operation != "d2h") ways.push_back({ends->device_in.data(), ends->host_out.data()});
    if (operation != "h2d") ways.push_back({ends->host_in.data(), ends->device_out.data()});
    return make_copies({array_bytes(at.point), std::move(ways), ends}, at);
}

/// A kernel's own accesses to pinned host memory.
class ZeroCopySubject final : public TunedSubject {
  public:
    ZeroCopySubject(StreamOperation operation, const GpuPoint& at)
        : TunedSubject(at),
          kernel_{operation, StreamLayout::together, stream_block_sizes.front()},
          blocks_(attribute(at.id, cudaDevAttrMultiProcessorCount) * resident_stream_blocks(kernel_)),
          memory_(array_bytes(at.point), HostBuffer::Pages::pinned),
          sums_(static_cast<std::size_t>(blocks_ * kernel_.threads), "sums of what was read")
    {
        for (std::size_t i = 0; i < memory_.size() / sizeof(float); ++i)
            word(i) = expected_word(StreamOperation::load, i);
        settle_on_fastest(
            {{"", work_of_bytes(static_cast<double>(memory_.size())), [this](long long passes) { enqueue(passes); }}},
            max_copies);
    }

    void check() override
    {
        const CurrentDevice current(stream().id());
        const std::size_t words = memory_.size() / sizeof(float);
        if (kernel_.operation == StreamOperation::store) {
            for (std::size_t i = 0; i < words; ++i) word(i) = 0;
            run(1);
            for (std::size_t i = 0; i < words; ++i) {
                if (word(i) != stream_value) throw Error("word " + std::to_string(i) + " was not written");
            }
            return;
        }
        run(1);
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
        launch.reading = stream().reading();
        launch.blocks = blocks_;
        launch.passes = static_cast<int>(passes);
        enqueue_stream(kernel_, launch, stream().get());
    }

    StreamKernel kernel_;
    int blocks_;
    HostBuffer memory_;
    Buffer<std::uint32_t> sums_;
};

std::vector<Axis> axes(const Machine&)
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

std::optional<std::string> unsupported_reason(const Point& point, const Machine& machine, const Device& device)
{
    if (point.text("operation").starts_with("zero_copy") && point.text("pages") == "pageable")
        return "a kernel can access only pinned host memory";
    return missing_for_all(point, machine, device);
}

std::unique_ptr<Subject> create(const GpuPoint& at)
{
    const OnProcessors near(processors_near(bus_id_of(at.id)));  // while the memory is made
    const std::string& operation = at.point.text("operation");
    if (operation == "zero_copy_load") return std::make_unique<ZeroCopySubject>(StreamOperation::load, at);
    if (operation == "zero_copy_store") return std::make_unique<ZeroCopySubject>(StreamOperation::store, at);
    return make_host_copy(at);
}

}  // namespace

GpuBench link_bench(const Libraries&)
{
    return {.name = "link",
            .role = Role::bandwidth,
            .description =
                "Bytes copied between host memory and the device, or accessed by a kernel in pinned host memory; both "
                "ways at once count both.",
            .axes = axes,
            .unsupported_reason = unsupported_reason,
            .create = create};
}

}  // namespace roof::gpu
