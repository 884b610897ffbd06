// Work captured from a stream once, as a CUDA graph, and launched again and again at the cost of one call.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <memory>

namespace roof::cudnn {

class StepGraph {
  public:
    /// Captures what `enqueue` puts into the stream, and runs none of it. Throws what `enqueue` throws, or Error.
    StepGraph(cudaStream_t stream, const std::function<void()>& enqueue);

    void launch(cudaStream_t stream) const;

  private:
    struct Destroy {
        void operator()(cudaGraphExec_t graph) const noexcept;
    };
    std::unique_ptr<CUgraphExec_st, Destroy> graph_;
};

}  // namespace roof::cudnn
