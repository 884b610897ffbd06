// How a batch norm goes over its map: once to sum, once to put the sums to use. Where a thread has whole groups of
// channels to itself it does both with a group while it is still in a cache, so that memory is read once. At the end
// of a residual block the sum and its ReLU go along, with a second batch norm if the shortcut has one.
#pragma once

#include "workloads/onednn/layers/batch_norm_map.hpp"
#include "workloads/onednn/layers/builder.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace roof::onednn {

/// What is kept of each channel from the way there to the way back: rows of a tensor.
enum class FactorRow { mean, inverse, slope, shift, of_shift, of_scale };
inline constexpr Dim factor_rows = 6;

struct Norm {
    ChannelMap map;
    double values = 0;                              ///< per channel, of all ranks
    std::shared_ptr<parallel::Communicator> ranks;  ///< null: statistics are this rank's alone
    Tensor source;
    Tensor factors;  ///< [factor_rows][channels, groups filled up]
    Tensor scale, shift, scale_gradient, shift_gradient;
    Running running;
};

/// result = norms' sum + addend, and no less than 0 if `relu`. One norm, or two that go with a ReLU and no addend;
/// all tensors have one layout.
struct NormSum {
    std::vector<Norm> norms;
    std::optional<Tensor> addend;
    bool relu = false;
    Tensor result;
};

/// The gradient of the result, and where those of the sources go. With `sum` the gradient before the ReLU is wanted
/// too: it goes there, and may lie on what was given; else there is one norm alone, and nothing is stored.
struct NormSumGradient {
    Tensor first;
    std::optional<Tensor> second;  ///< to be added to the first
    std::optional<Tensor> sum;
    std::vector<Tensor> to_sources;
};

void run_forward(const NormSum& sum);
/// Writes the gradients of scale and shift as well.
void run_backward(const NormSum& sum, const NormSumGradient& gradient);

}  // namespace roof::onednn
