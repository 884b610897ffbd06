#include "workloads/engine/passes/norms.hpp"
#include "workloads/engine/passes/passes.hpp"

namespace roof::ir {

void sum_for_statistics(List& list, const Choosers& choosers)
{
    const Uses uses(list);
    for_each_of<Convolve>(list, [&](const ListPlace& place, Convolve& convolution) {
        if (convolution.shape.pass != Pass::forward) return;
        const ListPlace norm = norm_behind(uses, place);
        ConvolutionPass shape = convolution.shape;
        shape.statistics = true;
        if (!norm || !choosers.convolution(shape).fused) return;
        const Tensor channels{.batch = 1, .channels = convolution.result.channels};
        convolution.shape = shape;
        convolution.sum = list.tensor(channels);
        convolution.squares = list.tensor(channels);
        auto& statistics = *norm.as<Statistics>();
        statistics.sum = convolution.sum;
        statistics.squares = convolution.squares;
        statistics.partial = {};
        norm.entry->implementation = "roof:statistics of sums";
    });
}

}  // namespace roof::ir
