// What sees a subject's launches from outside, kernel by kernel. A part that can do so gives its profiler to the registry; the
// measuring loop, which knows neither kernels nor devices, tells it when to look.
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

/// A subject under a profiler, from before its first launch to its last.
struct Profile {
    PartListener listener;                            ///< to be told of the parts in every launch
    std::function<void(const Launch& launch)> trace;  ///< one launch, recorded as a step
    std::function<std::vector<std::string>(const Launch& launch)>
        count;  ///< as many launches as hardware counters need; remarks
    /// Appends what was recorded to the recorded files of the folder, of the row `id`.
    std::function<void(const std::filesystem::path& folder, const std::string& id)> write;
};

struct Profiler {
    std::string device_kind;  ///< "gpu"
    /// Throws Unsupported with the reason where nothing can be recorded.
    std::function<Profile(const Device& device, const std::vector<TimedPart>& parts)> attach;
};

/// Launches by turns with and without tracing, after all that was measured; then those for counters. Returns remarks: what tracing
/// costs, and what could not be recorded. `trace` is the one the subject was measured with.
std::vector<std::string> profile(Subject& subject, Trace& trace, const Profile& profile, const Clock& clock);

}  // namespace roof
