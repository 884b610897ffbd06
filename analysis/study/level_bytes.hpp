// The bytes of each memory level, for the hierarchical roofline. From the best source that there is:
//   counter   of the part, else of the whole step
//   analytic  an interval: the bounds of place.hpp, and for a product at least what its multiply-adds force through the
//             memory nearer to the core (product_bound.hpp); before L1 that is the registers of the implementation. Not
//             known for products whose implementation is not recognised, or does fewer multiply-adds (Winograd, FFT)
// Steps and phases add up their layers and are known if all of these are.
#pragma once

#include "analysis/roofline/place.hpp"
#include "ert/recording/record_files.hpp"

#include <span>
#include <string_view>

namespace roof::analysis {

/// Sets `moved` of the placements of `rows`, in the order of place(). `machine`: of the ceilings; `recorded`: the folder with
/// counters.csv, if there is one.
void find_level_bytes(std::span<Placement> placements, std::span<const Measurement> rows,
                      const RecordedFolder& recorded, const Ceilings& ceilings, const Machine& machine);

/// The vector registers of one thread that a product's implementation uses, by its name; 0 if it is not recognised or
/// multiplies less than the product's FLOPs.
Bytes registers_of(std::string_view implementation);

}  // namespace roof::analysis
