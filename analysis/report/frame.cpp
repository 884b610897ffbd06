#include "analysis/report/frame.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace roof::analysis {

namespace {

/// Decades below the first ridge point (for elementwise work) and above the last one (for convolutions).
constexpr int decades_below_ridge = 1;
constexpr int decades_above_ridge = 2;

}  // namespace

void Extent::add(double value)
{
    if (!(value > 0) || !std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
}

double power_below(double base, double value)
{
    return std::pow(base, std::floor(std::log(value) / std::log(base) + 1e-9));
}

double power_above(double base, double value)
{
    return std::pow(base, std::ceil(std::log(value) / std::log(base) - 1e-9));
}

std::optional<Frame> frame_of(const Ceilings& ceilings)
{
    Extent bandwidth;
    Extent compute;
    for (const std::string& device : devices_of(ceilings)) {
        const Roofs roofs = roofs_of(ceilings, device);
        for (const Ceiling* roof : roofs.levels) bandwidth.add(roof->rate.median.value);
        for (const Ceiling* roof : roofs.compute) compute.add(roof->rate.median.value);
        for (const Ceiling* roof : roofs.mixes) compute.add(roof->rate.median.value);
    }
    if (bandwidth.empty() || compute.empty()) return std::nullopt;
    const Extent intensity{power_below(10, compute.low / bandwidth.high) * std::pow(10.0, -decades_below_ridge),
                           power_above(10, compute.high / bandwidth.low) * std::pow(10.0, decades_above_ridge)};
    return Frame{
        intensity,
        {power_below(10, std::min(compute.low, bandwidth.low * intensity.low)), power_above(10, compute.high * 1.25)}};
}

std::optional<Frame> fitted_frame(const Roofs& roofs, std::vector<const Placement*> points)
{
    const double margin = std::pow(10, 0.25);
    constexpr double most_of_the_time = 0.98;
    Extent intensity;
    Extent rate;
    for (const Ceiling* roof : roofs.compute) rate.add(roof->rate.median.value);
    if (!roofs.levels.empty() && !rate.empty()) intensity.add(rate.high / roofs.levels.back()->rate.median.value);
    std::erase_if(points, [](const Placement* p) { return !(p->flops.value > 0) || p->levels.empty(); });
    std::ranges::stable_sort(points, std::greater{}, [](const Placement* p) { return p->seconds.median; });
    Seconds total{};
    for (const Placement* p : points) total += p->seconds.median;
    Seconds sum{};
    for (const Placement* p : points) {
        if (sum > most_of_the_time * total) break;
        sum += p->seconds.median;
        rate.add(p->rate.median.value);
        intensity.add(p->levels.back().intensity_high.value);
    }
    if (points.empty() || intensity.empty()) return std::nullopt;
    return Frame{{intensity.low / margin, intensity.high * margin}, {rate.low / margin, rate.high * margin}};
}

std::vector<double> decade_ticks(double low, double high)
{
    std::vector<double> ticks;
    for (double decade = power_below(10, low); decade <= high; decade *= 10)
        for (const double step : {1.0, 2.0, 5.0})
            if ((step == 1 || high < 1000 * low) && decade * step >= low && decade * step <= high)
                ticks.push_back(decade * step);
    return ticks;
}

double LogScale::operator()(double value) const
{
    const double inside = std::clamp(std::isfinite(value) ? value : low, low, high);
    return from + (to - from) * std::log(inside / low) / std::log(high / low);
}

}  // namespace roof::analysis
