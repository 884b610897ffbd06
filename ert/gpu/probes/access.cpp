// Bench "access" of a GPU: what the bandwidth of the L2 and of device memory becomes where threads access words that
// are apart, where few warps or one multiprocessor access them, and where they are atomics.
//
// Launched    one kernel of resident blocks; each thread accesses words of 4 bytes, past the L1. "stride_N":
//             neighbouring threads access words N apart. "warps_N": one block of N warps on each multiprocessor.
//             "one_multiprocessor": one block in all. "atomic": each word gets 1 added, without a result;
//             "atomic_shared": one word gets all; "…_returns": the same, and each returns the word before it.
// Saturates   the path of single words to the level that holds the working set, as far as so many threads can.
// Bytes       4 for each access, however many more the hardware moves with them.
// Time        device events; the kernel itself reads the clock.
// Falsified   if the sum of what was loaded, or a word after the atomics, differs from the host's; if the machine code
//             of the loop has other accesses than those counted.
#include "ert/gpu/kernels/access.hpp"
#include "ert/base/names.hpp"
#include "ert/gpu/probes/device_facts.hpp"
#include "ert/gpu/probes/gpu_bench.hpp"
#include "ert/gpu/probes/tuning.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

namespace roof::gpu {

namespace {

constexpr long long max_passes = 1 << 22;

struct AccessPattern {
    std::string_view name;
    AccessKind kind = AccessKind::load;
    int stride = 1;  ///< words
    int warps = 0;   ///< of a multiprocessor; 0: as many as are fastest
    bool alone = false;
};

constexpr std::array operations{
    AccessPattern{"stride_1"},
    AccessPattern{"stride_2", AccessKind::load, 2},
    AccessPattern{"stride_4", AccessKind::load, 4},
    AccessPattern{"stride_8", AccessKind::load, 8},
    AccessPattern{"stride_32", AccessKind::load, 32},
    AccessPattern{"warps_4", AccessKind::load, 1, 4},
    AccessPattern{"warps_16", AccessKind::load, 1, 16},
    AccessPattern{"one_multiprocessor", AccessKind::load, 1, 0, true},
    AccessPattern{"atomic", AccessKind::atomic_add},
    AccessPattern{"atomic_shared", AccessKind::atomic_share},
    AccessPattern{"atomic_returns", AccessKind::fetch_add},
    AccessPattern{"atomic_shared_returns", AccessKind::fetch_share},
};

const AccessPattern& operation_of(const Point& point)
{
    return row_in(operations, "operation", point.text("operation"));
}

/// Blocks of the whole GPU, and threads of each.
std::vector<std::pair<int, int>> extents_of(const AccessPattern& operation, int multiprocessors)
{
    constexpr int lanes = 32;
    if (operation.warps > 0) return {{multiprocessors, operation.warps * lanes}};
    if (operation.alone) return {{1, most_access_threads}, {1, most_access_threads / 2}};
    std::vector<std::pair<int, int>> all;
    for (const int threads : {most_access_threads / 2, most_access_threads})
        all.emplace_back(resident_blocks(access_kernel_of(operation.kind, threads)) * multiprocessors, threads);
    return all;
}

std::size_t words_of(const Point& point)
{
    const auto stride = static_cast<std::size_t>(operation_of(point).stride);
    return static_cast<std::size_t>(point.integer("working_set")) / sizeof(std::uint32_t) / stride * stride;
}

std::size_t threads_of(const KernelVariant<AccessLaunch>& variant)
{
    return static_cast<std::size_t>(variant.launch.blocks) * static_cast<std::size_t>(variant.launch.threads);
}

class AccessSubject final : public KernelSubject<AccessLaunch, &AccessLaunch::passes> {
  public:
    explicit AccessSubject(const GpuPoint& at)
        : KernelSubject(at), operation_(operation_of(at.point)), words_(words_of(at.point), "the words to access")
    {
        fill();
        Variants variants;
        for (const auto& [blocks, threads] : extents_of(operation_, attribute(at.id, cudaDevAttrMultiProcessorCount)))
            variants.push_back({std::to_string(blocks) + " blocks of " + std::to_string(threads) + " threads",
                                work_of_bytes(static_cast<double>(words_.bytes())),
                                access_kernel_of(operation_.kind, threads),
                                {.words = words_.data(),
                                 .count = words_.size(),
                                 .stride = static_cast<unsigned>(operation_.stride),
                                 .blocks = blocks,
                                 .threads = threads}});
        sums_.emplace(array_for<std::uint32_t>(variants, &AccessLaunch::sums, "sums of the words", threads_of));
        settle_on_fastest(variants, max_passes);
    }

