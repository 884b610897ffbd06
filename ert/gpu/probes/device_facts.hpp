// What a GPU's description says: facts, so that a row can state why a point is unsupported, and the working sets that
// probes sweep over, which are multiples of what every multiprocessor has a like part of, from well inside the L1s to
// well beyond the L2.
#pragma once

#include "ert/method/bench/bench.hpp"
#include "ert/method/bench/machine.hpp"

#include <optional>
#include <string>
#include <vector>

namespace roof::gpu {

/// N of "gpu:N". Throws Error for other names.
int number_of(const Device& device);

/// A fact that is a number; `otherwise` if it is unknown.
double number_in(const Device& device, const std::string& fact, double otherwise = 0);

/// 90 for compute capability 9.0; 0 if unknown.
int capability_of(const Device& device);

/// " of compute capability 9.0"; " of unknown compute capability".
std::string of_capability(const Device& device);

/// Number of multiprocessors; 1 if unknown.
int multiprocessors_of(const Device& device);

/// "needs compute capability 9.0; this GPU has 8.0", or nothing if the device has at least `least`.
std::optional<std::string> missing_capability(const Device& device, int least, const std::string& what);

/// The oldest compute capability that kernels of this build run on, 80 for 8.0, by CMAKE_CUDA_ARCHITECTURES. Some need
/// a newer one: their benches say so.
int oldest_capability();

/// The reason why the GPU is older than that, and what to do, or nothing.
std::optional<std::string> missing_in_build(const Device& device);

/// Of a level of memory as the machine reports it, over all its instances; 0 if it reports none.
Bytes capacity_of(const Device& device, std::string_view level);

/// "working_set", in bytes, with the words for sizes that the load sweep finds.
Axis working_set_axis(std::string meaning, std::vector<std::string> usual);

/// Two for each octave, four where the caches end, ascending, for the machine's first GPU; for a machine without one,
/// of some middling one.
std::vector<std::string> usual_working_sets(const Machine& machine);

/// One for each octave.
std::vector<std::string> usual_chase_sets(const Machine& machine);

/// One inside the L1s, one inside the L2, one beyond.
std::vector<std::string> usual_ert_sets(const Machine& machine);

}  // namespace roof::gpu
