// The results folder, the only interface between measuring and analysis.
//   plan.yaml  machine.yaml  measurements.csv  samples.csv  layers.csv  checksums.csv
// Each row is appended and flushed as it is measured; its line in measurements.csv is written last, and has a checksum
// of all lines of the row (ert/base/checksum.hpp). On opening, what a killed run left at the end of a file is moved
// into a file beside it: an unfinished line, and the lines of a row without a line in measurements.csv. No other line
// is removed. machine.yaml begins with the format's number.
#pragma once

#include "ert/base/files.hpp"
#include "ert/method/bench/machine.hpp"
#include "ert/method/bench/measurement.hpp"
#include "ert/method/plan/scheduler.hpp"

#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace roof {

/// A folder as read back.
struct Results {
    std::filesystem::path folder;
    Machine machine;
    std::string plan;
    std::vector<Measurement> rows;  ///< in the order of measurements.csv
    /// What is wrong with the files: sentences that begin with file and line. The rows concerned are `damaged`.
    std::vector<std::string> damage{};
    std::vector<std::string> remarks{};  ///< files without checksums, accepted edits, a run that has not ended
    std::vector<std::string> odd{};      ///< PassedOver::odd
};

/// Throws InputError for a folder of an older format, for a file that is missing, cannot be read or has an unknown
/// header. Damaged lines and lines that contradict each other are listed, and their rows are `damaged`. An incomplete
/// last line is left out.
Results read_results(const std::filesystem::path& folder);

/// Whether its run was stopped before the first row, or still measures it: it writes plan.yaml, then machine.yaml and
/// checksums.csv. False where rows were lost.
bool has_no_row(const std::filesystem::path& folder);

/// What is wrong with a folder without measurements.csv, by file; empty if it has that, or has no row yet.
std::string lost_rows(const std::filesystem::path& folder);

/// The rows alone: no samples, no layers, and nothing compared between files, so that a changed figure is not noticed.
std::vector<Measurement> read_rows(const std::filesystem::path& folder);

/// Like read_results, and checks the lines of all other CSV files with checksums.
Results check_results(const std::filesystem::path& folder);

/// The machine.yaml of a results folder. Throws InputError for an older format or a damaged file.
Machine read_machine_of(const std::filesystem::path& folder);

/// Whether machine.yaml states a format that is not read. False for a damaged one.
bool is_of_other_format(const std::filesystem::path& folder);

/// Writes the checksums of a damaged or edited folder anew and notes it in checksums.csv, so that the page shows it.
/// Returns the notes. Lines that cannot be read remain damaged. Throws InputError while a run writes to the folder.
std::vector<std::string> accept_edits(const std::filesystem::path& folder);

class RunDirectory {
  public:
    /// Opens or creates, locks and repairs. A folder of a run that was stopped before its first row is as a new one.
    /// Throws InputError if the folder holds another plan, another machine's or node's rows or another format, is
    /// damaged, in use, or cannot be written.
    RunDirectory(std::filesystem::path folder, const std::string& plan_text, const Machine& machine);
    /// As close(), but silent.
    ~RunDirectory();
    RunDirectory(const RunDirectory&) = delete;
    RunDirectory& operator=(const RunDirectory&) = delete;

    /// Throws InputError (such as a full disk, or a lock that was removed); nothing is half-written.
    void append(const Measurement& row);
    /// Throws InputError if another process may write to the folder.
    void check_lock() const
    {
        if (lock_) lock_->check();
    }
    /// Writes checksums.csv, and gives up the lock. Throws InputError; the rows are complete in any case.
    void close();

    /// The rows that the folder had when it was opened.
    const std::vector<Measurement>& rows() const { return rows_; }
    /// Ids of the rows in the folder.
    const std::set<std::string>& done() const { return done_; }
    const std::filesystem::path& folder() const { return folder_; }

  private:
    void read_back();

    std::filesystem::path folder_;
    std::optional<FolderLock> lock_;
    std::vector<Measurement> rows_;
    std::set<std::string> done_;
};

/// Why no row of this plan and machine is appended to the folder: a sentence; empty if it may be, or if the folder is
/// new. Throws InputError for a damaged machine.yaml.
std::string why_no_row_is_appended(const std::filesystem::path& folder, const std::string& plan_text,
                                   const Machine& machine);

/// A new and empty `root/<machine>/<date>-<node>-<revision>`, which no other process gets; or the newest folder there
/// of the same node, plan and revision, if it was stopped before all had rows: the same command then continues it. A
/// machine without a node's name has no such part. `in_use`: folders to which others write.
std::filesystem::path choose_folder(const std::filesystem::path& root, const Machine& machine,
                                    const std::string& plan_text, const Scheduler& scheduler,
                                    const std::set<std::filesystem::path>& in_use = {});

/// The newest folder in `root/<machine>` of the same node, plan and revision. Throws InputError if there is none.
std::filesystem::path folder_to_continue(const std::filesystem::path& root, const Machine& machine,
                                         const std::string& plan_text);

/// `unfinished`: some of the plan's entries have no row of its last round, because the calibration was stopped early or
/// `--only` left them out, or because its time was over. `quick`: by a plan that says so (Plan::quick).
enum class CalibrationKind { unfinished, quick, full };

/// `full` for a folder without ceilings or without a plan. `rows`: of the folder.
CalibrationKind calibration_kind(const std::filesystem::path& folder, std::span<const Measurement> rows);

// What is beside a folder that the user chose: the head of each alone is read, and nothing there ends a command.

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

/// Folders that a function below did not take, though they are newer than the one that it took.
struct PassedOver {
    std::vector<std::string>
        damage{};  ///< of folders that may have what was looked for: sentences that begin with a file
    std::vector<std::string>
        remarks{};  ///< of another format; quick or unfinished calibrations where an older one is better
    /// What is said once on standard error and is no damage: folders that cannot be read, or whose names and rows
    /// disagree.
    std::vector<std::string> odd{};
    std::vector<Neighbour> seen{};  ///< so that one search after another opens each folder once
};

/// The newest full calibration (measured ceilings of bandwidth and compute) of the same machine (identity_of()):
/// `folder` itself, or one in it or beside it. Newest is what was measured last, by the rows. Where there is no full
/// one, the newest quick one, else the newest unfinished one. Those of `node` come first; if it is empty, those of the
/// node that `folder` names. Those of other nodes of the same kind are only used where the node has none. Empty if
/// there is none. `own`: what was read from `folder`, if it was. `machine`: whose ceilings are looked for if `folder`
/// is none of a run; null for any of that node.
std::filesystem::path find_calibration(const std::filesystem::path& folder, std::string node = {},
                                       PassedOver* over = nullptr, const Results* own = nullptr,
                                       const Machine* machine = nullptr);

/// The newest folder, in `folder` or beside it, of the same machine in which probes were repeated for what lasts
/// (ert/method/plan/measure.hpp). Empty if there is none.
std::filesystem::path find_sustained(const std::filesystem::path& folder, PassedOver* over = nullptr);

/// The newest folder, in `folder` or beside it, in which the bench `network` measured messages between ranks on these
/// nodes (rank_nodes(), in any order). Empty if there is none.
std::filesystem::path find_network(const std::filesystem::path& folder, std::vector<std::string> nodes,
                                   PassedOver* over = nullptr);

}  // namespace roof
