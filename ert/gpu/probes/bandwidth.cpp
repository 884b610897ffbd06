// Bench "bandwidth" of a GPU: load, store, copy and triad over a working set, from the L1s to device memory.
//
// Launched    one kernel of resident blocks; a launch makes many passes over the arrays. isa `cuda`: instructions of 16
//             bytes. Either each block has a stretch of its own, which may fit its L1, or all blocks go along the
//             arrays together, or, in device memory, each block moves one tile and ends; this and the number of threads
//             are found by trying. Where the set is a little larger
//             than the cache, all threads of a multiprocessor begin each pass together: otherwise some run ahead and
//             find their part of the set still in the cache. isa `cg`: such loads past the L1 (ld.global.cg). isa
//             `bulk`: the copy engines move chunks, past the L1; isa `tiles`: chunks that are tiles of a matrix, by a
//             tensor map. Path `readers:N`: one block on each multiprocessor, of which N in a row load the same
//             stretch, pass by pass; with `bulk`, N of a cluster get each chunk by one load (multicast), and it counts
//             N times.
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
#include <set>

namespace roof::gpu {

namespace {

constexpr long long max_passes = 1 << 22;

StreamOperation operation_of(const Point& point)
{
    return parse_enum<StreamOperation>(point.text("operation"));
}

/// A kernel and its blocks.
struct StreamChoice {
    std::string name;
    bool is_bulk = false;
    StreamKernel kernel;
    int blocks{};
    bool in_step = false;
    int readers = 1;

