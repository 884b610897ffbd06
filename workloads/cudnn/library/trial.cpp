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

/// At the begin and at the end: under a causal mask the first queries read few keys.
std::vector<float> outer_values(const Tensor& tensor, const Memory& memory)
{
    std::vector<float> values;
    with_element(tensor.precision, [&](auto element) {
        using Element = decltype(element);
        std::vector<Element> stored(std::min(pattern_length, tensor.elements()));
        for (const std::size_t from : {std::size_t{0}, tensor.elements() - stored.size()}) {
            gpu::check(cudaMemcpy(stored.data(), memory.at<Element>(tensor) + from, stored.size() * sizeof(Element),
                                  cudaMemcpyDeviceToHost));
            for (const Element& one : stored) values.push_back(static_cast<float>(one));
        }
    });
    return values;
}

/// Whether the outer values of both tensors agree: their distance is at most `tolerance` of the length of `due`.
bool are_near(const Tensor& found, const Tensor& due, const Memory& memory, double tolerance)
{
    const std::vector<float> one = outer_values(found, memory);
    const std::vector<float> other = outer_values(due, memory);
    double apart = 0;
    double length = 0;
    for (std::size_t i = 0; i < other.size(); ++i) {
        apart += std::pow(static_cast<double>(one[i]) - static_cast<double>(other[i]), 2);
        length += std::pow(static_cast<double>(other[i]), 2);
    }
    return std::sqrt(apart) <= tolerance * std::sqrt(length);
}

void enqueue(const std::vector<std::function<void()>>& operations)
{
    for (const std::function<void()>& operation : operations) operation();
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
        std::vector<Element> stored(values.size());
#pragma omp parallel for
        for (std::size_t i = 0; i < values.size(); ++i) stored[i] = Element(values[i]);
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

void Trial::place(const std::string& what_for, const Bind& bind)
{
    bytes_.emplace(program_.place(), what_for);
    memory_.emplace(program_, bytes_->data());
    fill();
    const auto bound = [&](const std::vector<ir::Operation>& operations) {
        Runs runs;
        for (const ir::Operation& operation : operations) runs.push_back(bind(operation, *memory_));
        return runs;
    };
    for (const Way& way : ways_) bound_.push_back({bound(way.timed), bound(way.before), bound(way.shared)});
}

void Trial::fill() const
{
    gpu::check(cudaMemset(bytes_->data(), 0, bytes_->bytes()));
    for (const auto& [tensor, values] : filled_) repeat(values, tensor, *memory_);
    gpu::check(cudaDeviceSynchronize());
}

void Trial::run(const Bound& way) const
{
    enqueue(way.before);
    enqueue(way.shared);
    enqueue(way.timed);
}

bool Trial::is_right(std::size_t way) const
{
    fill();
    run(bound_[0]);
    if (way > 0) run(bound_[way]);
    return agrees(way);
}

bool Trial::agrees(std::size_t way) const
{
    gpu::check(cudaDeviceSynchronize());
    const std::vector<Tensor>& due = ways_[0].results;
    const std::vector<Tensor>& found = ways_[way].results;
    return std::equal(due.begin(), due.end(), found.begin(), found.end(), [&](const Tensor& one, const Tensor& other) {
        return are_near(other, one, *memory_, tolerance_);
    });
}

/// Returns whether the way can be timed. A run loads its kernels, which is not possible in a capture.
bool Trial::prepare(std::size_t way)
{
    Bound& one = bound_[way];
    if (!ways_[way].results.empty() && !is_right(way)) return false;
    if (in_graph_ == 0) return true;
    if (ways_[way].results.empty()) run(one);
    one.graph.emplace(stream_.get(), [&] {
        for (int i = 0; i < in_graph_; ++i) {  // half of them with what is shared
            if (i % 2 == 0) enqueue(one.shared);
            enqueue(one.timed);
        }
    });
    return true;
}

double Trial::seconds(std::size_t way)
{
    Bound& one = bound_[way];
    try {
        if (!one.is_usable) one.is_usable = prepare(way);
        if (*one.is_usable) {
            const gpu::EventTimer timer;
            if (one.graph) return timer.time(stream_, [&] { one.graph->launch(stream_.get()); }).value / in_graph_;
            return timer.time(stream_, [&] { enqueue(one.timed); }).value;
        }
    } catch (const Error&) {
        one.is_usable = false;
    }
    return std::numeric_limits<double>::infinity();
}

}  // namespace roof::cudnn
