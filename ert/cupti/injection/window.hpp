// When to record a program. In its first seconds on the GPU it loads libraries, allocates memory and tries algorithms.
// By default they are left out, and the seconds after them are recorded.
#pragma once

#include "ert/base/units.hpp"

#include <optional>

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

    /// What to do now: nothing, restart the recording from here, or finish it. `is_busy`: the GPU has had work. Called
    /// again and again.
    Action next(Seconds now, bool is_busy);

    /// Whether the recording contains the program's start. True also if the program ended before the window began.
    bool has_start() const { return options_.is_whole || !begin_; }

  private:
    WindowOptions options_;
    std::optional<Seconds> first_work_;
    std::optional<Seconds> begin_;
};

}  // namespace roof::cupti
