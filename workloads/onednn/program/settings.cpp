#include "workloads/onednn/program/settings.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace roof::onednn {

Algorithm parse_algorithm(std::string_view word)
{
    constexpr std::array<std::pair<std::string_view, Algorithm>, 4> words{{{"direct", Algorithm::direct},
                                                                           {"winograd", Algorithm::winograd},
                                                                           {"gemm", Algorithm::gemm},
                                                                           {"auto", Algorithm::automatic}}};
    std::vector<std::string> legal;
    for (const auto& [name, algorithm] : words) {
        if (name == word) return algorithm;
        legal.emplace_back(name);
    }
    throw InputError(unknown_word("algorithm", word, legal));
}

}  // namespace roof::onednn
