// Bench "bandwidth" of a GPU: load, store, copy and triad over a working set, from the L1s to device memory.
//
// Launched    one kernel of resident blocks; a launch makes many passes over the arrays. isa `cuda`: instructions of 16
//             bytes. Either each block has a stretch of its own, which may fit its L1, or all blocks go along the
//             arrays together, or, in device memory, each block moves one tile and ends; this and the number of threads
//             are found by trying. Where the set is a little larger
//             than the cache, all threads of a multiprocessor begin each pass together: otherwise some run ahead and
//             find their part of the set still in the cache. isa `cg`: such loads past the L1 (ld.global.cg). isa
//             `bulk`: the copy engines move chunks, past the L1. Path `readers:2`: one block on each multiprocessor, of
//             which two in a row load the same stretch past the L1, pass by pass; it counts twice.
// Saturates   the path to the level that holds the working set, from all multiprocessors together.
// Bytes       those that the instructions read and write: per word 4 (load, store), 8 (copy), 12 (triad). The L2 writes
//             whole sectors without reading them first, so there is no write-allocate traffic.
// Time        device events; the kernel itself reads the clock.
// Falsified   if sums of what was read, or words written, differ from the host's by one bit; if the machine code of the
//             loop has loads or stores narrower than 16 bytes.
#include "ert/base/error.hpp"
#include "ert/gpu/kernels/bulk.hpp"
#include "ert/gpu/probes/arrays.hpp"
#include "ert/gpu/probes/device_facts.hpp"
#include "ert/gpu/probes/gpu_bench.hpp"
#include "ert/gpu/probes/tuning.hpp"

#include <algorithm>
#include <optional>
#include <ranges>
#include <set>

namespace roof::gpu {

namespace {

constexpr long long max_passes = 1 << 22;

StreamOperation operation_of(const Point& point)
{
    return parse_enum<StreamOperation>(point.text("operation"));
}

using StreamVariant = KernelVariant<StreamLaunch>;

/// The sums that a launch leaves.
std::size_t sums_of(const StreamVariant& variant)
{
    return variant.has_blocks_for_each ? std::size_t{tile_sums} : variant.threads();
}

std::string name_of(StreamLayout layout)
{
    return layout == StreamLayout::stretches ? "stretches" : "together";
}

/// What a row moves its bytes with.
struct Transfer {
    StreamOperation operation = StreamOperation::load;
    bool is_bulk = false;
    bool past_l1 = false;
};

Transfer transfer_of(const Point& point)
{
    const std::string& isa = point.text("isa");
    return {operation_of(point), isa == "bulk", isa == "cg"};
}

std::vector<StreamVariant> bulk_variants(StreamOperation operation, int multiprocessors)
{
    std::vector<StreamVariant> variants;
    const Kernel<StreamLaunch> kernel = bulk_kernel_of(operation);
    const int most = resident_blocks(kernel);
    for (const int each : std::set<int>{1, std::max(1, most / 2), most})
        variants.push_back({"bulk, " + std::to_string(each) + " rings of 64 KiB per multiprocessor",
                            {},
                            kernel,
                            {.blocks = each * multiprocessors}});
    return variants;
}

/// As many threads as fit, each at its own pace.
std::vector<StreamVariant> free_variants(const Transfer& transfer, int multiprocessors)
{
    std::vector<StreamVariant> variants;
    for (const StreamLayout layout : {StreamLayout::stretches, StreamLayout::together}) {
        for (const int threads : stream_block_sizes) {
            const auto kernel = stream_kernel_of({transfer.operation, layout, threads, transfer.past_l1});
            const int each = resident_blocks(kernel);
            variants.push_back({name_of(layout) + ", " + std::to_string(each * threads) +
                                    " threads per multiprocessor in blocks of " + std::to_string(threads),
                                {},
                                kernel,
                                {.blocks = each * multiprocessors}});
        }
    }
    return variants;
}

/// One block for each multiprocessor, whose threads begin each pass together. `by_two`: two in a row load the same
/// stretch; else each has its own, or all load the whole set together.
std::vector<StreamVariant> stepped_variants(const Transfer& transfer, int multiprocessors, bool by_two)
{
    constexpr int threads = stream_block_sizes.back();
    const int each = by_two ? 2 : 1;
    std::vector<StreamVariant> variants;
    for (const StreamLayout layout : {StreamLayout::stretches, StreamLayout::together}) {
        if (by_two && layout == StreamLayout::together) continue;
        const auto kernel = stream_kernel_of({transfer.operation, layout, threads, transfer.past_l1});
        const std::string name = name_of(layout) + (by_two ? " of 2" : "") + ", " + std::to_string(threads) +
                                 " threads per multiprocessor, pass by pass";
        variants.push_back(
            {name, {}, kernel, {.blocks = multiprocessors / each * each, .in_step = true, .readers = each}});
    }
    return variants;
}

/// A block for each tile. Each pass begins when the last one is nearly over, so this is for sets in device memory.
std::vector<StreamVariant> tile_variants(const Transfer& transfer, std::size_t working_set)
{
    const std::size_t vectors = vectors_of_each(transfer.operation, working_set);
    std::vector<StreamVariant> variants;
    for (const int unroll : tile_unrolls) {
        for (const int threads : stream_block_sizes) {
            const auto kernel =
                stream_kernel_of({.operation = transfer.operation, .threads = threads, .tile_unroll = unroll});
            const std::string name = "a block of " + std::to_string(threads) + " threads for each tile of " +
                                     std::to_string(unroll * threads * vector_bytes / 1024) + " KiB";
            variants.push_back(
                {name, {}, kernel, {.blocks = static_cast<int>(tiles_of(vectors, unroll, threads))}, true});
        }
    }
    return variants;
}

/// A set this much larger than a cache finds next to nothing there.
constexpr double well_beyond = 4;

/// Whether the set is a little larger than the cache.
bool would_run_ahead(std::size_t working_set, Bytes capacity)
{
    const auto bytes = static_cast<double>(working_set);
    return bytes > capacity.value && bytes <= well_beyond * capacity.value;
}

std::vector<StreamVariant> variants_for(const GpuPoint& at)
{
    const Transfer transfer = transfer_of(at.point);
    const int multiprocessors = attribute(at.id, cudaDevAttrMultiProcessorCount);
    const bool by_two = at.point.has("path");
    if (transfer.is_bulk) return bulk_variants(transfer.operation, multiprocessors);
    const Bytes first_cache = capacity_of(at.device, transfer.past_l1 ? "L2" : "L1");
    const auto working_set = static_cast<std::size_t>(at.point.integer("working_set"));
    if (by_two || would_run_ahead(working_set, first_cache)) return stepped_variants(transfer, multiprocessors, by_two);
    std::vector<StreamVariant> variants = free_variants(transfer, multiprocessors);
    const Bytes last_cache = capacity_of(at.device, "L2");
    if (!transfer.past_l1 && static_cast<double>(working_set) > well_beyond * last_cache.value)
        std::ranges::move(tile_variants(transfer, working_set), std::back_inserter(variants));
    return variants;
}

class StreamSubject final : public KernelSubject<StreamLaunch, &StreamLaunch::passes> {
  public:
    explicit StreamSubject(const GpuPoint& at) : KernelSubject(at)
    {
        Variants variants = variants_for(at);
        arrays_.emplace(operation_of(at.point), static_cast<std::size_t>(at.point.integer("working_set")),
                        std::ranges::max(variants | std::views::transform(sums_of)), stream().stream());
        for (StreamVariant& one : variants) {
            one.work = work_of_bytes(static_cast<double>(arrays_->bytes()) * one.launch.readers);
            one.launch = arrays_->launch(one.launch);
            one.launch.timed = true;
            // Timed loads by the copy engine do not read what arrives; those of device memory by tiles do, and leave no
            // sum.
            if (transfer_of(at.point).is_bulk) one.launch.sums = nullptr;
        }
        settle_on_fastest(variants, max_passes);
    }

