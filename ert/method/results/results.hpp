// The results folder, the only interface between measuring and analysis.
//   plan.yaml  machine.yaml  measurements.csv  samples.csv  layers.csv
// Each row is appended and flushed as it is measured; its line in measurements.csv is written last. A killed run is repaired on
// opening: lines without a complete row in measurements.csv are removed. machine.yaml begins with the format's number.
#pragma once

#include "ert/method/bench/files.hpp"
#include "ert/method/bench/machine.hpp"
#include "ert/method/bench/measurement.hpp"
#include "ert/method/plan/scheduler.hpp"

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace roof {

class RunDirectory {
  public:
    /// Opens or creates, locks and repairs. Throws InputError if the folder holds another plan, another machine's rows or another
    /// format, is in use, or cannot be written.
    RunDirectory(std::filesystem::path folder, const std::string& plan_text, const Machine& machine);

    /// Throws InputError (such as a full disk); nothing is half-written.
    void append(const Measurement& row);

    /// Ids of the rows in the folder.
    const std::set<std::string>& done() const { return done_; }
    const std::filesystem::path& folder() const { return folder_; }

  private:
    void repair();

    std::filesystem::path folder_;
    std::optional<FolderLock> lock_;
    std::set<std::string> done_;
};

/// A folder as read back.
struct Results {
    std::filesystem::path folder;
    Machine machine;
    std::string plan;
    std::vector<Measurement> rows;
};

/// Throws InputError for a folder of an older format, and naming the file (and line) that is missing or damaged. An incomplete last
/// line is left out.
Results read_results(const std::filesystem::path& folder);

/// The machine.yaml of a results folder. Throws InputError for an older format or a damaged file.
Machine read_machine_of(const std::filesystem::path& folder);

/// A new `root/<machine>/<date>-<revision>`; or the newest folder there of the same plan and revision, if it is incomplete: the same
/// command then continues it.
std::filesystem::path choose_folder(const std::filesystem::path& root, const Machine& machine,
                                    const std::string& plan_text, const Scheduler& scheduler);

/// The newest folder with measured ceilings (bandwidth and compute) of the same machine: `folder` itself, one in it, or one beside
/// it. Empty if there is none.
std::filesystem::path find_calibration(const std::filesystem::path& folder);

}  // namespace roof
