// Numbers that others have published (configs/studies/published): read with their units, and held against what arithmetic and
// the machine's sheet allow. A number above a roof, or of a unit it cannot have, is said to be so; it is never corrected.
#pragma once

#include "analysis/estimate/machine_estimate.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace roof::analysis {

/// A row of a published table. What is empty was not told.
struct PublishedNumber {
    std::string study;
    EstimateRequest of;    ///< model, batch, precision, passes, devices, images of an epoch
    std::string machine;   ///< a sheet's name
    std::string layer;     ///< of a `window`
    std::string quantity;  ///< a word of published_quantities()
    double value = 0;      ///< as printed
    std::string unit;      ///< as printed
    double si = 0;         ///< in FLOP/B, FLOP/s, FLOP, B, s, pixels, a share of 1
    std::string how;       ///< how the authors got it: counter, timed, computed, …
    std::string source;
    std::string note;
    std::string where;  ///< "file:line"
};

/// intensity, flop_rate, flops, flops_per_image, memory, activations, time, epoch, image, window, fits, share.
const std::vector<std::string>& published_quantities();

/// CSV with the columns study, model, batch, phase, precision, machine, devices, images, layer, quantity, value, unit, how,
/// source, note. Throws InputError with file, line and the legal words for a quantity or unit that is none.
std::vector<PublishedNumber> parse_published(std::string_view text, const std::string& name);

/// How a published number stands to the estimate: `agrees` within a tenth; `plausible`, within the roofs; `differs`, where
/// nothing but the arithmetic stands against it; `doubtful`, a unit or a clock that is probably wrong; `impossible`, beyond a
/// roof; `unchecked`, of something that cannot be estimated.
enum class Standing { agrees, plausible, differs, doubtful, impossible, unchecked };

std::string_view name(Standing standing);

struct Assessment {
    PublishedNumber published;
    double estimated = 0;  ///< SI; 0 if there is none
    Standing standing = Standing::unchecked;
    std::string remark;  ///< a clause: what the numbers say
};

/// `targets` are looked up by name; a number whose machine is none of them is assessed by arithmetic alone.
std::vector<Assessment> assess(std::span<const PublishedNumber> numbers, std::span<const Target> targets);

/// As printed, but for counts without a prefix, which get one to be read by.
std::string published_text(const PublishedNumber& number);
/// The estimate in the same kind of unit; "-" if there is none.
std::string estimate_text(const Assessment& assessment);

/// A table: what, where, published, estimated, standing and remark.
std::string to_text(std::span<const Assessment> assessments);

}  // namespace roof::analysis
