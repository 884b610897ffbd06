// What stands between the products of engine/passes/passes.hpp: kernels over matrices as large as weights, no maps.
#include "workloads/cudnn/kernels/kernels.hpp"
#include "workloads/cudnn/kernels/norm_channels.cuh"
#include "workloads/cudnn/kernels/sums.cuh"
#include "workloads/cudnn/kernels/vectors.cuh"

namespace roof::cudnn {
namespace {

__device__ double covariance_at(const float* products, const float* sums, std::uint32_t i, std::uint32_t j,
                                std::uint32_t inputs, double rows)
{
    return covariance_of(static_cast<double>(products[std::size_t{i} * inputs + j]), static_cast<double>(sums[i]),
                         static_cast<double>(sums[j]), rows);
}

/// A block finds the factor by itself, from the variances: no covariance is larger than the largest of them.
template <class Element>
__global__ void __launch_bounds__(threads_per_block)
    halve_covariance(const float* products, const float* sums, Element* halves, float* mean, float* factor,
                     std::uint32_t inputs, double rows)
{
    __shared__ float shared[threads_per_block];
    float largest = 0;
    for (std::uint32_t i = threadIdx.x; i < inputs; i += threads_per_block)
        largest = fmaxf(largest, static_cast<float>(covariance_at(products, sums, i, i, inputs, rows)));
    const float scale = power_to_one(join(largest, shared, threadIdx.x, threads_per_block, Larger{}));
    const std::uint32_t k = blockIdx.x * threads_per_block + threadIdx.x;
    if (k == 0) *factor = scale;
    if (k < inputs) mean[k] = static_cast<float>(static_cast<double>(sums[k]) / rows);
    if (k >= inputs * inputs) return;
    const double value = covariance_at(products, sums, k / inputs, k % inputs, inputs, rows) * scale;
    const Element first = narrow<Element>(static_cast<float>(value));
    halves[k] = first;
    halves[inputs * inputs + k] = narrow<Element>(static_cast<float>(value - static_cast<double>(widen(first))));
}

/// A channel's row of the weights, and of their product with the covariance.
template <class Element>
struct Spread {
    const float* spread;
    const Element* weights;
    const float* mean;
    const float* factor;
    std::uint32_t outputs, inputs;

    __device__ float weight(std::uint32_t channel, std::uint32_t k) const
    {
        return widen(weights[std::size_t{channel} * inputs + k]);
    }
    __device__ float at(std::uint32_t channel, std::uint32_t k, float scale) const
    {
        const float* const row = spread + std::size_t{channel} * 2 * inputs;
        return (row[k] + row[inputs + k]) / scale;
    }
};

template <class Element>
__global__ void __launch_bounds__(threads_per_block)
    finish_statistics_of_moments(Spread<Element> given, NormChannels channels)
{
    __shared__ float shared[threads_per_block];
    const unsigned place = threadIdx.y * lanes + threadIdx.x;
    const std::uint32_t channel = blockIdx.x * warps + threadIdx.y;
    float mean = 0;
    float variance = 0;
    if (channel < given.outputs) {
        const float scale = *given.factor;
        for (std::uint32_t k = threadIdx.x; k < given.inputs; k += lanes) {
            const float w = given.weight(channel, k);
            mean += w * given.mean[k];
            variance += w * given.at(channel, k, scale);
        }
    }
    mean = join(mean, shared, place, lanes, Plus{});
    variance = join(variance, shared, place, lanes, Plus{});
    if (channel < given.outputs && threadIdx.x == 0) channels.write(channel, {mean, fmaxf(variance, 0)});
}

template <class Element>
struct GradientOfMoments {
    Spread<Element> given;
    const float* products;
    const float* sum;
    const float* weight;
    const float* inverse;
    float* sum_of_products;
    float* gradient;
    Element* scaled;
    Element* slopes;
    float* shares;
    float share;

