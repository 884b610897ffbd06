// Numbers published by others (configs/studies/published), compared with arithmetic and with the sheet of the
// machine. A number above a roof or with an impossible unit is reported, never corrected.
#pragma once

#include "analysis/estimate/machine_estimate.hpp"
#include "analysis/table/table.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace roof::analysis {

/// A row of a published table. Empty fields were not published. `quantity` is intensity, flop_rate, flops, flops_per_image, memory,
/// activations, time, epoch, image, window, fits or share.
struct PublishedNumber {
    std::string study;
    EstimateRequest of;   ///< model, batch, precision, passes, devices, images of an epoch
    std::string machine;  ///< a sheet's name
    std::string layer;    ///< the layer of a `window`
    std::string quantity;
    double value = 0;  ///< as printed
    std::string unit;  ///< as printed
    double si = 0;     ///< `value` in FLOP/B, FLOP/s, FLOP, B, s, pixels, or a share of 1
    std::string how;   ///< how the authors got it: counter, timed, computed, …
    std::string source;
    std::string note;
    std::string where;  ///< "file:line"
};

/// CSV with the columns study, model, batch, phase, precision, machine, devices, images, layer, quantity, value,
/// unit, how, source, note. Throws InputError with file, line and the legal values for an unknown quantity or unit.
std::vector<PublishedNumber> parse_published(std::string_view text, const std::string& name);

/// A published number against the estimate. agrees: within a tenth; plausible: within the roofs; differs: from the
/// arithmetic; doubtful: unit or clock are probably wrong; impossible: above a roof; unchecked: not estimated.
enum class Verdict { agrees, plausible, differs, doubtful, impossible, unchecked };

std::string_view name(Verdict verdict);

struct Assessment {
    PublishedNumber published;
    double estimated = 0;  ///< SI; 0 if there is none
    Verdict verdict = Verdict::unchecked;
    std::string remark;  ///< a clause
};

/// Compares each number with its estimate. `targets` are found by name. A number for any other machine is compared with
/// arithmetic alone.
std::vector<Assessment> assess(std::span<const PublishedNumber> numbers, std::span<const Target> targets);

/// The number as printed. Counts without an SI prefix get one.
std::string published_text(const PublishedNumber& number);
/// The estimate in the same kind of unit; "-" if there is none.
std::string estimate_text(const Assessment& assessment);

/// A table with the columns what, where, published, estimated, verdict and remark.
DataTable published_table(std::span<const Assessment> assessments);

}  // namespace roof::analysis
