// cuDNN operation graphs, engines and plans. Tensors without strides are channels-last: activations [n][h][w][c],
// weights [o][h][w][i].
#pragma once

#include "ert/base/precision.hpp"
#include "workloads/cudnn/library/backend.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace roof::cudnn {

/// n, c, h, w: cuDNN's order.
using Dimensions = std::array<std::int64_t, 4>;

/// Returns cuDNN's type for values of the precision.
cudnnDataType_t type_of(Precision precision);

/// Storage of a tensor: memory, an intermediate that is never written, or a host value passed with the call.
enum class Residence { memory, passing, argument };

/// Numbers of tensors without addresses begin here.
inline constexpr std::int64_t first_passing = 100;

/// `number` identifies the tensor when addresses are given to a plan.
Descriptor tensor(std::int64_t number, const Dimensions& dimensions, cudnnDataType_t type,
                  Residence residence = Residence::memory);
Descriptor tensor(std::int64_t number, const Dimensions& dimensions, const Dimensions& strides, cudnnDataType_t type,
                  Residence residence = Residence::memory);

/// to = f(from ...), of one to three; `axis`: of which GEN_INDEX is the index.
Descriptor pointwise(cudnnPointwiseMode_t mode, const std::vector<Descriptor>& from, const Descriptor& to,
                     cudnnDataType_t computed_in = CUDNN_DATA_FLOAT, std::int64_t axis = 0);

/// dx = dy * f'(x). For a ReLU, `from` may be its output.
Descriptor pointwise_backward(cudnnPointwiseMode_t mode, const Descriptor& from, const Descriptor& gradient,
                              const Descriptor& to);

/// Properties of a plan, from cuDNN's notes on its engine.
struct EngineNotes {
    bool tensor_core = false;
    bool rounds_inputs = false;  ///< to a precision below that of storage
    bool winograd = false;
    int winograd_tile = 0;  ///< outputs along an edge of a tile for a 3x3 window; 0: unknown
    bool fft = false;
    bool deterministic = true;
    bool compiled_at_run_time = false;

    /// Returns "winograd", "fft" or "gemm" (all others: implicit matrix products; no note identifies direct ones).
    std::string_view algorithm() const;
};
EngineNotes notes_of(const std::vector<int>& numerical, const std::vector<int>& of_behaviour);

struct Engine {
    std::string name;  ///< engine and knobs, "engine 62 k2=1 k24=3"; the same in each process
    EngineNotes notes;
    Descriptor configuration;
};

/// A tensor's number and its address: on the device, or on the host for an argument.
struct Address {
    std::int64_t number;
    void* at;
};
/// Binds addresses for the run of a plan. `workspace` may be null. Throws Error.
Descriptor address_pack(const std::vector<Address>& addresses, void* workspace);

/// Throws Unsupported if cuDNN does not support the graph, else Error.
Descriptor graph_of(const std::vector<Descriptor>& operations);

/// Returns the engines for a graph without duplicates: the heuristics' list, best first, then the fallbacks.
std::vector<Engine> engines_for(const Descriptor& graph, const Descriptor& device);

/// A finished plan, ready to run with addresses. `workspace` in bytes.
struct Plan {
    Descriptor descriptor;
    std::int64_t workspace = 0;
};
/// Throws Unsupported if the engine does not support the device, else Error.
Plan plan_of(const Engine& engine, const Descriptor& device);

}  // namespace roof::cudnn
