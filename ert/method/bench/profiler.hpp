// A profiler records a subject's launches kernel by kernel. A part adds its profiler to the registry; the measuring
// loop calls it.
#pragma once

#include "ert/method/bench/machine.hpp"
#include "ert/method/bench/subject.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace roof {

/// Does one launch of the subject.
using Launch = std::function<void()>;

/// What is recorded after measuring: nothing; launches, with hardware counters of the step and its phases; or also the
/// counters of each kernel by itself, which is repeated for them: 0.2 s for each on an H100.
enum class Profiling { off, steps, kernels };

/// The profile of one subject, from before its first launch to its last.
struct Profile {
    PartListener listener;                            ///< for the parts of every launch
    std::function<void(const Launch& launch)> trace;  ///< records one launch as a step
    /// Runs as many launches as the hardware counters need; returns remarks.
    std::function<std::vector<std::string>(const Launch& launch)> count;
    /// Appends the records of row `id` to the recorded files of the folder.
    std::function<void(const std::filesystem::path& folder, const std::string& id)> write;
    /// Counts each kernel of a launch by itself, after count(); returns remarks. Empty where there is nothing of the
    /// kind.
    std::function<std::vector<std::string>(const Launch& launch)> count_kernels{};
};

struct Profiler {
    std::string device_kind;  ///< "gpu"
    /// Throws Unsupported with the reason where nothing can be recorded.
    std::function<Profile(const Device& device, const std::vector<TimedPart>& parts)> attach;
    /// The same for the programs that a launch starts; empty where that is not possible.
    std::function<Profile(const Device& device)> attach_program{};
};

/// After measuring: alternates launches with and without tracing, then runs the launches for counters. Returns remarks:
/// the cost of tracing, and what could not be recorded. `trace` is the one the subject was measured with.
std::vector<std::string> profile(Subject& subject, Trace& trace, const Profile& profile, Profiling what,
                                 const Clock& clock);

}  // namespace roof
