// A study: a results folder and the ceilings of its machine. It is the input of every table, picture and export.
#pragma once

#include "analysis/estimate/prediction.hpp"
#include "analysis/estimate/target.hpp"
#include "analysis/recordings/kernel_rules.hpp"
#include "analysis/recordings/time_breakdown.hpp"
#include "analysis/recordings/totals.hpp"
#include "analysis/roofline/place.hpp"
#include "ert/method/ceilings/ceiling.hpp"
#include "ert/method/results/results.hpp"
#include "ert/recording/record_files.hpp"

#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace roof::analysis {

/// Totals of the recordings of a run. Each file is read once, at its first use, because kernels.csv may have a million
/// lines.
struct Recording {
    std::optional<RecordedKernels> kernels;
    std::optional<std::vector<CallTotal>> calls;
    std::optional<std::vector<CopyTotal>> copies;
    std::optional<std::vector<MemoryUse>> memory;
};

struct Study;

/// What a report adds to a study.
struct ReportInput {
    std::vector<MachineSheet> sheets{};            ///< data sheets of devices
    std::optional<KernelRules> kernel_rules{};     ///< instead of the built-in ones
    const Study* baseline = nullptr;               ///< an earlier study to show changes from
    const std::vector<Study>* together = nullptr;  ///< all studies of the report, of which this is one

    const KernelRules& rules() const { return kernel_rules ? *kernel_rules : built_in_kernel_rules(); }
};

/// Whole when it is opened. Only a page that has no room for all of it leaves some out (thin_steps, thin_layers).
struct Study : ReportInput {
    Results results;
    Results calibration;  ///< its folder is empty if there is none; its rows: calibration_rows()
    Ceilings ceilings;
    Ceilings over_nodes{};  ///< of rows whose ranks were on several nodes (roofs.hpp), with the network between them
    std::vector<Measurement> sustained{};  ///< probes that were repeated for seconds, else those of find_sustained()
    Ceilings lasting{};                    ///< with the rates of these (with_lasting); empty without any
    std::vector<Placement> placements;
    PredictionErrors predictions{};  ///< from the folder's predictions.csv; no rows without it
    std::string predictions_fingerprint{};
    RecordDamage record_damage{};            ///< of the recorded files; results.damage names it too
    std::string left_out{};                  ///< what a page leaves out; empty for a whole study
    std::set<std::string> without_layers{};  ///< the rows whose layers it leaves out
    mutable Recording recording{};           ///< use the functions below
};

/// Opens a study. Rows of ranks on several nodes are placed under the slowest of the nodes' calibrations beside it.
/// Without `calibration` it uses the folder's own ceilings, else the newest calibration of the same machine beside it,
/// else none. Throws InputError for a folder that cannot be read.
Study open_study(const std::filesystem::path& folder, const std::filesystem::path& calibration = {},
                 ReportInput input = {});

/// Adds the sentences on folders that were passed over to those of the results.
void note(const PassedOver& over, Results& results);

/// Fits ceilings and places steps. `sustained`: as in Study; empty: the probes of the results.
Study make_study(Results results, Results calibration, Ceilings over_nodes = {},
                 std::vector<Measurement> sustained = {});

/// The ceilings over a row: those over nodes; the lasting ones for a step that ran for seconds, where it has any; else
/// those of bursts.
const Ceilings& ceilings_over(const Study& study, const Measurement& row);
/// "lasting " or "burst " where the row has lasting roofs, by those over it; else empty.
std::string_view kind_of_roofs(const Study& study, const Measurement& row);

/// Sets `moved` of the placements of `rows`, in the order of place(), from the best source (level_bytes.cpp).
/// `machine`: of the ceilings; `recorded`: the folder with counters.csv, if there is one.
void find_level_bytes(std::span<Placement> placements, std::span<const Measurement> rows,
                      const RecordedFolder& recorded, const Ceilings& ceilings, const Machine& machine);

/// The vector registers of one thread that a product's implementation uses, by its name; 0 if it is not recognised or
/// multiplies less than the product's FLOPs.
Bytes registers_of(std::string_view implementation);

/// The rows that the ceilings are of: those of `calibration`, which has none of its own if it is the folder of
/// `results`.
std::span<const Measurement> calibration_rows(const Study& study);

/// The rows of the folder, and those of its calibration if that is another folder.
std::vector<const Measurement*> all_rows(const Study& study);

/// Damage of the folder's files and, if that is another one, of its calibration's.
std::vector<std::string> all_damage(const Study& study);

/// A warning if there is no calibration, if it is of another machine, or if it is a quick one; otherwise empty.
std::string calibration_warning(const Study& study);

/// The recorded files of the run, without the rows that damage leaves out.
RecordedFolder recorded_folder(const Study& study);

// Totals of recordings; empty without the file.
const RecordedKernels& kernels_of(const Study& study);
const std::vector<CallTotal>& calls_of(const Study& study);
const std::vector<CopyTotal>& copies_of(const Study& study);
const std::vector<MemoryUse>& memory_of(const Study& study);

}  // namespace roof::analysis
