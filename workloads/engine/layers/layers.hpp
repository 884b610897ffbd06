// A model's graph as the program of a training step, and one function per kind of layer. Each writes one unit to the program:
// forward directly, backward on the tape. Needs no memory of a device.
#pragma once

#include "workloads/engine/layers/builder.hpp"

namespace roof::ir {

/// A whole training step, with its memory planned.
struct StepProgram : Program {
    Parameters parameters;
    std::vector<Running> running;
    std::vector<Tensor> caches;  ///< of keys and values: cache k begins with the numbers of model::hashed_cache(k)
    Tensor images, labels;       ///< [n][c][y][x], fp32; int32
    std::map<std::string, int, std::less<>>
        algorithms;         ///< convolution passes by algorithm: {{"gemm", 40}, {"winograd", 13}}
    std::size_t bytes = 0;  ///< of memory
};
/// Writes import of images, forward, loss, backward and update. Throws Unsupported or Error if a chooser finds no implementation
/// for a layer.
StepProgram write_step(const model::Graph& graph, const Settings& settings, const Choosers& choosers);

/// Calls use(parameter, its initial values in stored order) for one parameter after the other. All other memory is zero at first, but for the
/// state, variances, caches and constants.
void for_initial_values(const StepProgram& step, const model::Graph& graph, const Settings& settings,
                        const std::function<void(const Trained&, const std::vector<float>&)>& use);
StepState first_state(const Settings& settings);

/// Returns the largest batch whose planned memory fits into `bytes`; 0 if none does. Libraries' own memory is not
/// counted.
int largest_batch(const model::Graph& graph, const Settings& settings, std::size_t bytes);
/// Throws OutOfMemory, with the batch that would fit, if the plan of the settings' batch does not.
void require_room(const model::Graph& graph, const Settings& settings, std::size_t available);

/// Writes one unit by the function for its kind.
void write_unit(Builder& build, const Unit& unit);

void convolution(Builder& build, const Unit& unit);
void linear(Builder& build, const Unit& unit);
void batch_norm(Builder& build, const Unit& unit);
/// And RMS norm.
void layer_norm(Builder& build, const Unit& unit);
void attention(Builder& build, const Unit& unit);
void embedding(Builder& build, const Unit& unit);
/// The values of positions that are trained, see embedding.cpp.
void positions(Builder& build, const Unit& unit);
void take_positions(Builder& build, const Unit& unit);
void add(Builder& build, const Unit& unit);
void relu(Builder& build, const Unit& unit);
/// All activations but the ReLU.
void activation(Builder& build, const Unit& unit);
void multiply(Builder& build, const Unit& unit);
void concat(Builder& build, const Unit& unit);
void slice(Builder& build, const Unit& unit);
void shuffle(Builder& build, const Unit& unit);
void flatten(Builder& build, const Unit& unit);
void max_pool(Builder& build, const Unit& unit);
void average_pool(Builder& build, const Unit& unit);
void dropout(Builder& build, const Unit& unit);
void rope(Builder& build, const Unit& unit);
/// Loss of the last layer's output, converted to fp32 if it is not. Its mean over the batch is written to the step's
/// state.
void softmax_cross_entropy(Builder& build);
/// Appends one stage that updates all parameters by the settings' optimizer.
void descend(Builder& build);

/// Whether the convolution of this layer reads a source that its batch norm did not normalise: in both passes that read
/// it.
bool reads_scaled(const Builder& build, int layer);

/// Whether the batch norm that alone reads this convolution is found from moments, see moments.hpp.
bool is_by_moments(const Builder& build, int convolution);

/// Returns the gradient before the unit's ReLU (without a ReLU: of its output), and adds its channel sums to the bias
/// gradient if the layer has a bias.
Tensor gradient_of_unit(Builder& build, const Unit& unit);

/// Appends the statistics of the unit's source and stores them in its output.
void find_statistics(Builder& build, const Unit& unit, const Tensor& source);
bool is_for_a_sum(const model::Graph& graph, int layer);
/// Whether the batch norm is written in the stage of a sum with a ReLU.
bool is_whole_with_sum(const Builder& build, int layer);

// The two passes of a batch norm's backward pass by our kernels, for one batch norm or for both of a residual sum.

/// Appends both sums over g: the gradients of bias and weight, of the layer and, if it is one, of its partner. By
/// moments, only that of the bias.
void reduce(Builder& build, int layer, ReduceGradient reduction, int partner = -1);

/// Appends the gradient of the source of the layer and, if it is one, of its partner.
void spread(Builder& build, int layer, NormGradient spreading, int partner = -1);

/// Marks the gradients of a batch norm's parameters as complete, which other ranks may then change. So not before the
/// operation that finds the source's gradient has read them.
void complete(Builder& build, int norm);

}  // namespace roof::ir
