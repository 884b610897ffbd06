// Random numbers and blocked maps for the tests of the convolution loops.
#pragma once

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

/// A batch of maps, with channels in blocks of `lanes`.
struct Maps {
    int channels, height, width, lanes;

    std::size_t size(int batch) const { return static_cast<std::size_t>(batch * channels * height * width); }
    std::size_t at(int image, int channel, int row, int column) const
    {
        const int block = (image * channels + channel / lanes * lanes) * height * width;
        return static_cast<std::size_t>(block + (row * width + column) * lanes + channel % lanes);
    }
    bool holds(int row, int column) const { return row >= 0 && row < height && column >= 0 && column < width; }
};

}  // namespace roof::kernels
