// A temporary folder, for the files of other programs or of a measurement that leaves none.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace roof {

/// A new folder in TMPDIR, or where that cannot be written in /tmp, /var/tmp or the working folder; the destructor
/// removes it with all that is in it.
class Scratch {
  public:
    /// `prefix`: how the folder's name begins. Throws InputError if none of them takes a folder.
    explicit Scratch(const std::string& prefix = "roof-simulate-");
    ~Scratch();
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

/// What lies in a folder under a name that begins so: of two numbers the lesser first.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder, std::string_view begin);

}  // namespace roof
