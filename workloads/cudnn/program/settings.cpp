#include "workloads/cudnn/program/settings.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <array>
#include <string>
#include <vector>

namespace roof::cudnn {
namespace {

constexpr std::array<std::string_view, 5> words{"auto", "direct", "gemm", "winograd", "fft"};

}  // namespace

Algorithm parse_algorithm(std::string_view word)
{
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i] == word) return static_cast<Algorithm>(i);
    }
    throw InputError(unknown_word("algorithm", word, std::vector<std::string>(words.begin(), words.end())));
}

std::string_view name(Algorithm algorithm)
{
    return words[static_cast<std::size_t>(algorithm)];
}

}  // namespace roof::cudnn
