// What `roof report --anonymise` leaves out of a page for others: names of nodes and folders, kernel, firmware and
// microcode.
#pragma once

#include "analysis/study/study.hpp"
#include "tools/roof/programs/scratch.hpp"

#include <filesystem>
#include <map>
#include <string>

namespace roof {

/// Gives folders plain names: links in a temporary folder, which stays the working folder.
class PlainNames {
  public:
    PlainNames() { std::filesystem::current_path(scratch_.path()); }

    /// The name of a folder, from the working folder. The folders beside it have names, too.
    std::filesystem::path of(const std::filesystem::path& folder);
    /// A folder with the folders of each machine under `results`.
    std::filesystem::path of_results(const std::filesystem::path& results);
    void hide_in(analysis::Study& study);

  private:
    void link(const std::filesystem::path& place, const std::filesystem::path& home);
    std::string without_nodes(std::string text) const;

    std::filesystem::path before_ = std::filesystem::current_path();
    Scratch scratch_{"roof-report-"};
    std::map<std::filesystem::path, std::filesystem::path> names_;
    std::map<std::string, std::string> nodes_;
};

}  // namespace roof
