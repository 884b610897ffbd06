// What `roof report --anonymise` leaves out of a page for others: names of nodes and folders, kernel, firmware and microcode.
#pragma once

#include "analysis/study/study.hpp"
#include "tools/roof/programs/scratch.hpp"

#include <filesystem>
#include <map>
#include <string>

namespace roof {

/// While it lives, folders have plain names: links in a temporary folder, which is the working folder.
class PlainNames {
  public:
    PlainNames();
    ~PlainNames();
    PlainNames(const PlainNames&) = delete;
    PlainNames& operator=(const PlainNames&) = delete;

    /// The name of a folder, from the working folder. The folders beside it have names, too.
    std::filesystem::path of(const std::filesystem::path& folder);
    /// A folder with the folders of each machine under `results`.
    std::filesystem::path of_results(const std::filesystem::path& results);
    /// Takes the rest out of the study.
    void hide_in(analysis::Study& study);

  private:
    std::string without_nodes(std::string text) const;
    void hide_in(Machine& machine);
    void hide_in(Results& results) const;

    std::filesystem::path before_ = std::filesystem::current_path();
    Scratch scratch_{"roof-report-"};
    std::map<std::filesystem::path, std::filesystem::path> names_;
    std::map<std::string, std::string> nodes_;
};

}  // namespace roof
