// What a batch norm's statistics are written to, for each channel.
#pragma once

#include "workloads/cudnn/kernels/vectors.cuh"
#include "workloads/engine/ir/memory.hpp"

namespace roof::cudnn {

struct NormChannels {
    const float* weight;
    const float* bias;
    float* mean;
    float* inverse;
    float* scale;
    float* shift;
    float* running_mean;
    float* running_variance;
    double count;
    float epsilon;

    __device__ void write(std::uint32_t channel, const Moments& found) const
    {
        const float deviation = 1 / sqrtf(found.variance + epsilon);
        mean[channel] = found.mean;
        inverse[channel] = deviation;
        scale[channel] = weight[channel] * deviation;
        shift[channel] = bias[channel] - found.mean * (weight[channel] * deviation);
        running_mean[channel] = running(running_mean[channel], found.mean);
        running_variance[channel] = running(running_variance[channel], unbiased(found.variance, count));
    }
};

template <class Operation>
NormChannels norm_channels_of(const Operation& operation, std::size_t rows, const Memory& memory)
{
    return {memory.at<float>(operation.weight),
            memory.at<float>(operation.bias),
            memory.at<float>(operation.channels.mean),
            memory.at<float>(operation.channels.inverse_deviation),
            memory.at<float>(operation.channels.scale),
            memory.at<float>(operation.channels.shift),
            memory.at<float>(operation.running_mean),
            memory.at<float>(operation.running_variance),
            static_cast<double>(rows),
            operation.epsilon};
}

}  // namespace roof::cudnn
