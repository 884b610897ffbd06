// `roof estimate --study`: the numbers a published study gives, held against arithmetic and sheets, and its hypotheses answered.
#pragma once

#include "tools/roof/console/context.hpp"

#include <string>

namespace roof {

struct StudyOptions {
    std::string name;      ///< "a"
    std::string measured;  ///< a folder of results whose rows answer what was measured; may be empty
    std::string page;      ///< an HTML file to write; may be empty
};

/// Returns the exit status. Throws InputError.
int estimate_study(const StudyOptions& options, bool json, Context& context);

}  // namespace roof