    /// The product without the part of the mean.
    __device__ float product(std::uint32_t channel, std::uint32_t k) const
    {
        return products[std::size_t{channel} * given.inputs + k] - sum[channel] * given.mean[k];
    }
    __device__ void write(std::uint32_t channel, std::uint32_t k, const MomentSlope& slope, float scale) const
    {
        const std::size_t place = std::size_t{channel} * given.inputs + k;
        const float w = given.weight(channel, k);
        gradient[place] = slope.of_product * (product(channel, k) - slope.of_spread * given.at(channel, k, scale));
        scaled[place] = narrow<Element>(slope.of_product * w);
        slopes[place] = narrow<Element>(slope.of_weights * w);
    }
};

template <class Element>
__global__ void __launch_bounds__(threads_per_block) finish_gradient_of_moments(GradientOfMoments<Element> body)
{
    __shared__ float shared[threads_per_block];
    const std::uint32_t channel = blockIdx.x * warps + threadIdx.y;
    const std::uint32_t inputs = body.given.inputs;
    const bool is_there = channel < body.given.outputs;
    float product = 0;
    for (std::uint32_t k = threadIdx.x; is_there && k < inputs; k += lanes)
        product += body.product(channel, k) * body.given.weight(channel, k);
    product = join(product, shared, threadIdx.y * lanes + threadIdx.x, lanes, Plus{});
    if (!is_there) return;
    const float inverse = body.inverse[channel];
    const MomentSlope slope = moment_slope_of(inverse, body.weight[channel], product, body.sum[channel], body.share);
    const float scale = *body.given.factor;
    for (std::uint32_t k = threadIdx.x; k < inputs; k += lanes) body.write(channel, k, slope, scale);
    if (threadIdx.x != 0) return;
    body.sum_of_products[channel] = product * inverse;
    body.shares[channel] = slope.share;
}

/// Lines of a block go side by side through the channels.
constexpr unsigned offset_lines = 32;

template <class Element>
__global__ void __launch_bounds__(lanes* offset_lines)
    sum_offset(const Element* weights, const float* shares, const Element* curvature, const float* mean,
               Element* result, std::uint32_t outputs, std::uint32_t inputs)
{
    __shared__ float shared[lanes * offset_lines];
    const std::uint32_t k = blockIdx.x * lanes + threadIdx.x;
    float sum = 0;
    if (k < inputs) {
        for (std::uint32_t c = threadIdx.y; c < outputs; c += offset_lines)
            sum += shares[c] * widen(weights[std::size_t{c} * inputs + k]);
        for (std::uint32_t i = threadIdx.y; i < inputs; i += offset_lines)
            sum += mean[i] * widen(curvature[std::size_t{i} * inputs + k]);
    }
    sum = join(sum, shared, threadIdx.x * offset_lines + threadIdx.y, offset_lines, Plus{});
    if (k < inputs && threadIdx.y == 0) result[k] = narrow<Element>(-sum);
}

template <class Element, class Operation>
Spread<Element> spread_of(const Operation& operation, const Memory& memory)
{
    return {memory.at<float>(operation.spread),
            memory.at<Element>(operation.weights),
            memory.at<float>(operation.mean),
            memory.at<float>(operation.factor),
            static_cast<std::uint32_t>(operation.weights.rows()),
            static_cast<std::uint32_t>(operation.weights.channels)};
}

/// As with_element(): moments serve narrow values only.
template <class Call>
void with_narrow(Precision precision, const Call& call)
{
    if (precision == Precision::bf16) return call.template operator()<__nv_bfloat16>();
    if (precision == Precision::fp16) return call.template operator()<__half>();
    throw Unsupported("moments serve bf16 and fp16");
}

unsigned blocks_for(std::size_t items, unsigned each)
{
    return static_cast<unsigned>((items - 1) / each + 1);
}

}  // namespace

void enqueue(const Covariance& operation, const Memory& memory, cudaStream_t stream)
{
    const std::uint32_t inputs = vectors_in(operation.products.rows(), 1);
    const std::uint32_t values = vectors_in(operation.products.elements(), 1);
    with_narrow(operation.halves.precision, [&]<class Element>() {
        halve_covariance<<<blocks_for(values, threads_per_block), threads_per_block, 0, stream>>>(
            memory.at<float>(operation.products), memory.at<float>(operation.sums),
            memory.at<Element>(operation.halves), memory.at<float>(operation.mean), memory.at<float>(operation.factor),
            inputs, static_cast<double>(operation.rows));
        gpu::check(cudaGetLastError());
    });
}

void enqueue(const MomentStatistics& operation, const Memory& memory, cudaStream_t stream)
{
    with_narrow(operation.weights.precision, [&]<class Element>() {
        finish_statistics_of_moments<<<blocks_for(operation.weights.rows(), warps), dim3(lanes, warps), 0, stream>>>(
            spread_of<Element>(operation, memory),
            norm_channels_of(operation, static_cast<std::size_t>(operation.rows), memory));
        gpu::check(cudaGetLastError());
    });
}

void enqueue(const MomentGradient& operation, const Memory& memory, cudaStream_t stream)
{
    with_narrow(operation.weights.precision, [&]<class Element>() {
        const GradientOfMoments<Element> body{spread_of<Element>(operation, memory),
                                              memory.at<float>(operation.products),
                                              memory.at<float>(operation.sum),
                                              memory.at<float>(operation.weight),
                                              memory.at<float>(operation.channels.inverse_deviation),
                                              memory.at<float>(operation.sum_of_products),
                                              memory.at<float>(operation.gradient),
                                              memory.at<Element>(operation.scaled),
                                              memory.at<Element>(operation.slopes),
                                              memory.at<float>(operation.shares),
                                              1 / static_cast<float>(operation.rows)};
        finish_gradient_of_moments<<<blocks_for(operation.weights.rows(), warps), dim3(lanes, warps), 0, stream>>>(
            body);
        gpu::check(cudaGetLastError());
    });
}

void enqueue(const MomentOffset& operation, const Memory& memory, cudaStream_t stream)
{
    const auto inputs = static_cast<std::uint32_t>(operation.weights.channels);
    with_narrow(operation.weights.precision, [&]<class Element>() {
        sum_offset<<<blocks_for(inputs, lanes), dim3(lanes, offset_lines), 0, stream>>>(
            memory.at<Element>(operation.weights), memory.at<float>(operation.shares),
            memory.at<Element>(operation.curvature), memory.at<float>(operation.mean),
            memory.at<Element>(operation.result), static_cast<std::uint32_t>(operation.weights.rows()), inputs);
        gpu::check(cudaGetLastError());
    });
}

}  // namespace roof::cudnn
