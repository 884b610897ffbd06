#include "ert/gpu/probes/intensities.hpp"

#include "ert/base/error.hpp"
#include "ert/base/formats.hpp"
#include "ert/base/text.hpp"

#include <algorithm>

namespace roof::gpu {

namespace {

double sum_of_first(std::size_t element, std::size_t elements, std::size_t vectors)
{
    double sum = 0;
    for (std::size_t i = 0; i < vectors; ++i) sum += intensity_number(i * elements + element);
    return sum;
}

double sum_of_element(std::size_t element, std::size_t elements, std::size_t vectors)
{
    const std::size_t period = intensity_period / elements;
    return static_cast<double>(vectors / period) * sum_of_first(element, elements, period) +
           sum_of_first(element, elements, vectors % period);
}

}  // namespace

int multiply_adds_for(std::string_view intensity)
{
    const auto found = std::ranges::find(intensity_names, intensity);
    if (found == intensity_names.end())
        throw InputError(unknown_word("intensity", intensity,
                                      std::vector<std::string>(intensity_names.begin(), intensity_names.end())));
    return multiply_adds_of_vector[static_cast<std::size_t>(found - intensity_names.begin())];
}

std::size_t exact_vectors(Precision precision, int multiply_adds, std::size_t threads)
{
    constexpr std::size_t largest_number = 2;
    const int of_vector = (multiply_adds + intensity_accumulators - 1) / intensity_accumulators;
    return threads * ((std::size_t{1} << format_of(precision).significand_bits) /
                          (largest_number * static_cast<std::size_t>(of_vector)) -
                      1);
}

double expected_sum(Precision precision, int multiply_adds, std::size_t vectors)
{
    const int elements = vector_bytes / traits(precision).storage_bytes;
    double sum = 0;
    for (int element = 0; element < elements; ++element) {
        int times = 0;
        for (int i = 0; i < multiply_adds; ++i) times += static_cast<int>(element_of(i, elements) == element);
        if (times == 0) continue;
        sum += times * sum_of_element(static_cast<std::size_t>(element), static_cast<std::size_t>(elements), vectors);
    }
    return sum;
}

}  // namespace roof::gpu
