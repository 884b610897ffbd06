// Work captured from a stream as a CUDA graph, which one call launches again.
#pragma once

#include "ert/gpu/handle.hpp"

#include <functional>

namespace roof::gpu {

class Graph {
  public:
    /// Captures, without running it, what `enqueue` puts into the stream. Throws what `enqueue` throws, or Error.
    Graph(cudaStream_t stream, const std::function<void()>& enqueue);

    void launch(cudaStream_t stream) const;

  private:
    Handle<CUgraphExec_st, cudaGraphExecDestroy> graph_;
};

}  // namespace roof::gpu
