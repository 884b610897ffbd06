#include "workloads/cudnn/library/trial_values.hpp"

#include "ert/gpu/check.hpp"
#include "workloads/model/hashed.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>

namespace roof::cudnn {
namespace {

/// Calls round with a value of the element's type.
template <class Round>
void with_element(Precision precision, const Round& round)
{
    if (precision == Precision::bf16) return round(__nv_bfloat16{});
    if (precision == Precision::fp16) return round(__half{});
    round(float{});
}

std::vector<float> first_values(const Tensor& tensor, const Memory& memory)
{
    std::vector<float> values;
    with_element(tensor.precision, [&](auto element) {
        using Element = decltype(element);
        std::vector<Element> stored(std::min(pattern_length, tensor.elements()));
        gpu::check(cudaMemcpy(stored.data(), memory.at<Element>(tensor), stored.size() * sizeof(Element),
                              cudaMemcpyDeviceToHost));
        for (const Element& one : stored) values.push_back(static_cast<float>(one));
    });
    return values;
}

}  // namespace

std::vector<float> pattern(float from)
{
    std::vector<float> values;
    for (std::uint32_t i = 0; i < pattern_length; ++i)
        values.push_back(static_cast<float>(model::mix(i)) * 0x1p-31F + from);
    return values;
}

void repeat(const std::vector<float>& values, const Tensor& tensor, const Memory& memory)
{
    with_element(tensor.precision, [&](auto element) {
        using Element = decltype(element);
        const std::vector<Element> stored(values.begin(), values.end());
        Element* const to = memory.at<Element>(tensor);
        std::size_t done = std::min(stored.size(), tensor.elements());
        gpu::check(cudaMemcpy(to, stored.data(), done * sizeof(Element), cudaMemcpyHostToDevice));
        for (std::size_t count = 0; done < tensor.elements(); done += count) {
            count = std::min(done, tensor.elements() - done);
            gpu::check(cudaMemcpy(to + done, to, count * sizeof(Element), cudaMemcpyDeviceToDevice));
        }
    });
}

bool are_near(const Tensor& found, const Tensor& due, const Memory& memory, double tolerance)
{
    const std::vector<float> one = first_values(found, memory);
    const std::vector<float> other = first_values(due, memory);
    double apart = 0;
    double length = 0;
    for (std::size_t i = 0; i < other.size(); ++i) {
        apart += std::pow(static_cast<double>(one[i]) - static_cast<double>(other[i]), 2);
        length += std::pow(static_cast<double>(other[i]), 2);
    }
    return std::sqrt(apart) <= tolerance * std::sqrt(length);
}

}  // namespace roof::cudnn
