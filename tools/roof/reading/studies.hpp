// The published studies in this binary: the numbers their authors gave, and what the studies expected.
#pragma once

#include "analysis/estimate/published.hpp"

#include <string>
#include <vector>

namespace roof {

struct PublishedStudy {
    std::string name;  ///< "a"
    std::vector<analysis::PublishedNumber> numbers;
    std::vector<std::string> hypotheses;
};

/// "a", …, in order.
std::vector<std::string> study_names();

/// Takes "a" and "studies/a". Throws InputError naming the studies there are.
PublishedStudy find_study(const std::string& name);

}  // namespace roof
