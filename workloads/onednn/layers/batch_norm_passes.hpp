// The two passes of a batch norm over its map: the first sums, the second applies the sums. A thread with whole groups
// does both passes on a group while it is in a cache, so memory is read once. At the end of a residual block the sum
// and its ReLU are included, and a second batch norm if the shortcut has one.
#pragma once

#include "workloads/onednn/layers/batch_norm_map.hpp"
#include "workloads/onednn/layers/builder.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace roof::onednn {

/// Per-channel factors kept from the forward to the backward pass; each is a row of a tensor.
enum class FactorRow { mean, inverse, slope, shift, of_shift, of_scale };
inline constexpr Dim factor_rows = 6;

struct Norm {
    ChannelMap map;
    float epsilon = 0;                              ///< added to the variance
    double values = 0;                              ///< per channel, over all ranks
    std::shared_ptr<parallel::Communicator> ranks;  ///< null: statistics of this rank only
    Tensor source;
    Tensor factors;  ///< [factor_rows][channels, padded to whole groups]
    Tensor scale, shift, scale_gradient, shift_gradient;
    Running running;
};

/// result = sum of norms + addend; max(result, 0) if `relu`. Either one norm, or two with `relu` and without addend.
/// All tensors have one layout.
struct NormSum {
    std::vector<Norm> norms;
    std::optional<Tensor> addend;
    bool relu = false;
    Tensor result;
};

/// The gradient of the result, and the targets of the source gradients. `sum` receives the gradient before the ReLU and
/// may share the memory of the input. Without `sum` there is one norm, and that gradient is not stored.
struct NormSumGradient {
    Tensor first;
    std::optional<Tensor> second;  ///< added to the first
    std::optional<Tensor> sum;
    std::vector<Tensor> to_sources;
};

void run_forward(const NormSum& sum);
/// Also writes the gradients of scale and shift.
void run_backward(const NormSum& sum, const NormSumGradient& gradient);

}  // namespace roof::onednn
