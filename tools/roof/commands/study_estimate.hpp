// `roof estimate --study`: compares a study's numbers with arithmetic and spec sheets, and answers its hypotheses.
#pragma once

#include "tools/roof/console/context.hpp"

#include <string>

namespace roof {

struct StudyOptions {
    std::string name;      ///< "a"
    std::string measured;  ///< a results folder that answers the hypotheses about measurements; may be empty
    std::string page;      ///< an HTML file to write; may be empty
};

/// Returns the exit status. Throws InputError.
int estimate_study(const StudyOptions& options, bool json, Context& context);

}  // namespace roof
