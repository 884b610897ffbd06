// A bench: a family of measurable points. It has a name, axes with their allowed values, and makes the subject of each
// point.
#pragma once

#include "ert/base/names.hpp"
#include "ert/method/bench/machine.hpp"
#include "ert/method/bench/point.hpp"
#include "ert/method/bench/subject.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace roof {

enum class Role { bandwidth, compute, latency, step };
constexpr EnumNames<Role::step> names_of(Role)
{
    return {"role", {"bandwidth", "compute", "latency", "step"}};
}

/// One axis of a bench. `allowed` lists its values. If that is empty, the axis takes whole numbers from `min` to `max`
/// (if `numeric`) or any text. `defaults`, never empty, holds the values measured when the plan names none.
struct Axis {
    std::string name;
    std::string meaning;  ///< with its unit
    std::vector<std::string> defaults;
    std::vector<std::string> allowed;
    bool numeric = false;
    long long min = 1;
    long long max = 1;
    /// Keywords in place of numbers; they are resolved from earlier rows of the plan (ert/method/plan/scheduler.hpp).
    std::vector<std::string> keywords{};
    std::vector<std::string_view> file_endings{};  ///< the names of files that end so are values beside `allowed`
    bool takes_map = false;                        ///< a YAML map in a plan is a value too, as its text
    /// Of other texts than `allowed`: the value that such a text is in a row. Throws InputError if it is none.
    std::function<std::string(const std::string&)> canonical{};
    std::string text_meaning{};  ///< of these texts, with an example
    bool optional = false;       ///< left out of points unless the plan names it; then the first of `defaults` applies
    /// The value of a point for which the plan names none, by its earlier axes, instead of `defaults`; empty: it is
    /// left out.
    std::function<std::string(const Point&)> otherwise{};
};

/// An axis of these words, all of which are measured by default.
inline Axis word_axis(std::string name, std::string meaning, const std::vector<std::string>& words)
{
    return {std::move(name), std::move(meaning), words, words};
}
/// An axis of whole numbers from `min` to `max`.
inline Axis number_axis(std::string name, std::string meaning, std::vector<std::string> defaults, long long min,
                        long long max)
{
    return {std::move(name), std::move(meaning), std::move(defaults), {}, true, min, max};
}

/// What is the same for a bench on every machine.
struct BenchTraits {
    std::string name;
    Role role = Role::step;
    std::string device_kind;  ///< "cpu" or "gpu"
    std::string description;  ///< what the number means; stored with each row and shown in the report's footnotes
    Known time_known = Known::measured;  ///< emulated on an emulated device, which tests have
};

class Bench {
  public:
    explicit Bench(BenchTraits traits) : traits_(std::move(traits)) {}
    virtual ~Bench() = default;

    const std::string& name() const { return traits_.name; }
    Role role() const { return traits_.role; }
    const std::string& device_kind() const { return traits_.device_kind; }
    const std::string& description() const { return traits_.description; }
    Known time_known() const { return traits_.time_known; }

    /// The axes on this machine: the defaults may depend on its instruction sets, cores and caches.
    virtual std::vector<Axis> axes(const Machine& machine) const = 0;
    /// The reason why the point cannot be measured on this machine and device, or none. Cheap; makes no subject. Called
    /// for every item of a plan before the first is measured. Throws InputError for a value that is wrong on every
    /// machine.
    virtual std::optional<std::string> unsupported_reason(const Point& point, const Machine& machine,
                                                          const Device& device) const = 0;
    /// Throws Unsupported with unsupported_reason(), and what create() throws.
    std::unique_ptr<Subject> make(const Point& point, const Machine& machine, const Device& device) const;
    /// The subject of a point that has no unsupported_reason(). Throws Unsupported, OutOfMemory, InputError or Error.
    virtual std::unique_ptr<Subject> create(const Point& point, const Machine& machine, const Device& device) const = 0;

  private:
    BenchTraits traits_;
};

}  // namespace roof
