// Finds the named ranges that contain a moment: upwards from the last that had begun, since those of a thread nest.
#pragma once

#include "ert/cupti/activity_log.hpp"
#include "ert/cupti/labels.hpp"

#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace roof::cupti {

/// Whether a name is the wanted one: "step" matches the whole name, "step*" its beginning.
bool is_named(std::string_view name, std::string_view wanted);

/// The label of a call inside ranges of these names. The innermost that names neither a step nor a phase is the layer;
/// the innermost that names a phase is the phase.
Label label_in(std::span<const std::string_view> innermost_first);

class RangeIndex {
  public:
    /// The ranges must outlive the index.
    explicit RangeIndex(const std::deque<RangeActivity>& ranges);

    /// The ranges of a thread that contain the moment, innermost first.
    std::vector<const RangeActivity*> around(std::uint32_t thread, Nanoseconds moment) const;
    /// The innermost range of any thread that names a phase and contains the moment; null if there is none.
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
