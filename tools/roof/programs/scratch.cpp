#include "tools/roof/programs/scratch.hpp"

#include "ert/base/error.hpp"

#include <cstdlib>
#include <string>

namespace roof {

Scratch::Scratch(const std::string& prefix)
{
    std::string pattern = (std::filesystem::temp_directory_path() / (prefix + "XXXXXX")).string();
    if (::mkdtemp(pattern.data()) == nullptr) throw InputError("no temporary folder can be made: " + pattern);
    path_ = pattern;
}

Scratch::~Scratch()
{
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace roof
