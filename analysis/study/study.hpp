// A study: a results folder seen under the ceilings of its machine. What every table, picture and export starts from.
#pragma once

#include "analysis/estimate/hypothesis.hpp"
#include "analysis/estimate/machine_sheet.hpp"
#include "analysis/estimate/prediction.hpp"
#include "analysis/recordings/api_calls.hpp"
#include "analysis/recordings/copies.hpp"
#include "analysis/recordings/kernel_rules.hpp"
#include "analysis/recordings/memory_use.hpp"
#include "analysis/recordings/time_breakdown.hpp"
#include "analysis/roofline/place.hpp"
#include "analysis/study/lazy.hpp"
#include "ert/method/ceilings/ceiling.hpp"
#include "ert/method/results/results.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace roof::analysis {

/// What was recorded, read when it is first asked for; analysis/study/recording.hpp asks.
struct Recording {
    Lazy<RecordedKernels> kernels;
    Lazy<std::vector<CallTotal>> calls;
    Lazy<std::vector<CopyTotal>> copies;
    Lazy<std::vector<MemoryUse>> memory;
};

struct Study {
    Results results;
    Results calibration;  ///< its folder is empty if there is none
    Ceilings ceilings;
    std::vector<Placement> placements;
    PredictionErrors predictions{};  ///< of what was predicted in the folder's predictions.csv; no rows if nothing was
    std::string predictions_fingerprint{};
    std::vector<Answered> answers{};     ///< to what the plan expects; whoever knows machines fills them in
    std::vector<MachineSheet> sheets{};  ///< what makers publish of devices; whoever knows machines fills them in
    KernelRules kernel_rules = built_in_kernel_rules();
    Recording recording{};
};

/// Without `calibration`: the folder's own ceilings if it has any, else the newest of the same machine beside it, else
/// none, and then every output says so. Throws InputError for a folder that cannot be read.
Study open_study(const std::filesystem::path& folder, const std::filesystem::path& calibration = {});

/// Fits and places what has been read already.
Study make_study(Results results, Results calibration);

/// What a reader must know before trusting the placements: that there is no calibration, or one of another machine.
/// Empty if all is well.
std::string calibration_warning(const Study& study);

}  // namespace roof::analysis
