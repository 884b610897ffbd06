#include "ert/gpu/probes/launch.hpp"

#include "ert/gpu/check.hpp"
#include "ert/gpu/kernels/idle.hpp"
#include "ert/gpu/probes/gpu_bench.hpp"
#include "ert/gpu/probes/tuning.hpp"
#include "ert/method/ceilings/point_summary.hpp"

namespace roof::gpu {

namespace {

constexpr int kernels_of_graph = 256;
constexpr long long most_repeats = 1 << 16;

struct DestroyGraph {
    void operator()(cudaGraphExec_t graph) const noexcept { log_failure(cudaGraphExecDestroy(graph)); }
};
using Graph = std::unique_ptr<CUgraphExec_st, DestroyGraph>;

/// Captured on a stream of its own.
Graph graph_of_idle_kernels()
{
    const Stream stream;
    check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < kernels_of_graph; ++i) enqueue_idle(stream.get());
    cudaGraph_t captured = nullptr;
    check(cudaStreamEndCapture(stream.get(), &captured));
    cudaGraphExec_t graph = nullptr;
    const cudaError_t status = cudaGraphInstantiate(&graph, captured, 0);
    log_failure(cudaGraphDestroy(captured));
    check(status);
    return Graph(graph);
}

class LaunchSubject final : public Subject {
  public:
    LaunchSubject(bool in_graph, DeviceId id, std::shared_ptr<const Nvml> nvml) : tuned_(id, std::move(nvml))
    {
        if (in_graph) graph_ = graph_of_idle_kernels();
        const std::string name = in_graph ? std::to_string(kernels_of_graph) + " kernels in a graph" : "";
        tuned_.settle_on_fastest({{name, 1, [this](long long repeats) { enqueue(repeats); }}}, most_repeats);
    }

    Work work() const override
    {
        const Bytes accesses{bytes_per_access * (graph_ ? kernels_of_graph : 1) *
                             static_cast<double>(tuned_.repeats())};
        return {{}, accesses, accesses, Known::analytic};
    }
    void launch(Trace& trace) override { tuned_.launch(trace); }
    void check() override {}  // a kernel that fails to launch throws
    std::string variant() const override { return tuned_.variant(); }

  private:
    void enqueue(long long repeats) const
    {
        for (long long i = 0; i < repeats; ++i) {
            if (graph_)
                roof::gpu::check(cudaGraphLaunch(graph_.get(), tuned_.stream().get()));
            else
                enqueue_idle(tuned_.stream().get());
        }
    }

    TunedStream tuned_;
    Graph graph_;
};

class LaunchBench final : public GpuBench {
  public:
    explicit LaunchBench(std::shared_ptr<const Nvml> nvml)
        : GpuBench({"launch", Role::latency, "gpu",
                    "Time of one kernel that does nothing, of many in a row; a row's line stands for one kernel."},
                   std::move(nvml))
    {
    }

    std::vector<Axis> axes(const Machine&) const override
    {
        return {{.name = "path",
                 .meaning = "each launched by itself, or all as a CUDA graph",
                 .defaults = {"launch", "graph"},
                 .allowed = {"launch", "graph"}}};
    }

  private:
    std::unique_ptr<Subject> make_here(const Point& point, const Machine&, const Device&, DeviceId id) const override
    {
        return std::make_unique<LaunchSubject>(point.text("path") == "graph", id, nvml());
    }
};

}  // namespace

std::unique_ptr<Bench> launch_bench(std::shared_ptr<const Nvml> nvml)
{
    return std::make_unique<LaunchBench>(std::move(nvml));
}

}  // namespace roof::gpu
