#include "analysis/table/quantities.hpp"

#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace roof::analysis {

std::string plain_number(double value, int digits)
{
    if (!std::isfinite(value)) return "-";
    if (value == 0) return "0";
    const int before_point = static_cast<int>(std::floor(std::log10(std::abs(value)))) + 1;
    return fmt::format("{:.{}f}", value, std::max(0, digits - before_point));
}

std::string with_interval(const Spread& ends, std::string_view unit, int digits)
{
    constexpr std::array<std::string_view, 4> counted{"images/", "inputs/", "sequences/", "tokens/"};
    const bool is_counted = std::ranges::any_of(counted, [&](std::string_view noun) { return unit.starts_with(noun); });
    const bool has_prefix = ends.median > 0 && !is_counted;
    const auto& [factor, letter] = si_prefix(has_prefix ? ends.median : 1);
    const auto scaled = [&](double value) { return plain_number(value / factor, digits); };
    return fmt::format("{} {}{} [{}, {}]", scaled(ends.median), letter, unit, scaled(ends.low), scaled(ends.high));
}

std::string ratio_text(const Spread& ratio, int decimals)
{
    return fmt::format("{0:.{3}f} [{1:.{3}f}, {2:.{3}f}]", ratio.median, ratio.low, ratio.high, decimals);
}

std::string tick_text(double value, std::string_view unit)
{
    const auto& [factor, letter] = si_prefix(value);
    return fmt::format("{:.3g} {}{}", value / factor, letter, unit);
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

std::string how_many(std::size_t number, std::string_view thing)
{
    return fmt::format("{} {}{}", number, thing, number == 1 ? "" : "s");
}

std::string threads_text(int threads)
{
    return how_many(static_cast<std::size_t>(threads), "thread");
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
