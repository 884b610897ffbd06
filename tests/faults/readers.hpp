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

/// Seconds within which a reader must answer.
inline constexpr double longest_answer = 5;

/// What is wrong with the reader's answer: an error that is not of this project, or a late one. Empty if nothing is.
std::string failure_of(const Reader& reader, const std::string& text, const std::string& scratch);

/// `data`: the folder tests/.
std::vector<Reader> readers(const std::string& data);

}  // namespace roof::faults
