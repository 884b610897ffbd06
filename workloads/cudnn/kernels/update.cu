// One kernel updates all parameters and narrow copies. With loss scaling, a kernel before it checks that the gradients
// are finite. A kernel after it advances the state.
#include "workloads/cudnn/kernels/kernels.hpp"
#include "workloads/cudnn/kernels/vectors.cuh"
#include "workloads/model/work.hpp"

#include <type_traits>

namespace roof::cudnn {
namespace {

using model::Optimizer;

constexpr int update_width = 4;

/// `squares`: AdamW alone.
template <class Element, Optimizer optimizer>
struct DescendBody {
    float* values;
    const float* gradients;
    float* momenta;
    float* squares;
    Element* copies;
    const StepState* state;
    float rate;
    bool is_scaled;

    __device__ void operator()(std::uint32_t k) const
    {
        if (is_scaled && state->finite == 0) return;
        const float unscale = is_scaled ? 1 / state->loss_scale : 1;
        Lanes<update_width> p = load<update_width>(values, k);
        Lanes<update_width> m = load<update_width>(momenta, k);
        const Lanes<update_width> g = load<update_width>(gradients, k);
        if constexpr (optimizer == Optimizer::adamw) {
            Lanes<update_width> v = load<update_width>(squares, k);
            const engine::AdamShares shares = state->adam;
#pragma unroll
            for (int i = 0; i < update_width; ++i) {
                const Adapted next = adapt({p.lane[i], m.lane[i], v.lane[i]}, g.lane[i] * unscale, shares, rate);
                p.lane[i] = next.value;
                m.lane[i] = next.mean;
                v.lane[i] = next.square;
            }
            store(squares, k, v);
        } else {
#pragma unroll
            for (int i = 0; i < update_width; ++i) {
                const Descended next = descend(p.lane[i], g.lane[i] * unscale, m.lane[i], rate);
                p.lane[i] = next.value;
                m.lane[i] = next.momentum;
            }
        }
        store(values, k, p);
        store(momenta, k, m);
        if (!std::is_same_v<Element, float> && copies != nullptr) copy(k, p);
    }

    __device__ void copy(std::uint32_t k, const Lanes<update_width>& p) const
    {
        struct alignas(sizeof(Element) * update_width) Narrow {
            Element lane[update_width];
        } narrowed;
#pragma unroll
        for (int i = 0; i < update_width; ++i) narrowed.lane[i] = narrow<Element>(p.lane[i]);
        reinterpret_cast<Narrow*>(copies)[k] = narrowed;
    }
};

struct FiniteBody {
    const float* gradients;
    StepState* state;

    __device__ void operator()(std::uint32_t k) const
    {
        const Lanes<update_width> g = load<update_width>(gradients, k);
        bool finite = true;
#pragma unroll
        for (int i = 0; i < update_width; ++i) finite = finite && isfinite(g.lane[i]);
        if (!finite) atomicAnd(&state->finite, 0);  // by any number of threads
    }
};

__global__ void advance_state(StepState* state, bool is_scaled)
{
    *state = advanced(*state, is_scaled);
}

}  // namespace

void enqueue(const Descend& operation, const Memory& memory, cudaStream_t stream)
{
    with_element(operation.copies ? operation.copies.precision : Precision::fp32, [&]<class Element>() {
        const auto launch = [&]<Optimizer optimizer>() {
            launch_vectors(
                vectors_in(operation.values.elements(), update_width), stream,
                DescendBody<Element, optimizer>{
                    memory.at<float>(operation.values), memory.at<float>(operation.gradients),
                    memory.at<float>(operation.momenta), memory.at<float>(operation.squares),
                    memory.at<Element>(operation.copies), memory.state(), operation.learning_rate, operation.scaled});
        };
        if (operation.squares)
            launch.template operator()<Optimizer::adamw>();
        else
            launch.template operator()<Optimizer::sgd>();
    });
}

void enqueue(const CheckFinite& operation, const Memory& memory, cudaStream_t stream)
{
    launch_vectors(vectors_in(operation.gradients.elements(), update_width), stream,
                   FiniteBody{memory.at<float>(operation.gradients), memory.state()});
}

void enqueue(const Advance& operation, const Memory& memory, cudaStream_t stream)
{
    advance_state<<<1, 1, 0, stream>>>(memory.state(), operation.scaled);
    gpu::check(cudaGetLastError());
}

}  // namespace roof::cudnn
