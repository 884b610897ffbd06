// Softmax cross-entropy. A block computes loss and gradient of one image or position: it finds the largest logit and
// the sum in one pass, and reads the logits once more, from the L2, for the gradient. The last block computes the mean
// loss.
#include "workloads/cudnn/kernels/kernels.hpp"
#include "workloads/cudnn/kernels/sums.cuh"

#include <cfloat>

namespace roof::cudnn {
namespace {

constexpr unsigned most_threads = 1024;

/// Of the logits that a thread has seen: the largest, and the sum of exp(logit - largest).
struct Seen {
    float largest = -FLT_MAX;
    float sum = 0;

    /// The first `count` lanes.
    template <int width>
    __device__ void add(const Lanes<width>& logits, int count)
    {
        float most = largest;
#pragma unroll
        for (int i = 0; i < width; ++i) most = i < count ? fmaxf(most, logits.lane[i]) : most;
        sum *= expf(largest - most);
        largest = most;
#pragma unroll
        for (int i = 0; i < width; ++i) sum += i < count ? expf(logits.lane[i] - most) : 0;
    }
};

/// `stored`: numbers of a row in memory, of which the first `classes` are logits; `width` divides it. The gradient may
/// overwrite the logits.
template <class Logit, class Element, int width>
__global__ void __launch_bounds__(most_threads, 1)
    softmax_rows(const Logit* logits, const std::int32_t* labels, Element* gradient, float* row_losses, int classes,
                 int stored, StepState* state, unsigned* counter)
{
    __shared__ float shared[most_threads];
    const std::size_t row = std::size_t{blockIdx.x} * static_cast<std::size_t>(stored);
    const auto vectors = static_cast<std::uint32_t>(stored / width);
    const auto left = [=](std::uint32_t vector) { return classes - static_cast<int>(vector) * width; };
    const int label = labels[blockIdx.x];
    const float of_label = threadIdx.x == 0 ? widen(logits[row + label]) : 0;  // before the gradient takes its place
    Seen seen;
    for (std::uint32_t v = threadIdx.x; v < vectors; v += blockDim.x) seen.add(load<width>(logits + row, v), left(v));
    const float largest = join(seen.largest, shared, threadIdx.x, blockDim.x, Larger{});
    const float sum = join(seen.sum * expf(seen.largest - largest), shared, threadIdx.x, blockDim.x, Plus{});
    const float inverse = 1 / sum;

    const float share = state->loss_scale / static_cast<float>(gridDim.x);
    for (std::uint32_t v = threadIdx.x; gradient != nullptr && v < vectors; v += blockDim.x) {
        Lanes<width> values = load<width>(logits + row, v);
#pragma unroll
        for (int i = 0; i < width; ++i) {
            const float due = expf(values.lane[i] - largest) * inverse;
            const bool is_label = label == static_cast<int>(v) * width + i;
            values.lane[i] = i < left(v) ? (due - (is_label ? 1.0F : 0.0F)) * share : 0;
        }
        store(gradient + row, v, values);
    }
    __shared__ bool last;
    if (threadIdx.x == 0) {
        row_losses[blockIdx.x] = logf(sum) - (of_label - largest);
        __threadfence();
        last = atomicAdd(counter, 1U) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    __shared__ double sums[most_threads];
    double loss = 0;
    for (unsigned n = threadIdx.x; n < gridDim.x; n += blockDim.x)
        loss += static_cast<double>(load_past_l1(row_losses + n));
    loss = join(loss, sums, threadIdx.x, blockDim.x, Plus{});
    if (threadIdx.x != 0) return;
    *counter = 0;
    state->loss = static_cast<float>(loss / gridDim.x);
}

}  // namespace

void enqueue(const Loss& operation, const Memory& memory, cudaStream_t stream)
{
    // With 1024 threads a multiprocessor has one block: the rows of all of them fit into the L2.
    constexpr int many = 8192;
    const unsigned threads = operation.classes < many ? threads_per_block : most_threads;
    const auto with = [&]<class Logit, class Element>() {
        const auto launch = [&](auto* kernel) {
            kernel<<<vectors_in(operation.logits.rows(), 1), threads, 0, stream>>>(
                memory.at<Logit>(operation.logits), memory.at<std::int32_t>(operation.labels),
                memory.at<Element>(operation.gradient), memory.at<float>(operation.row_losses), operation.classes,
                operation.logits.channels, memory.state(), memory.counters());
        };
        operation.logits.channels % vector_width == 0 ? launch(softmax_rows<Logit, Element, vector_width>)
                                                      : launch(softmax_rows<Logit, Element, 1>);
        gpu::check(cudaGetLastError());
    };
    if (operation.logits.precision != Precision::fp32)
        return with_element(operation.logits.precision,
                            [&]<class Element>() { with.template operator()<Element, Element>(); });
    with_element(operation.gradient.precision, [&]<class Element>() { with.template operator()<float, Element>(); });
}

}  // namespace roof::cudnn
