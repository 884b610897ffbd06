// The fastest implementation of each pass of each convolution on this machine, kept from run to run in a CSV file, so
// that the candidates are timed once.
#pragma once

#include "ert/base/units.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace roof::engine {

/// The key of a choice.
struct Question {
    std::string shape;  ///< "16x64x56x56 to 64, 3x3 stride 1 padding 1"
    std::string pass;   ///< forward, backward_data, backward_weights
    std::string precision;
    int threads = 1;
    std::string library;  ///< its version, and what else a choice holds for

    auto operator<=>(const Question&) const = default;
};

class Choices {
  public:
    /// Reads the file if there is one; a line that cannot be read is no choice. Without a name nothing outlives this
    /// object.
    explicit Choices(std::filesystem::path file = {});

    std::optional<std::string> find(const Question& question) const;
    /// Keeps the implementation's name and its time. A file that cannot be written is no error: the choice then holds
    /// for this process.
    void remember(const Question& question, const std::string& implementation, Seconds seconds);

  private:
    std::filesystem::path file_;
    std::map<Question, std::string> choices_;
};

/// The folder `roof` in the user's cache: $XDG_CACHE_HOME, else ~/.cache. Empty if there is neither.
std::filesystem::path choices_folder();

}  // namespace roof::engine
