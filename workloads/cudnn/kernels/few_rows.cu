// Products of few rows, as of a decoded token: the weights are read once, at the rate of the memory. A warp takes some
// outputs of all rows, its lanes share the inputs, and sums are joined always in the same order.
#include "workloads/cudnn/kernels/kernels.hpp"
#include "workloads/cudnn/kernels/vectors.cuh"

namespace roof::cudnn {
namespace {

constexpr unsigned threads = 64;  ///< of a block: few, so that few outputs are work for many multiprocessors
constexpr int outputs_each = 2;   ///< of a warp, for each vector of a row that it loads

template <class Element, class Result>
struct Few {
    const Element *source, *weights;
    const Result* bias;
    Result* result;
    std::uint32_t rows, vectors, outputs;
    bool relu;
};

template <class Element, class Result, int rows>
__global__ void __launch_bounds__(threads) multiply_rows(Few<Element, Result> of)
{
    const std::uint32_t warp = (blockIdx.x * blockDim.x + threadIdx.x) / lanes;
    const std::uint32_t lane = threadIdx.x % lanes, first = warp * outputs_each;
    if (first >= of.outputs) return;
    float sums[rows][outputs_each] = {};
#pragma unroll 4
    for (std::uint32_t vector = lane; vector < of.vectors; vector += lanes) {
        Lanes<vector_width> weights[outputs_each];
#pragma unroll
        for (int o = 0; o < outputs_each; ++o)
            weights[o] = load<vector_width>(of.weights, min(first + o, of.outputs - 1) * of.vectors + vector);
#pragma unroll
        for (int r = 0; r < rows; ++r) {
            const std::uint32_t row = min(static_cast<std::uint32_t>(r), of.rows - 1);
            const auto source = load<vector_width>(of.source, row * of.vectors + vector);
#pragma unroll
            for (int o = 0; o < outputs_each; ++o)
#pragma unroll
                for (int i = 0; i < vector_width; ++i) sums[r][o] += source.lane[i] * weights[o].lane[i];
        }
    }
#pragma unroll
    for (int r = 0; r < rows; ++r) {
#pragma unroll
        for (int o = 0; o < outputs_each; ++o) {
            const std::uint32_t row = static_cast<std::uint32_t>(r), output = first + static_cast<std::uint32_t>(o);
            for (unsigned distance = lanes / 2; distance > 0; distance /= 2)
                sums[r][o] += __shfl_xor_sync(~0U, sums[r][o], distance);
            if (lane != 0 || row >= of.rows || output >= of.outputs) continue;
            const float sum = sums[r][o] + (of.bias == nullptr ? 0 : widen(of.bias[output]));
            of.result[row * of.outputs + output] = narrow<Result>(of.relu ? relu_of(sum) : sum);
        }
    }
}

template <class Element, class Result>
void launch(const Few<Element, Result>& of, cudaStream_t stream)
{
    const unsigned blocks = (of.outputs - 1) / (threads / lanes * outputs_each) + 1;
    const auto run = [&](auto* kernel) {
        kernel<<<blocks, threads, 0, stream>>>(of);
        gpu::check(cudaGetLastError());
    };
    if (of.rows == 1) return run(multiply_rows<Element, Result, 1>);
    if (of.rows == 2) return run(multiply_rows<Element, Result, 2>);
    if (of.rows <= 4) return run(multiply_rows<Element, Result, 4>);
    run(multiply_rows<Element, Result, most_few_rows>);
}

}  // namespace

void multiply_few_rows(const Multiply& operation, const Memory& memory, cudaStream_t stream)
{
    const Tensor& result = operation.result;
    const std::uint32_t weights = vectors_in(operation.weights.elements(), vector_width);
    with_element(operation.source.precision, [&]<class Element>() {
        const auto of = [&]<class Result>(Result* to) {
            const auto outputs = static_cast<std::uint32_t>(result.channels);
            launch(Few<Element, Result>{memory.at<Element>(operation.source), memory.at<Element>(operation.weights),
                                        memory.at<Result>(operation.bias), to, static_cast<std::uint32_t>(result.batch),
                                        weights / outputs, outputs, operation.relu},
                   stream);
        };
        if (result.precision == Precision::fp32) return of(memory.at<float>(result));
        of(memory.at<Element>(result));
    });
}

}  // namespace roof::cudnn
