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

/// A reader must answer within so many seconds of processor, and take no more memory than so many MB.
inline constexpr double longest_answer = 5, most_megabytes = 500;

struct Answer {
    std::string failure;  ///< an error that is not of this project, or a late answer, or one that took too much; empty
                          ///< if nothing is wrong
    double seconds = 0;
    double megabytes = 0;  ///< more than before
};
Answer answer_of(const Reader& reader, const std::string& text, const std::string& scratch);

/// `data`: the folder tests/.
std::vector<Reader> readers(const std::string& data);

}  // namespace roof::faults
