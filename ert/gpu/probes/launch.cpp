// Bench "launch" of a GPU: the cost of a kernel that does nothing. A step of many small kernels takes at least that for
// each.
//
// Launched    kernels of one warp in a row, each by a call of the runtime (`launch`), or 256 as one CUDA graph
//             (`graph`).
// Saturates   the path that launches kernels; the host's part of it where that is slower.
// Counts      kernels.
// Time        device events, from before the first kernel to after the last.
// Falsified   if the time per kernel depends on how many are launched in a row.
#include "ert/gpu/kernels/idle.hpp"
#include "ert/gpu/probes/gpu_bench.hpp"
#include "ert/gpu/probes/tuning.hpp"
#include "ert/gpu/stream.hpp"
#include "ert/method/ceilings/point_summary.hpp"

#include <optional>

namespace roof::gpu {

namespace {

constexpr int kernels_of_graph = 256;
constexpr long long max_repeats = 1 << 16;

class LaunchSubject final : public TunedSubject {
  public:
    LaunchSubject(bool in_graph, const GpuPoint& at) : TunedSubject(at, false)
    {
        if (in_graph)
            graph_.emplace(stream().get(), [this] {
                for (int i = 0; i < kernels_of_graph; ++i) enqueue_idle(stream().get());
            });
        const int kernels = in_graph ? kernels_of_graph : 1;
        const std::string name = in_graph ? std::to_string(kernels) + " kernels in a graph" : "";
        settle_on_fastest(
            {{name, work_of_bytes(bytes_per_access * kernels), [this](long long repeats) { enqueue(repeats); }}},
            max_repeats);
    }

    void check() override {}  // a kernel that fails to launch throws

  private:
    void enqueue(long long repeats) const
    {
        for (long long i = 0; i < repeats; ++i) {
            if (graph_)
                graph_->launch(stream().get());
            else
                enqueue_idle(stream().get());
        }
    }

    std::optional<Graph> graph_;
};

}  // namespace

GpuBench launch_bench(const Libraries&)
{
    return {
        .name = "launch",
        .role = Role::latency,
        .description = "Time of one kernel that does nothing, of many in a row; a row's line stands for one kernel.",
        .axes = [](const Machine&) -> std::vector<Axis> {
            return {word_axis("path", "each launched by itself, or all as a CUDA graph", {"launch", "graph"})};
        },
        .create =
            [](const GpuPoint& at) { return std::make_unique<LaunchSubject>(at.point.text("path") == "graph", at); }};
}

}  // namespace roof::gpu
