// The loop shared by calibrate, run and sweep: measures the items of a plan one after another into a results folder.
#pragma once

#include "ert/method/bench/machine.hpp"
#include "ert/method/bench/measurement.hpp"
#include "ert/method/ceilings/ceiling.hpp"
#include "ert/method/plan/scheduler.hpp"
#include "tools/roof/console/context.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace roof {

/// What to measure, and the folder for the rows.
struct Job {
    std::string plan_text;  ///< kept in the folder, which holds one plan
    Scheduler scheduler;
    std::filesystem::path out;  ///< the folder; if empty, one is chosen under `Context::results`
    /// Called before the first measurement, with the folder and whether it has rows already; may be empty.
    std::function<void(const std::filesystem::path& folder, bool has_rows)> opened{};
    std::string node{};  ///< as given by --node; empty: the registry's
    /// Goes on in `out`, or in the newest folder of this plan (folder_to_continue), even if that is complete; what was
    /// skipped there is measured first.
    bool continues = false;
    /// Rows that are measured elsewhere and appended before the first measurement, given the folder and its rows;
    /// nullopt if that was interrupted. May be empty.
    std::function<std::optional<std::vector<Measurement>>(const std::filesystem::path& folder,
                                                          const std::vector<Measurement>& rows)>
        elsewhere{};
};

/// The registry's machine, with `node` in place of its node unless that is empty. Throws InputError for a `node` that
/// is no node's name.
Machine machine_named(const std::string& node, const Context& context);

/// Functions called while the loop runs; each may be empty.
struct Listener {
    std::function<void(const Item& item, std::size_t index, std::size_t total)> begins;
    std::function<void(const Sample& sample, int launches_so_far)> sample;
    std::function<void(const Measurement& row)> row;
    std::function<void()> ends;
};

struct Session {
    std::filesystem::path folder;
    bool interrupted = false;

    /// The rows in the order of their measurement, including those of earlier sessions; if interrupted, then `skipped`
    /// ones of what is left, which are in no file.
    std::vector<Measurement> rows;

    /// 0: every item has a row and none failed; 1: some row failed; 130: interrupted.
    int status() const;

    Seconds seconds_per_row{};  ///< of the rows measured in this session; 0 without any
};

/// Measures the items that the folder lacks, and appends each row after its measurement. Items that have not begun when
/// the plan's time is over get rows `skipped`; those whose working sets are not known by then get none. An interrupt
/// drops the current row and prints on `context.err` how to continue. Throws InputError.
Session measure_all(const Job& job, Context& context, const Listener& listener);

// Progress on standard error (progress.cpp). On a terminal: one line, redrawn, and erased at the end. Elsewhere: a line
// per finished row, or a line per tenth of a long list, with unsupported rows by reason at the end. Failed rows always
// have a line.

/// The context must outlive the listener.
Listener progress(const Context& context);

// The steps of a training run as they happen, in the format of PyTorch's ImageNet example.

/// `steps`: the number of steps; 0 if the stopping rule decides. `err` must outlive the listener.
Listener training_log(std::ostream& err, int steps, const Terminal& terminal = {});

// The looks that calibrate, run and sweep add to those at the machine's ceilings (ert/method/results/look_file.hpp).
// What cannot be kept is said on standard error; the rows are complete in any case (looks.cpp).

/// The ceilings of a calibration by all looks, its own included, which is kept. `out`: as in its Job.
Ceilings ceilings_of_looks(const Session& session, const std::filesystem::path& out, const Machine& machine,
                           Context& context);

/// After a run or a sweep that took so long: a round of each roof of a CPU that is not steady yet, those with the
/// fewest looks first, in about the lesser of 0.3 s and 1% of that time, if the last look is ten minutes old. Copies
/// the looks into its folder.
void look_again(const Session& session, Seconds took, const Machine& machine, Context& context);

}  // namespace roof
