// The settings that `roof profile` passes to the injected library, as environment variables, and when to record a
// program. In its first seconds on the GPU it loads libraries, allocates memory and tries algorithms. By default they
// are left out, and the seconds after them are recorded.
#pragma once

#include "ert/base/units.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace roof::cupti {

struct WindowOptions {
    bool is_whole = false;  ///< from the start to the end
    Seconds after{5};       ///< since the first work on a GPU
    Seconds length{10};
};

class Window {
  public:
    enum class Action { none, restart, finish };

    explicit Window(const WindowOptions& options) : options_(options) {}

    /// What to do now: nothing, restart the recording from here, or finish it. `is_busy`: the GPU has had work.
    Action next(Seconds now, bool is_busy);

    /// Whether the recording contains the program's start. True also if the program ended before the window began.
    bool has_start() const { return options_.is_whole || !begin_; }

  private:
    WindowOptions options_;
    std::optional<Seconds> first_work_;
    std::optional<Seconds> begin_;
};

/// ROOF_PROFILE_FOLDER, ROOF_PROFILE_WINDOW ("whole", or "AFTER LENGTH" in seconds), ROOF_PROFILE_RANGE,
/// ROOF_PROFILE_COUNTERS (a file with a line for each chip: its name and the metrics to count), ROOF_PROFILE_KERNELS.
struct Settings {
    std::filesystem::path folder;  ///< each process writes into a folder of its own in it
    WindowOptions window;
    std::string range;  ///< record only within ranges of that name; empty: everything
    std::map<std::string, std::vector<std::string>> metrics{};  ///< to count, by chip; empty: nothing is counted
    std::size_t kernels = 2000;                                 ///< to count at most
};

/// Throws InputError if no folder is named, or a value is wrong.
Settings settings_from_environment();

}  // namespace roof::cupti
