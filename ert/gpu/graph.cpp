#include "ert/gpu/graph.hpp"

namespace roof::gpu {
namespace {

using Captured = Handle<CUgraph_st, cudaGraphDestroy>;

/// If the capture fails, it is also ended: the stream must not stay in capture.
Captured capture(cudaStream_t stream, const std::function<void()>& enqueue)
{
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    cudaGraph_t graph = nullptr;
    try {
        enqueue();
    } catch (...) {
        cudaStreamEndCapture(stream, &graph);
        const Captured half(graph);
        cudaGetLastError();
        throw;
    }
    check(cudaStreamEndCapture(stream, &graph));
    return Captured(graph);
}

}  // namespace

Graph::Graph(cudaStream_t stream, const std::function<void()>& enqueue)
{
    const Captured captured = capture(stream, enqueue);
    cudaGraphExec_t graph = nullptr;
    check(cudaGraphInstantiateWithFlags(&graph, captured.get(), 0));
    graph_.reset(graph);
    check(cudaGraphUpload(graph, stream));
}

void Graph::launch(cudaStream_t stream) const
{
    check(cudaGraphLaunch(graph_.get(), stream));
}

}  // namespace roof::gpu
