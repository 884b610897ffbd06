// A model's graph as the program of a training step, and one function per kind of layer. Each writes one unit to the
// program: forward directly, backward on the tape. Needs no memory of a device.
#pragma once

#include "workloads/engine/layers/builder.hpp"

namespace roof::ir {

/// A whole training step, with its memory planned.
struct StepProgram : Program {
    Parameters parameters;
    std::vector<Running> running;
    std::vector<Tensor> caches;  ///< of keys and values: cache k begins with the numbers of model::hashed_cache(k)
    Tensor images, labels;       ///< [n][c][y][x], fp32; int32
    Algorithms algorithms;       ///< of the passes of convolutions
    std::size_t bytes = 0;       ///< of memory
};
/// Writes import, forward, loss, backward, update. Throws Unsupported or Error for a layer without implementation.
StepProgram write_step(const model::Graph& graph, const Settings& settings, const Choosers& choosers);

/// Calls use(parameter, its initial values in stored order) for one parameter after the other. All other memory is zero
/// at first, but for the state, variances, caches and constants.
void for_initial_values(const StepProgram& step, const model::Graph& graph, const Settings& settings,
                        const std::function<void(const Trained&, const std::vector<float>&)>& use);
StepState first_state(const Settings& settings);

/// Returns the largest batch whose planned memory, without libraries' own, fits into `bytes`; 0 if none does.
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
void resize(Builder& build, const Unit& unit);
void dropout(Builder& build, const Unit& unit);
void rope(Builder& build, const Unit& unit);
/// Loss of the last layer's output, converted to fp32. Its mean over the batch is written to the step's state.
void softmax_cross_entropy(Builder& build);
/// Appends one stage that updates all parameters by the settings' optimizer.
void descend(Builder& build);

/// Returns the gradient before the unit's ReLU, if any, and adds its channel sums to the gradient of any bias.
Tensor gradient_of_unit(Builder& build, const Unit& unit);

}  // namespace roof::ir
