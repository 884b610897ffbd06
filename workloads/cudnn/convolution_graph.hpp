// A pass of a convolution as cuDNN's operation graph, and the engines that offer to compute it on a device.
// All tensors are channels-last: activations [n][h][w][c], weights [o][h][w][i].
#pragma once

#include "workloads/cudnn/backend.hpp"
#include "workloads/cudnn/convolution_shape.hpp"

#include <string>
#include <vector>

namespace roof::cudnn {

/// The tensors of a graph, by the number under which a plan is given their addresses.
enum TensorNumber : std::int64_t { number_source = 1, number_weights, number_result, number_bias };

/// What a plan is known to do, from the library's notes on its engine.
struct EngineNotes {
    bool tensor_core = false;
    bool rounds_inputs = false;  ///< to less than the precision they are stored in
    bool winograd = false;
    int winograd_tile = 0;  ///< outputs along an edge of a tile of a 3x3 window; 0: not said
    bool fft = false;
    bool deterministic = true;
    bool compiled_at_run_time = false;

    /// "winograd", "fft" or "gemm": cuDNN's other engines are implicit matrix products, and no note tells direct ones apart.
    std::string_view algorithm() const;
};

struct Engine {
    std::string name;  ///< engine and choices of its knobs: "engine 62 k2=1 k24=3"; finds it again in another process
    EngineNotes notes;
    Descriptor configuration;
};

/// A graph, and whom cuDNN suggests for it: the heuristics' list, best first, then the fallbacks; each engine configuration once.
class ConvolutionGraph {
  public:
    /// Throws Unsupported where cuDNN takes no such graph, or Error.
    explicit ConvolutionGraph(const ConvolutionShape& shape);

    std::vector<Engine> engines(const Descriptor& device) const;

  private:
    Descriptor graph_;
};

/// Finished: ready to run once tensors are bound. `workspace` in bytes.
struct Plan {
    Descriptor descriptor;
    std::int64_t workspace = 0;
};
/// Throws Unsupported where the engine does not serve the device, or Error.
Plan plan_of(const Engine& engine, const Descriptor& device);

}  // namespace roof::cudnn
