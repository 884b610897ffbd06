// The results folder: the only door between the half that measures and the half that thinks.
//   plan.yaml  machine.yaml  measurements.csv  samples.csv  layers.csv
// Each row is appended and flushed as it is measured; its line in measurements.csv is written last and makes it count.
// A run that was killed is mended on opening: what no complete line of measurements.csv vouches for is left out.
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
    /// Opens or creates, locks, and mends. Throws InputError if the folder holds another plan, another machine's rows or
    /// columns of another version, is in use, or cannot be written.
    RunDirectory(std::filesystem::path folder, const std::string& plan_text, const Machine& machine);

    /// Throws InputError (a full disk and the like) with nothing half-written.
    void append(const Measurement& row);

    /// Ids of the rows that are there already.
    const std::set<std::string>& done() const { return done_; }
    const std::filesystem::path& folder() const { return folder_; }

  private:
    void mend();

    std::filesystem::path folder_;
    std::optional<FolderLock> lock_;
    std::set<std::string> done_;
};

/// A folder as read back. No device needed from here on.
struct Results {
    std::filesystem::path folder;
    Machine machine;
    std::string plan;
    std::vector<Measurement> rows;
};

/// Throws InputError naming the file (and line) that is missing or damaged; an incomplete last line is no damage.
Results read_results(const std::filesystem::path& folder);

/// `root/<machine>/<date>-<revision>`, new; or the newest folder there of the same plan text and revision, if its rows leave
/// something on the scheduler: the same command continues where it stopped.
std::filesystem::path choose_folder(const std::filesystem::path& root, const Machine& machine,
                                    const std::string& plan_text, const Scheduler& scheduler);

/// The newest folder that holds measured ceilings, of bandwidth and of compute, of the same machine: `folder` itself, one in it, or one beside it. Empty
/// path if there is none.
std::filesystem::path find_calibration(const std::filesystem::path& folder);

}  // namespace roof