    void check() override
    {
        constexpr int passes = 2;
        const CurrentDevice current(stream().id());
        arrays_->clear_results();
        StreamVariant checked = chosen();
        checked.launch = arrays_->launch(checked.launch);
        checked.launch.timed = false;
        stream().time([&] { enqueue(checked, passes); });
        arrays_->check(passes * checked.launch.readers, sums_of(checked));
    }

    Bytes memory() const override { return arrays_->memory(); }

  private:
    std::optional<Arrays> arrays_;
};

std::vector<Axis> axes(const Machine& machine)
{
    return {word_axis("operation", "what a pass does", names_in(names_of(StreamOperation{}).rows)),
            {.name = "isa",
             .meaning = "instructions of 16 bytes, such loads past the L1 (ld.global.cg), or bulk copies",
             .defaults = {"cuda"},
             .allowed = {"cuda", "cg", "bulk"}},
            {.name = "path",
             .meaning = "loads past the L1: two multiprocessors load the same line",
             .defaults = {"lines of their own"},
             .allowed = {"readers:2"},
             .optional = true},
            working_set_axis("bytes of all arrays together, over all multiprocessors", usual_working_sets(machine))};
}

std::optional<std::string> unsupported_reason(const Point& point, const Machine&, const Device& device)
{
    const StreamOperation operation = operation_of(point);
    if (vectors_of_each(operation, static_cast<std::size_t>(point.integer("working_set"))) == 0)
        return "the working set is less than " + std::to_string(bulk_chunk_bytes) + " bytes for each array";
    const std::string& isa = point.text("isa");
    const bool by_two = point.has("path");
    if (operation != StreamOperation::load && (isa == "cg" || by_two)) return "only loads pass the L1, or have readers";
    if (by_two && isa != "cg") return "only loads past the L1 have two readers";
    if (by_two && multiprocessors_of(device) < 2) return "the GPU has one multiprocessor";
    if (isa != "bulk") return std::nullopt;
    if (operation == StreamOperation::triad) return "the copy engine does not compute";
    return missing_capability(device, 90, "the copy engine");
}

}  // namespace

GpuBench bandwidth_bench(const Libraries&)
{
    return {.name = "bandwidth",
            .role = Role::bandwidth,
            .description =
                "Bytes that the kernel's instructions or the copy engines read and write, in the fastest of several "
                "kernels, each checked by its result.",
            .axes = axes,
            .unsupported_reason = unsupported_reason,
            .create = [](const GpuPoint& at) { return std::make_unique<StreamSubject>(at); }};
}

}  // namespace roof::gpu
