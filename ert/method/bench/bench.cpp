#include "ert/method/bench/bench.hpp"

#include "ert/base/error.hpp"

namespace roof {

Axis word_axis(std::string name, std::string meaning, std::vector<std::string> words)
{
    Axis axis{.name = std::move(name), .meaning = std::move(meaning), .defaults = words, .allowed = {}};
    axis.allowed = std::move(words);
    return axis;
}

Axis number_axis(std::string name, std::string meaning, std::vector<std::string> defaults, long long min, long long max)
{
    return {.name = std::move(name),
            .meaning = std::move(meaning),
            .defaults = std::move(defaults),
            .allowed = {},
            .numeric = true,
            .min = min,
            .max = max};
}

std::unique_ptr<Subject> Bench::make(const Point& point, const Machine& machine, const Device& device) const
{
    if (const auto reason = unsupported_reason(point, machine, device)) throw Unsupported(*reason);
    return create(point, machine, device);
}

}  // namespace roof
