// Random numbers and blocked maps for the tests of the convolution loops.
#pragma once

#include "workloads/kernels/elements.hpp"
#include "workloads/model/convolution.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

namespace roof::kernels {

using Numbers = std::vector<float>;

/// Numbers between -1 and 1, the same for the same seed.
inline Numbers random_numbers(std::size_t count, unsigned seed)
{
    std::mt19937 bits(seed);
    std::uniform_real_distribution<float> values(-1, 1);
    Numbers numbers(count);
    for (float& number : numbers) number = values(bits);
    return numbers;
}

/// The forward pass of a convolution in fp32.
inline model::ConvolutionPass shape_of(int batch, const model::Shape& source, int outputs, const model::Window& window)
{
    return {{batch, source, window.result(source, outputs), window}};
}

/// A batch of maps, with channels in blocks of `lanes`.
struct Maps {
    int channels, height, width, lanes;

    std::size_t size(int batch) const { return static_cast<std::size_t>(batch * channels * height * width); }
    std::size_t at(int image, int channel, int row, int column) const
    {
        const int block = (image * channels + channel / lanes * lanes) * height * width;
        return static_cast<std::size_t>(block + (row * width + column) * lanes + channel % lanes);
    }
    /// Of the number at a place.
    std::size_t channel_of(std::size_t place) const
    {
        const auto each = static_cast<std::size_t>(lanes), area = static_cast<std::size_t>(height * width);
        return (place / (each * area) * each + place % each) % static_cast<std::size_t>(channels);
    }
    bool holds(int row, int column) const { return row >= 0 && row < height && column >= 0 && column < width; }
};

/// Rounded to numbers that bf16 has.
inline Numbers rounded(Numbers numbers)
{
    for (float& number : numbers) {
        BFloat16 half{};
        narrow(number, half);
        number = widen(half);
    }
    return numbers;
}

/// Numbers in memory in a precision, aligned to a cache line as in the engine.
class Stored {
  public:
    explicit Stored(const Numbers& numbers, Precision precision = Precision::fp32)
        : size_(numbers.size()), memory_((size_ * sizeof(float) + sizeof(Line) - 1) / sizeof(Line))
    {
        elements = {memory_.data(), precision};
        for (std::size_t i = 0; i < size_; ++i) {
            if (precision == Precision::bf16)
                narrow(numbers[i], elements.as<BFloat16>()[i]);
            else
                elements.as<float>()[i] = numbers[i];
        }
    }
    float* data() { return elements.as<float>(); }
    Numbers numbers() const
    {
        Numbers all(size_);
        for (std::size_t i = 0; i < size_; ++i)
            all[i] =
                elements.precision == Precision::bf16 ? widen(elements.as<BFloat16>()[i]) : elements.as<float>()[i];
        return all;
    }

    Elements elements;

  private:
    struct alignas(64) Line {
        char bytes[64];
    };
    std::size_t size_;
    std::vector<Line> memory_;
};

/// The maximum difference divided by the size of a typical value. NaN counts as the maximum.
inline double error(const Numbers& computed, const std::vector<double>& right)
{
    double largest = 0, squares = 0;
    for (std::size_t i = 0; i < right.size(); ++i) {
        const double difference = std::abs(static_cast<double>(computed[i]) - right[i]);
        largest = std::isnan(difference) ? INFINITY : std::max(largest, difference);
        squares += right[i] * right[i];
    }
    return largest / std::sqrt(squares / static_cast<double>(right.size()));
}

}  // namespace roof::kernels
