// One row of results: what was measured at one point, or why nothing was. The column tables in columns.cpp *are* the
// CSV files: header, writer and reader all walk them. Only measured things are stored; rates, intensities and
// efficiencies are derived on reading, so that a formula mended today is mended for last year's rows.
#pragma once

#include "ert/base/estimate.hpp"
#include "ert/method/bench/bench.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace roof {

/// `diverged`: the loss became no finite number. `damaged`: the row's lines were changed after they were written; no
/// row is written so.
enum class Status { ok, unsupported, skipped, out_of_memory, failed, diverged, damaged };
constexpr EnumNames<Status::damaged> names_of(Status)
{
    return {"status", {"ok", "unsupported", "skipped", "out_of_memory", "failed", "diverged", "damaged"}};
}

/// A part over all used launches.
struct PartMeasurement {
    TimedPart part;
    Estimate<Seconds> seconds;
};

/// Of launches repeated without pause for seconds (ert/method/plan/measure.hpp), by windows of some tenths of a second.
/// Empty estimates and 0: not measured, or not known.
struct SustainedLaunches {
    Estimate<Seconds> seconds;  ///< of a launch
    Hertz clock;                ///< this and the power: medians of the windows
    Watts instant;              ///< power, by the mean of the readings in each window
    Watts limit;
    Estimate<Joules> energy;  ///< of a launch, by the device's counter; so are those of a step's phases
    Estimate<Joules> forward;
    Estimate<Joules> backward;
    Estimate<Joules> update;
};

struct Measurement {
    std::string bench;
    Role role = Role::step;
    std::string device;
    Point point;
    Status status = Status::ok;
    std::string reason;  ///< empty if ok
    Estimate<Seconds> seconds;
    Estimate<Seconds> data;
    Estimate<Seconds> forward;
    Estimate<Seconds> backward;
    Estimate<Seconds> update;
    Estimate<Seconds> exposed;  ///< communication that the step waited for; 0 without other ranks
    Estimate<Seconds> hidden;   ///< communication beside the step's own work
    HostUse host{};             ///< over the used launches of a training step
    Bytes messages;             ///< bytes of a step's messages, as one rank holds them
    Estimate<Hertz> clock;      ///< of the cores beside the launches; empty if not known
    SustainedLaunches sustained{};
    std::string variant;  ///< chosen by the subject's trials
    Work work;
    Bytes memory;         ///< planned; the bytes wanted where status is out_of_memory
    std::string started;  ///< UTC, ISO 8601
    std::string description;
    Known time_known = Known::measured;  ///< measured or emulated, as the bench says
    std::string remarks;                 ///< of the subject, joined by "; "
    std::vector<Sample> samples;         ///< samples.csv
    std::vector<PartMeasurement> parts;  ///< layers.csv

    /// "bench device axis=value …": the row's identity.
    std::string id() const { return bench + " " + device + " " + point.str(); }
    /// Number of processes that trained together; 1 if the point has none.
    int ranks() const { return point.has("ranks") ? static_cast<int>(point.integer("ranks")) : 1; }
    /// Images of one launch over all ranks; 0 if the point has no batch.
    double images() const;
    /// Of the step and its median wait for data; 0 if the point has no batch.
    Spread images_per_second() const;
    std::vector<double> losses() const;
};

/// A column of a CSV file (ert/base/fields.hpp).
template <class Row>
struct Field;

/// measurements.csv after its first column, `id`. A point's axes have a column each, in the order in which every bench
/// lists its axes.
const std::vector<Field<Measurement>>& measurement_fields();
/// samples.csv and layers.csv. Their first column, `id`, names the row they belong to.
const std::vector<Field<Sample>>& sample_fields();
const std::vector<Field<PartMeasurement>>& part_fields();
/// The axes with a column, in their order; a bench's axes must be a subsequence of these.
const std::vector<std::string>& axis_names();

// Words of rows that decide what may be said of them: writers use these, and readers look for them.

/// Remark on several ranks that share a device or too few processors.
inline constexpr std::string_view ranks_take_turns = "they take turns, and this time is not one of ranks side by side";
/// Remark: clocks of ranks differ by more than 2%. What the fast wait for the slow counts as communication.
inline constexpr std::string_view ranks_differ_in_clock = "the ranks' clocks differ";
/// Description of a training step: what its bytes are. Rows without it counted each layer by itself.
inline constexpr std::string_view bytes_of_operations =
    "the bytes are those of the tensors that its operations read and write";

// A step that several processes measured, one after another: each has pages, places and warm-ups of its own.

/// The process of each sample, from 0. A process begins with its warm-ups: samples that are neither used nor disturbed.
std::vector<int> processes_of(const std::vector<Sample>& samples);
/// How many processes measured the row; 1 without samples, and of a bench other than `train`.
int processes_of(const Measurement& row);

}  // namespace roof
