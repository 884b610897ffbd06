// cuDNN's operation graphs: their tensors, the engines that offer to compute one on a device, and the plans of those. All tensors are
// channels-last: activations [n][h][w][c], weights [o][h][w][i].
#pragma once

#include "ert/base/precision.hpp"
#include "workloads/cudnn/library/backend.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace roof::cudnn {

/// In cuDNN's order: n c h w.
using Dimensions = std::array<std::int64_t, 4>;

/// How values are stored.
cudnnDataType_t type_of(Precision precision);

/// Of a tensor's values: in memory, passed on from one operation to the next and never written, or one number given with the call.
enum class Residence { memory, passing, argument };

/// `number`: under which a plan is given its address.
Descriptor tensor(std::int64_t number, const Dimensions& dimensions, cudnnDataType_t type,
                  Residence residence = Residence::memory);

/// y = f(x, b); without `addend`, y = f(x).
Descriptor pointwise(cudnnPointwiseMode_t mode, const Descriptor& from, const Descriptor* addend, const Descriptor& to);

/// dx = dy * f'(x), which of a ReLU its output tells as well as its input.
Descriptor pointwise_backward(cudnnPointwiseMode_t mode, const Descriptor& from, const Descriptor& gradient,
                              const Descriptor& to);

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

/// A tensor's number, and where it lies: on the device, or on the host for an argument.
struct Address {
    std::int64_t number;
    void* at;
};
/// What a plan is run with. `workspace`: null if it takes none. Throws Error.
Descriptor address_pack(const std::vector<Address>& addresses, void* workspace);

/// Throws Unsupported where cuDNN takes no such graph, or Error.
Descriptor graph_of(const std::vector<Descriptor>& operations);

/// Whom cuDNN suggests for a graph: the heuristics' list, best first, then the fallbacks; each engine configuration once.
std::vector<Engine> engines_for(const Descriptor& graph, const Descriptor& device);

/// Finished: ready to run once tensors are bound. `workspace` in bytes.
struct Plan {
    Descriptor descriptor;
    std::int64_t workspace = 0;
};
/// Throws Unsupported where the engine does not serve the device, or Error.
Plan plan_of(const Engine& engine, const Descriptor& device);

}  // namespace roof::cudnn
