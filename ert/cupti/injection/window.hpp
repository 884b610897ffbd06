// When to record a program that knows nothing of it. A program's first seconds on the GPU are no measure of the rest: it loads
// libraries, allocates and tries algorithms. Unless told otherwise, these are left out, and a stretch after them is recorded.
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
    enum class Order { go_on, begin_anew, finish };

    explicit Window(const WindowOptions& options) : options_(options) {}

    /// What to do now: forget what was recorded and record from here, or stop. `is_busy`: some work was seen on a GPU. To be asked
    /// again and again.
    Order look(Seconds now, bool is_busy);

    /// Whether what is recorded holds the program's start; so it does where the program ended before the window began.
    bool has_start() const { return options_.is_whole || !begin_; }

  private:
    WindowOptions options_;
    std::optional<Seconds> first_work_;
    std::optional<Seconds> begin_;
};

}  // namespace roof::cupti
