// Work captured from a stream as a CUDA graph, which one call launches again.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <memory>

namespace roof::cudnn {

class StepGraph {
  public:
    /// Captures, without running it, what `enqueue` puts into the stream. Throws what `enqueue` throws, or Error.
    StepGraph(cudaStream_t stream, const std::function<void()>& enqueue);

    void launch(cudaStream_t stream) const;

  private:
    struct Destroy {
        void operator()(cudaGraphExec_t graph) const noexcept;
    };
    std::unique_ptr<CUgraphExec_st, Destroy> graph_;
};

}  // namespace roof::cudnn