    void check() override
    {
        constexpr std::uint32_t passes = 2;
        const CurrentDevice current(stream().id());
        fill();
        run(passes);
        if (returns(operation_.kind)) check_sums(passes);
        if (operation_.kind == AccessKind::load) return;
        const std::vector<std::uint32_t> found = words_.read(0, words_.size());
        const bool is_shared = shares(operation_.kind);
        for (std::size_t i = 0; i < found.size(); ++i) {
            const std::uint32_t expected = !is_shared ? passes
                                           : i > 0    ? 0
                                                      : passes * static_cast<std::uint32_t>(found.size());
            if (found[i] != expected)
                throw Error("word " + std::to_string(i) + " got " + std::to_string(found[i]) + " additions, not " +
                            std::to_string(expected));
        }
    }

    Bytes memory() const override { return {static_cast<double>(words_.bytes() + sums_->bytes())}; }

  private:
    void fill() const
    {
        stream().time([&] { enqueue_access_fill(operation_.kind, words_.data(), words_.size(), stream().get()); });
    }

    void check_sums(std::uint32_t passes) const
    {
        const std::vector<std::uint32_t> sums = sums_->read(0, threads_of(chosen()));
        if (std::accumulate(sums.begin(), sums.end(), 0U) != sum_of_accesses(operation_.kind, words_.size(), passes))
            throw Error("the sum of the words that were loaded or returned is not the host's");
    }

    AccessPattern operation_;
    Buffer<std::uint32_t> words_;
    std::optional<Buffer<std::uint32_t>> sums_;
};

std::vector<Axis> axes(const Machine& machine)
{
    constexpr double in_l2 = 0.5;
    constexpr double beyond_l2 = 4;
    const auto gpu = std::ranges::find(machine.devices, "gpu", &Device::kind);
    const Bytes known = gpu == machine.devices.end() ? Bytes{} : capacity_of(*gpu, "L2");
    const double l2 = known.value > 0 ? known.value : 40e6;
    const auto bytes = [&](double share) { return std::to_string(static_cast<long long>(share * l2)); };
    return {word_axis(
                "operation",
                "words so many words apart, by so many warps of each multiprocessor, by one multiprocessor, or atomics",
                names_in(operations)),
            word_axis("path", "single words", {"words"}),
            number_axis("working_set", "bytes, by default in the L2 and beyond it", {bytes(in_l2), bytes(beyond_l2)}, 1,
                        1LL << 42)};
}

std::optional<std::string> unsupported_reason(const Point& point, const Machine&, const Device&)
{
    if (words_of(point) == 0) return "the working set is less than one word for each offset";
    return std::nullopt;
}

}  // namespace

GpuBench access_bench(const Libraries&)
{
    return {
        .name = "access",
        .role = Role::bandwidth,
        .description =
            "Words of 4 bytes that threads load or add to, past the L1: apart from one another, by few threads, or as "
            "atomics; 4 bytes count for each, every result checked.",
        .axes = axes,
        .unsupported_reason = unsupported_reason,
        .create = [](const GpuPoint& at) { return std::make_unique<AccessSubject>(at); }};
}

}  // namespace roof::gpu
