// Every reader of this project that takes text from outside, for the mutation fuzzer.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace roof::faults {

struct Reader {
    std::string name;
    std::vector<std::string> corpus;
    /// Throws only roof::Error. `scratch`: a folder of its own.
    std::function<void(const std::string& text, const std::string& scratch)> read;
};

/// `data`: the folder tests/.
std::vector<Reader> readers(const std::string& data);

}  // namespace roof::faults
