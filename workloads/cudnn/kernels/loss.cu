// Softmax cross-entropy. A block computes loss and gradient of one image or position; the last block computes the mean loss.
#include "workloads/cudnn/kernels/kernels.hpp"
#include "workloads/cudnn/kernels/sums.cuh"

namespace roof::cudnn {
namespace {

template <class Element>
__global__ void __launch_bounds__(threads_per_block)
    softmax_rows(const float* logits, const std::int32_t* labels, Element* gradient, float* row_losses, int classes,
                 StepState* state, unsigned* counter)
{
    __shared__ float shared[threads_per_block];
    const std::size_t row = std::size_t{blockIdx.x} * static_cast<std::size_t>(classes);
    const int first = static_cast<int>(threadIdx.x);
    const int step = static_cast<int>(threads_per_block);
    float largest = -INFINITY;
    for (int c = first; c < classes; c += step) largest = fmaxf(largest, logits[row + c]);
    largest = join(largest, shared, threadIdx.x, threads_per_block, Larger{});
    float sum = 0;
    for (int c = first; c < classes; c += step) sum += expf(logits[row + c] - largest);
    sum = join(sum, shared, threadIdx.x, threads_per_block, Plus{});

    const int label = labels[blockIdx.x];
    const float share = state->loss_scale / static_cast<float>(gridDim.x);
    for (int c = first; gradient != nullptr && c < classes; c += step) {
        const float due = expf(logits[row + c] - largest) / sum;
        gradient[row + c] = narrow<Element>((due - (c == label ? 1.0F : 0.0F)) * share);
    }
    if (threadIdx.x != 0) return;
    row_losses[blockIdx.x] = logf(sum) - (logits[row + label] - largest);
    __threadfence();
    if (atomicAdd(counter, 1U) != gridDim.x - 1) return;
    __threadfence();
    *counter = 0;
    double loss = 0;
    for (unsigned n = 0; n < gridDim.x; ++n) loss += static_cast<double>(__ldcg(row_losses + n));
    state->loss = static_cast<float>(loss / gridDim.x);
}

}  // namespace

void enqueue(const Loss& operation, const Memory& memory, cudaStream_t stream)
{
    with_element(operation.gradient.precision, [&]<class Element>() {
        softmax_rows<<<vectors_in(operation.logits.rows(), 1), threads_per_block, 0, stream>>>(
            memory.at<float>(operation.logits), memory.at<std::int32_t>(operation.labels),
            memory.at<Element>(operation.gradient), memory.at<float>(operation.row_losses), operation.logits.channels,
            memory.state(), memory.counters());
        gpu::check(cudaGetLastError());
    });
}

}  // namespace roof::cudnn
