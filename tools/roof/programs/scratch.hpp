// A temporary folder for the files of other programs; the destructor removes it.
#pragma once

#include <filesystem>

namespace roof {

class Scratch {
  public:
    /// Throws InputError if no folder can be made.
    Scratch();
    ~Scratch();
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

}  // namespace roof
