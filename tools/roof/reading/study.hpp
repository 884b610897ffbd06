// Opens a results folder as a study under the right calibration and prints it in a terminal; what changed since the
// last calibration, and what was predicted before a sweep.
#pragma once

#include "analysis/estimate/target.hpp"
#include "analysis/study/compared/compare.hpp"
#include "analysis/study/study.hpp"
#include "ert/method/plan/scheduler.hpp"
#include "ert/method/results/results.hpp"
#include "tools/roof/console/context.hpp"

#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace roof {

/// Tells a sentence on `context.err`, unless it was told.
void tell_once(const std::string& sentence, Context& context);

/// Tells the damage of a folder on `context.err` and sets `context.status` to 1 if there is any.
void report_damage(const Results& results, Context& context);

/// The runs in `folder` and in its folders, the newest first by their rows. `unread`: gets why others cannot be read.
std::vector<Neighbour> runs_below(const std::filesystem::path& folder, std::vector<std::string>* unread = nullptr);

/// Opens `folder` under `calibration`; if that is empty, under the newest calibration beside the folder, else under the
/// newest of the folder's machine in `Context::results`. Damage of either folder is
/// told on `context.err` and sets `context.status` to 1.
analysis::Study open_with_calibration(const std::filesystem::path& folder, const std::filesystem::path& calibration,
                                      Context& context, const analysis::ReportInput& input = {});

/// The newest calibration in `place` or below it, of `machine` unless that is null; nothing without one. Reports
/// damage, also that of calibrations that were passed over, as report_damage() does.
std::optional<Results> calibration_in(const std::filesystem::path& place, Context& context,
                                      const Machine* machine = nullptr);

/// The first line of what a command says: the study's calibration and how good it is. Nothing without one.
void print_calibration_line(const analysis::Study& study, int width, std::ostream& out);

/// Prints verdict, predictions, batch trajectories, kinds of layer, the layers with the most headroom, and roofline;
/// `brief`: only the verdict and the predictions.
void print_study(const analysis::Study& study, const Terminal& terminal, bool brief, std::ostream& out);

// Drift: the ceilings that changed since the last calibration of this machine.

/// Compares `now` with the newest other complete calibration of the machine by the same plan under `Context::results`;
/// nullopt without one. Tells the damage of newer ones that cannot be compared.
std::optional<analysis::Comparison> drift_since_last(const Results& now, const Scheduler& scheduler, Context& context);

// Predictions made before rows are measured.

/// Predicts the training steps among the items on their devices, under this machine's calibration. `tries`: each kind
/// of step on a CPU by its trial (analysis/estimate/prediction.hpp), which takes up to a second. Throws InputError
/// without a calibration.
std::vector<analysis::Prediction> predict(const std::vector<Item>& items, Context& context, bool tries);

/// Writes the predictions into the folder before its first row, and prints their fingerprint on `context.err`. Keeps
/// existing predictions. Throws InputError if the folder has rows but no predictions.
void keep_predictions(const std::vector<analysis::Prediction>& predictions, const std::filesystem::path& folder,
                      bool has_rows, const Context& context);

// The machines for estimates (machines.cpp): the built-in spec sheets and the calibrations among the results.

std::vector<analysis::MachineSheet> built_in_sheets();

/// The values of --on but for folders: `here`, and the names of the sheets.
std::vector<std::string> machine_names();

/// The targets named by a value of --on: `here`, this machine; a results folder with a calibration; or the name of a
/// sheet. If a device has both, the measured target comes first. Tells damage. Throws InputError that lists the sheets.
std::vector<analysis::Target> find_targets(const std::string& word, Context& context);

}  // namespace roof
