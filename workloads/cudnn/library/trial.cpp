#include "workloads/cudnn/library/trial.hpp"

#include "ert/base/error.hpp"
#include "ert/gpu/check.hpp"
#include "workloads/model/hashed.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <limits>

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

/// Whether the first values of both tensors agree: their distance is at most `tolerance` of the length of `due`.
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

}  // namespace

Fastest fastest_of(const gpu::Stream& stream, const std::vector<std::function<void()>>& candidates)
{
    return fastest_of(candidates.size(), [&](std::size_t i) { return seconds_of(stream, candidates[i]); });
}

Fastest fastest_of(std::size_t candidates, const std::function<double(std::size_t)>& seconds)
{
    constexpr SearchBudget budget{.time = Seconds{0.1}};
    return roof::fastest_of(candidates, budget, seconds, steady_clock());
}

double seconds_of(const gpu::Stream& stream, const std::function<void()>& run)
{
    try {
        const gpu::EventTimer timer;
        return timer.time(stream, run).value;
    } catch (const Error&) {
        return std::numeric_limits<double>::infinity();
    }
}

RunInGraph::RunInGraph(const gpu::Stream& stream, const std::function<void()>& enqueue) : stream_(stream)
{
    try {
        enqueue();  // loads the kernels, which is not possible in a capture
        stream.synchronize();
        graph_.emplace(stream.get(), [&] {
            for (int i = 0; i < repeated; ++i) enqueue();
        });
    } catch (const Error&) {
        graph_.reset();
    }
}

double RunInGraph::seconds() const
{
    if (!graph_) return std::numeric_limits<double>::infinity();
    return seconds_of(stream_, [&] { graph_->launch(stream_.get()); }) / repeated;
}

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

Tensor Trial::value(const Tensor& shape, std::vector<float> values)
{
    return filled_.emplace_back(program_.resident(shape), std::move(values)).first;
}

void Trial::place(const char* what_for)
{
    bytes_.emplace(program_.place(), what_for);
    memory_.emplace(program_, bytes_->data());
}

void Trial::fill() const
{
    gpu::check(cudaMemset(bytes_->data(), 0, bytes_->bytes()));
    for (const auto& [tensor, values] : filled_) repeat(values, tensor, *memory_);
    gpu::check(cudaDeviceSynchronize());
}

bool Trial::agrees(double tolerance) const
{
    gpu::check(cudaDeviceSynchronize());
    return std::ranges::all_of(
        results_, [&](const auto& pair) { return are_near(pair.second, pair.first, *memory_, tolerance); });
}

}  // namespace roof::cudnn
