#include "analysis/table/quantities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace roof::analysis {

namespace {

struct Prefix {
    double factor;
    std::string_view name;
};

/// The SI prefix that leaves `value` between 1 and 1000. Images are counted, and have none.
Prefix prefix_for(double value, std::string_view unit)
{
    constexpr std::array<Prefix, 9> prefixes{
        {{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}, {1e-3, "m"}, {1e-6, "µ"}, {1e-9, "n"}}};
    if (!(value > 0) || unit == "images/s") return {1, ""};
    const auto found = std::find_if(prefixes.begin(), prefixes.end(), [&](Prefix p) { return value >= p.factor; });
    return found == prefixes.end() ? prefixes.back() : *found;
}

}  // namespace

std::string plain_number(double value, int digits)
{
    if (!std::isfinite(value)) return "-";
    if (value == 0) return "0";
    const int before_point = static_cast<int>(std::floor(std::log10(std::abs(value)))) + 1;
    return fmt::format("{:.{}f}", value, std::max(0, digits - before_point));
}

std::string with_interval(double median, double low, double high, std::string_view unit, int digits)
{
    const Prefix prefix = prefix_for(median, unit);
    const auto scaled = [&](double value) { return plain_number(value / prefix.factor, digits); };
    return fmt::format("{} {}{} [{}, {}]", scaled(median), prefix.name, unit, scaled(low), scaled(high));
}

std::string tick_text(double value, std::string_view unit)
{
    const Prefix prefix = prefix_for(value * 1.0001, unit);
    return fmt::format("{:.3g} {}{}", value / prefix.factor, prefix.name, unit);
}

std::string percent(double share)
{
    if (!std::isfinite(share)) return "-";
    return fmt::format("{:.{}f}%", 100 * share, std::abs(share) < 0.0995 ? 1 : 0);
}

std::string intensity_text(Intensity low, Intensity high)
{
    const std::string first = plain_number(low.value, 2);
    const std::string last = plain_number(high.value, 2);
    return first == last ? last : first + " to " + last;
}

std::string samples_text(int n)
{
    constexpr int least = 6;  // the order statistics of fewer samples do not cover 95%
    return n < least ? fmt::format("range of {}", n) : std::to_string(n);
}

std::string threads_text(int threads)
{
    return fmt::format("{} thread{}", threads, threads == 1 ? "" : "s");
}

std::string processors_text(const std::string& device, int threads)
{
    return device == "cpu" ? threads_text(threads) : device;
}

std::string device_text(const std::string& device, int threads)
{
    return (device == "cpu" ? "cpu, " : "") + processors_text(device, threads);
}

}  // namespace roof::analysis
