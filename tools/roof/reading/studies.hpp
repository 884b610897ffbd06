// The built-in published studies: their numbers and hypotheses.
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

/// The names "a", …, sorted.
std::vector<std::string> study_names();

/// `name`: "a" or "studies/a". Throws InputError that lists the studies.
PublishedStudy find_study(const std::string& name);

}  // namespace roof
