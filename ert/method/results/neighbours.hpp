// What is beside a folder that the user chose: the head of each alone is read, and nothing there ends a command.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace roof {

struct Neighbour {
    std::filesystem::path place;
    std::string unread{};  ///< why its files cannot be read; then the rest is empty
    std::string time{};    ///< when its first row began; else as its name says; else that of its files. UTC, ISO 8601
    std::string odd{};     ///< what its name says and its rows do not; empty if they agree
    std::string plan{};    ///< plan.yaml
    bool is_plan_whole = false;  ///< as checksums.csv describes it
    bool has_rows = false;       ///< measurements.csv is there
    bool is_results = false;     ///< any file of a results folder is there
    /// By its whole plan, every row is a training step.
    bool has_steps_alone() const;
};

/// Whether a file is there. False where that cannot be known.
bool is_there(const std::filesystem::path& file);

/// The folders in `parent` that are not hidden, the newest first. None if it cannot be read.
std::vector<Neighbour> neighbours_in(const std::filesystem::path& parent);

}  // namespace roof
