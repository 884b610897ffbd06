// Which named ranges a moment lies in: ranges of one thread nest, so the innermost one and those around it are found by walking
// up from the last that had begun.
#pragma once

#include "ert/cupti/activity_log.hpp"
#include "ert/cupti/labels.hpp"
#include "ert/recording/range_names.hpp"

#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace roof::cupti {

/// Whether a range is one of those wanted: "step" by its whole name, "step*" by its beginning.
bool is_named(std::string_view name, std::string_view wanted);

/// Of what is asked for within ranges of these names: the innermost one that speaks of neither step nor phase is the layer, the
/// innermost that speaks of a phase is the phase.
Label label_in(std::span<const std::string_view> innermost_first);

class RangeIndex {
  public:
    /// The ranges must outlive the index.
    explicit RangeIndex(const std::deque<RangeActivity>& ranges);

    /// The ranges of a thread that hold the moment, innermost first.
    std::vector<const RangeActivity*> around(std::uint32_t thread, Nanoseconds moment) const;
    /// The innermost range of any thread whose name speaks of a phase, and holds the moment; null if none does.
    const RangeActivity* phase_at(Nanoseconds moment) const;

  private:
    struct Nested {
        const RangeActivity* range = nullptr;
        std::optional<std::size_t> parent;  ///< of the same thread, by place
    };
    using Thread = std::vector<Nested>;

    static void nest(Thread& thread);
    static std::vector<const RangeActivity*> around(const Thread& thread, Nanoseconds moment);

    std::unordered_map<std::uint32_t, Thread> threads_;
    Thread phases_;  ///< of all threads
};

}  // namespace roof::cupti
