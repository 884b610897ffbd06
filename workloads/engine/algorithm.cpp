#include "workloads/engine/algorithm.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <array>
#include <vector>

namespace roof::engine {

std::string_view name(Algorithm algorithm)
{
    constexpr std::array<std::string_view, 5> names{"auto", "direct", "gemm", "winograd", "fft"};
    return names[static_cast<std::size_t>(algorithm)];
}

Algorithm parse_algorithm(std::string_view text, std::initializer_list<Algorithm> legal)
{
    std::vector<std::string> names;
    for (const Algorithm algorithm : legal) {
        if (name(algorithm) == text) return algorithm;
        names.emplace_back(name(algorithm));
    }
    throw InputError(unknown_word("algorithm", text, names));
}

}  // namespace roof::engine