    /// The sums that a launch leaves.
    int sums() const
    {
        if (kernel.tile_unroll != 0) return tile_sums;
        return blocks * (is_bulk ? bulk_threads : kernel.threads);
    }
};

/// `readers`: multiprocessors of a cluster that get what one load brings.
std::vector<StreamChoice> bulk_candidates(StreamOperation operation, int multiprocessors, int readers)
{
    std::vector<StreamChoice> candidates;
    const int most = resident_blocks(bulk_kernel_of(operation));
    const int fitting =
        readers > 1 ? resident_clusters(multicast_kernel_of(readers)) * readers : most * multiprocessors;
    if (fitting == 0) throw Unsupported("no cluster of " + std::to_string(readers) + " blocks fits this GPU");
    const std::string loads = readers > 1 ? "to " + std::to_string(readers) + " multiprocessors each, " : "";
    for (const int each : std::set<int>{1, std::max(1, most / 2), most})
        candidates.push_back({"bulk, " + loads + std::to_string(each) + " rings of 64 KiB per multiprocessor",
                              true,
                              {operation},
                              std::min(each * multiprocessors, fitting) / readers * readers,
                              false,
                              readers});
    return candidates;
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
    return {operation_of(point), isa == "bulk" || isa == "tiles", isa == "cg"};
}

/// As many threads as fit, each at its own pace.
std::vector<StreamChoice> free_candidates(const Transfer& transfer, int multiprocessors)
{
    std::vector<StreamChoice> candidates;
    for (const StreamLayout layout : {StreamLayout::stretches, StreamLayout::together}) {
        for (const int threads : stream_block_sizes) {
            const StreamKernel kernel{transfer.operation, layout, threads, transfer.past_l1};
            const int each = resident_blocks(stream_kernel_of(kernel));
            candidates.push_back({name_of(layout) + ", " + std::to_string(each * threads) +
                                      " threads per multiprocessor in blocks of " + std::to_string(threads),
                                  false, kernel, each * multiprocessors});
        }
    }
    return candidates;
}

/// One block for each multiprocessor, whose threads begin each pass together. `readers`: so many in a row load the same
/// stretch; 0: each has its own, or all load the whole set together.
std::vector<StreamChoice> stepped_candidates(const Transfer& transfer, int multiprocessors, int readers)
{
    constexpr int threads = stream_block_sizes.back();
    const int each = std::max(1, readers);
    std::vector<StreamChoice> candidates;
    for (const StreamLayout layout : {StreamLayout::stretches, StreamLayout::together}) {
        if (readers > 0 && layout == StreamLayout::together) continue;
        const StreamKernel kernel{transfer.operation, layout, threads, transfer.past_l1};
        const std::string name = name_of(layout) + (readers > 0 ? " of " + std::to_string(readers) : "") + ", " +
                                 std::to_string(threads) + " threads per multiprocessor, pass by pass";
        candidates.push_back({name, false, kernel, multiprocessors / each * each, true, each});
    }
    return candidates;
}

/// "readers:4"; 0 without that path. Of all multiprocessors: as many as there are.
int readers_of(const Point& point, int multiprocessors)
{
    const std::string path = point.text_or("path", "readers:0");
    const std::string number = path.substr(path.find(':') + 1);
    return number == "all" ? multiprocessors : std::stoi(number);
}

/// A block for each tile. Each pass begins when the last one is nearly over, so this is for sets in device memory.
std::vector<StreamChoice> tile_candidates(const Transfer& transfer, std::size_t working_set)
{
    const std::size_t vectors = vectors_of_each(transfer.operation, working_set);
    std::vector<StreamChoice> candidates;
    for (const int unroll : tile_unrolls) {
        for (const int threads : stream_block_sizes) {
            const StreamKernel kernel{.operation = transfer.operation, .threads = threads, .tile_unroll = unroll};
            const std::string name = "a block of " + std::to_string(threads) + " threads for each tile of " +
                                     std::to_string(unroll * threads * vector_bytes / 1024) + " KiB";
            candidates.push_back({name, false, kernel, static_cast<int>(tiles_of(vectors, unroll, threads))});
        }
    }
    return candidates;
}

/// A set this much larger than a cache finds next to nothing there.
constexpr double well_beyond = 4;

/// Whether the set is a little larger than the cache.
bool would_run_ahead(std::size_t working_set, Bytes capacity)
{
    const auto bytes = static_cast<double>(working_set);
    return bytes > capacity.value && bytes <= well_beyond * capacity.value;
}

std::vector<StreamChoice> candidates_for(const GpuPoint& at)
{
    const Transfer transfer = transfer_of(at.point);
    const int multiprocessors = attribute(at.id, cudaDevAttrMultiProcessorCount);
    const int readers = readers_of(at.point, multiprocessors);
    if (transfer.is_bulk) return bulk_candidates(transfer.operation, multiprocessors, std::max(1, readers));
    const Bytes first_cache = capacity_of(at.device, transfer.past_l1 ? "L2" : "L1");
    const auto working_set = static_cast<std::size_t>(at.point.integer("working_set"));
    if (readers > 0 || would_run_ahead(working_set, first_cache))
        return stepped_candidates(transfer, multiprocessors, readers);
    std::vector<StreamChoice> candidates = free_candidates(transfer, multiprocessors);
    const Bytes last_cache = capacity_of(at.device, "L2");
    if (!transfer.past_l1 && static_cast<double>(working_set) > well_beyond * last_cache.value)
        std::ranges::move(tile_candidates(transfer, working_set), std::back_inserter(candidates));
    return candidates;
}

std::size_t max_sums(const std::vector<StreamChoice>& candidates)
{
    int most{};
    for (const StreamChoice& candidate : candidates) most = std::max(most, candidate.sums());
    return static_cast<std::size_t>(most);
}

class StreamSubject final : public TunedSubject {
  public:
    explicit StreamSubject(const GpuPoint& at)
        : TunedSubject(at),
          candidates_(candidates_for(at)),
          arrays_(operation_of(at.point), static_cast<std::size_t>(at.point.integer("working_set")),
                  max_sums(candidates_), stream().stream())
    {
        if (at.point.text("isa") == "tiles") arrays_.map_tiles();
        std::vector<Variant> variants;
        for (const StreamChoice& candidate : candidates_) {
            variants.push_back({candidate.name, work_of_bytes(static_cast<double>(arrays_.bytes()) * candidate.readers),
                                [this, &candidate](long long passes) { enqueue(candidate, passes, false); }});
        }
        chosen_ = settle_on_fastest(variants, max_passes);
    }

