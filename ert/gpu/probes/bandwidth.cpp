#include "ert/gpu/probes/bandwidth.hpp"

#include "ert/base/error.hpp"
#include "ert/gpu/kernels/bulk.hpp"
#include "ert/gpu/probes/arrays.hpp"
#include "ert/gpu/probes/capability.hpp"
#include "ert/gpu/probes/gpu_bench.hpp"
#include "ert/gpu/probes/tuning.hpp"
#include "ert/gpu/probes/working_sets.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace roof::gpu {

namespace {

constexpr std::array<std::string_view, 4> operation_names{"load", "store", "copy", "triad"};
constexpr long long most_passes = 1 << 22;

StreamOperation parse_operation(std::string_view word)
{
    const auto found = std::ranges::find(operation_names, word);
    if (found == operation_names.end()) throw InputError("unknown operation '" + std::string(word) + "'");
    return static_cast<StreamOperation>(found - operation_names.begin());
}

/// A kernel and its blocks.
struct Candidate {
    std::string name;
    bool is_bulk = false;
    StreamKernel kernel;
    int blocks = 1;

    int threads() const { return blocks * (is_bulk ? bulk_threads : kernel.threads); }
};

std::vector<Candidate> bulk_candidates(StreamOperation operation, int multiprocessors)
{
    std::vector<Candidate> candidates;
    const int most = resident_bulk_blocks(operation);
    for (const int each : std::set<int>{1, std::max(1, most / 2), most})
        candidates.push_back({"bulk, " + std::to_string(each) + " rings of 64 KiB per multiprocessor",
                              true,
                              {operation},
                              each * multiprocessors});
    return candidates;
}

std::vector<Candidate> candidates_for(StreamOperation operation, bool is_bulk, int multiprocessors)
{
    if (is_bulk) return bulk_candidates(operation, multiprocessors);
    std::vector<Candidate> candidates;
    for (const StreamLayout layout : {StreamLayout::stretches, StreamLayout::together}) {
        const std::string how = layout == StreamLayout::stretches ? "stretches" : "together";
        for (const int threads : stream_block_sizes) {
            const StreamKernel kernel{operation, layout, threads};
            const int each = resident_stream_blocks(kernel);
            candidates.push_back({how + ", " + std::to_string(each * threads) +
                                      " threads per multiprocessor in blocks of " + std::to_string(threads),
                                  false, kernel, each * multiprocessors});
        }
    }
    return candidates;
}

std::size_t most_threads(const std::vector<Candidate>& candidates)
{
    int most = 0;
    for (const Candidate& candidate : candidates) most = std::max(most, candidate.threads());
    return static_cast<std::size_t>(most);
}

class StreamSubject final : public Subject {
  public:
    StreamSubject(StreamOperation operation, bool is_bulk, std::size_t working_set, DeviceId id,
                  std::shared_ptr<const Nvml> nvml)
        : id_(id),
          tuned_(id, std::move(nvml)),
          candidates_(candidates_for(operation, is_bulk, attribute(id, cudaDevAttrMultiProcessorCount))),
          arrays_(operation, working_set, most_threads(candidates_), tuned_.stream().stream())
    {
        std::vector<Way> ways;
        for (const Candidate& candidate : candidates_) {
            ways.push_back({candidate.name, static_cast<double>(arrays_.bytes()),
                            [this, &candidate](long long passes) { enqueue(candidate, passes, false); }});
        }
        tuned_.settle_on_fastest(std::move(ways), most_passes);
    }

    Work work() const override
    {
        const Bytes moved{tuned_.work()};
        return {{}, moved, moved, Known::analytic};
    }
    void launch(Trace& trace) override { tuned_.launch(trace); }

    void check() override
    {
        constexpr int passes = 2;
        const CurrentDevice current(id_);
        const Candidate& chosen = candidates_[tuned_.way()];
        arrays_.forget_results();
        tuned_.stream().time([&] { enqueue(chosen, passes, true); });
        arrays_.check(passes, static_cast<std::size_t>(chosen.threads()));
    }

    std::string variant() const override { return tuned_.variant(); }
    std::vector<std::string> remarks() const override { return tuned_.stream().remarks(); }
    Bytes memory() const override { return arrays_.memory(); }

  private:
    /// What is timed of the copy engine's loads does not look at what arrives.
    void enqueue(const Candidate& candidate, long long passes, bool checks) const
    {
        StreamLaunch launch = arrays_.launch();
        launch.reading = tuned_.stream().reading();
        launch.blocks = candidate.blocks;
        launch.passes = static_cast<int>(passes);
        if (candidate.is_bulk && !checks) launch.sums = nullptr;
        if (candidate.is_bulk)
            enqueue_bulk(candidate.kernel.operation, launch, tuned_.stream().get());
        else
            enqueue_stream(candidate.kernel, launch, tuned_.stream().get());
    }

    DeviceId id_;
    TunedStream tuned_;
    std::vector<Candidate> candidates_;
    Arrays arrays_;
};

class BandwidthBench final : public GpuBench {
  public:
    explicit BandwidthBench(std::shared_ptr<const Nvml> nvml)
        : GpuBench({"bandwidth", Role::bandwidth, "gpu",
                    "Bytes that the kernel's instructions or the copy engines read and write, in the fastest of "
                    "several kernels, each checked by its result."},
                   std::move(nvml))
    {
    }

    std::vector<Axis> axes(const Machine& machine) const override
    {
        const std::vector<std::string> operations(operation_names.begin(), operation_names.end());
        return {
            {.name = "operation", .meaning = "what a pass does", .defaults = operations, .allowed = operations},
            {.name = "isa",
             .meaning = "instructions of 16 bytes, or bulk copies",
             .defaults = {"cuda"},
             .allowed = {"cuda", "bulk"}},
            working_set_axis("bytes of all arrays together, over all multiprocessors", usual_working_sets(machine)),
        };
    }

    std::optional<std::string> unsupported_reason(const Point& point, const Machine&,
                                                  const Device& device) const override
    {
        const StreamOperation operation = parse_operation(point.text("operation"));
        if (vectors_of_each(operation, static_cast<std::size_t>(point.integer("working_set"))) == 0)
            return "the working set is less than " + std::to_string(bulk_chunk_bytes) + " bytes for each array";
        if (point.text("isa") == "cuda") return missing_capability(device, 80, "this build");
        if (operation == StreamOperation::triad) return "the copy engine does not compute";
        return missing_capability(device, 90, "the copy engine");
    }

  private:
    std::unique_ptr<Subject> make_here(const Point& point, const Machine&, const Device&, DeviceId id) const override
    {
        return std::make_unique<StreamSubject>(parse_operation(point.text("operation")), point.text("isa") == "bulk",
                                               static_cast<std::size_t>(point.integer("working_set")), id, nvml());
    }
};

}  // namespace

std::unique_ptr<Bench> bandwidth_bench(std::shared_ptr<const Nvml> nvml)
{
    return std::make_unique<BandwidthBench>(std::move(nvml));
}

}  // namespace roof::gpu
