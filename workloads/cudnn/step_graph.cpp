#include "workloads/cudnn/step_graph.hpp"

namespace roof::cudnn {
namespace {

using Captured = gpu::Handle<CUgraph_st, cudaGraphDestroy>;

/// If the capture fails, it is also ended: the stream must not stay in capture.
Captured capture(cudaStream_t stream, const std::function<void()>& enqueue)
{
    gpu::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    cudaGraph_t graph = nullptr;
    try {
        enqueue();
    } catch (...) {
        cudaStreamEndCapture(stream, &graph);
        const Captured half(graph);
        cudaGetLastError();
        throw;
    }
    gpu::check(cudaStreamEndCapture(stream, &graph));
    return Captured(graph);
}

}  // namespace

StepGraph::StepGraph(cudaStream_t stream, const std::function<void()>& enqueue)
{
    const Captured captured = capture(stream, enqueue);
    cudaGraphExec_t graph = nullptr;
    gpu::check(cudaGraphInstantiateWithFlags(&graph, captured.get(), 0));
    graph_.reset(graph);
    gpu::check(cudaGraphUpload(graph, stream));
}

void StepGraph::launch(cudaStream_t stream) const
{
    gpu::check(cudaGraphLaunch(graph_.get(), stream));
}

}  // namespace roof::cudnn