    void check() override
    {
        constexpr int passes = 2;
        const CurrentDevice current(stream().id());
        const StreamChoice& chosen = candidates_[chosen_];
        arrays_.clear_results();
        stream().time([&] { enqueue(chosen, passes, true); });
        arrays_.check(passes * chosen.readers, static_cast<std::size_t>(chosen.sums()));
    }

    Bytes memory() const override { return arrays_.memory(); }

  private:
    /// Timed loads by the copy engine do not read what arrives; those by tiles do, and leave no sum.
    void enqueue(const StreamChoice& candidate, long long passes, bool checks) const
    {
        StreamLaunch launch = arrays_.launch();
        launch.reading = stream().reading();
        launch.blocks = candidate.blocks * (candidate.kernel.tile_unroll != 0 ? static_cast<int>(passes) : 1);
        launch.passes = static_cast<int>(passes);
        launch.in_step = candidate.in_step;
        launch.readers = candidate.readers;
        launch.timed = !checks;
        if (candidate.is_bulk && !checks) launch.sums = nullptr;
        const Kernel<StreamLaunch> kernel = !candidate.is_bulk ? stream_kernel_of(candidate.kernel)
                                            : candidate.readers > 1
                                                ? multicast_kernel_of(candidate.readers)
                                                : bulk_kernel_of(candidate.kernel.operation, launch.map != nullptr);
        gpu::enqueue(kernel, launch, stream().get());
    }

    std::vector<StreamChoice> candidates_;
    Arrays arrays_;
    std::size_t chosen_ = 0;  ///< of candidates_
};

std::vector<Axis> axes(const Machine& machine)
{
    return {
        word_axis("operation", "what a pass does", names_in(names_of(StreamOperation{}).rows)),
        {.name = "isa",
         .meaning = "instructions of 16 bytes, such loads past the L1 (ld.global.cg), bulk copies, or such loads of "
                    "the tiles of a matrix",
         .defaults = {"cuda"},
         .allowed = {"cuda", "cg", "bulk", "tiles"}},
        {.name = "path",
         .meaning = "loads alone: multiprocessors that load the same line; bulk copies: that get it by one load",
         .defaults = {"readers:1"},
         .allowed = {"readers:1", "readers:2", "readers:4", "readers:8", "readers:16", "readers:32", "readers:64",
                     "readers:all"},
         .optional = true},
        working_set_axis("bytes of all arrays together, over all multiprocessors", usual_working_sets(machine))};
}

std::optional<std::string> unsupported_reason(const Point& point, const Machine& machine, const Device& device)
{
    const StreamOperation operation = operation_of(point);
    if (vectors_of_each(operation, static_cast<std::size_t>(point.integer("working_set"))) == 0)
        return "the working set is less than " + std::to_string(bulk_chunk_bytes) + " bytes for each array";
    const std::string& isa = point.text("isa");
    const int multiprocessors = multiprocessors_of(device);
    const int readers = readers_of(point, multiprocessors);
    if (operation != StreamOperation::load && (isa == "cg" || isa == "tiles" || readers > 0))
        return "only loads pass the L1, are of tiles, or have readers";
    if (readers > multiprocessors) return "the GPU has " + std::to_string(multiprocessors) + " multiprocessors";
    if (isa == "bulk" && readers > most_bulk_readers)
        return "a cluster has at most " + std::to_string(most_bulk_readers) + " blocks";
    constexpr int row = bulk_chunk_bytes * bulk_tiles_across;
    if (isa == "tiles" && (readers > 0 || point.integer("working_set") % row != 0))
        return "a matrix of tiles has one reader, and rows of tiles of " + std::to_string(row) + " bytes";
    if (isa != "bulk" && isa != "tiles") return missing_for_all(point, machine, device);
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
