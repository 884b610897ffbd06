#include "analysis/report/frame.hpp"

#include "analysis/roofline/roofs.hpp"

#include <algorithm>
#include <cmath>

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
    Frame frame;
    frame.intensity_low = power_below(10, compute.low / bandwidth.high) * std::pow(10.0, -decades_below_ridge);
    frame.intensity_high = power_above(10, compute.high / bandwidth.low) * std::pow(10.0, decades_above_ridge);
    frame.rate_low = power_below(10, std::min(compute.low, bandwidth.low * frame.intensity_low));
    frame.rate_high = power_above(10, compute.high * 1.25);
    return frame;
}

double LogScale::operator()(double value) const
{
    const double inside = std::clamp(std::isfinite(value) ? value : low, low, high);
    return from + (to - from) * std::log(inside / low) / std::log(high / low);
}

}  // namespace roof::analysis
