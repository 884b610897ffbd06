// A bench: a family of subjects with one plain sentence, the axes it can be swept over, and a way to make each point.
#pragma once

#include "ert/method/bench/machine.hpp"
#include "ert/method/bench/point.hpp"
#include "ert/method/bench/subject.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roof {

enum class Role { bandwidth, compute, latency, step };

std::string_view name(Role role);
Role parse_role(std::string_view word);

/// One axis of a bench. `allowed` lists the words it takes; if empty, it takes whole numbers from `min` to `max` (if
/// `numeric`), or any text. `defaults` holds the values swept when the plan names none (never empty).
struct Axis {
    std::string name;
    std::string meaning;  ///< with its unit
    std::vector<std::string> defaults;
    std::vector<std::string> allowed;
    bool numeric = false;
    long long min = 1;
    long long max = 1;
    /// Words that stand for values which other rows of the plan will have shown (ert/method/plan/resolved_sizes.hpp).
    std::vector<std::string> keywords{};
    bool optional = false;  ///< left out of points unless the plan names it; the first of `defaults` is what holds then
};

class Bench {
  public:
    virtual ~Bench() = default;

    virtual std::string_view name() const = 0;
    virtual Role role() const = 0;
    /// What the number means, in a sentence that travels with the row to the report's footnote.
    virtual std::string_view description() const = 0;
    /// The kind of device it runs on: "cpu" or "gpu".
    virtual std::string_view device_kind() const = 0;
    /// The axes on this machine: the usual values may depend on its ISA, cores and caches.
    virtual std::vector<Axis> axes(const Machine& machine) const = 0;
    /// The reason why this point cannot be had on this machine and device, or nothing. Cheap; no subject is made. Asked for
    /// every item of a plan before the first is measured: throws InputError for a value that can never be right.
    virtual std::optional<std::string> unsupported_reason(const Point& point, const Machine& machine,
                                                          const Device& device) const = 0;
    /// Throws Unsupported, OutOfMemory, InputError or Error.
    virtual std::unique_ptr<Subject> make(const Point& point, const Machine& machine, const Device& device) const = 0;
};

}  // namespace roof
