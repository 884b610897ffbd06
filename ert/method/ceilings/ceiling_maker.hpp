// Makes a ceiling from the summary of a point: its rate, interval and steadiness.
#pragma once

#include "ert/method/ceilings/ceiling.hpp"
#include "ert/method/ceilings/core_clock.hpp"
#include "ert/method/ceilings/round_spread.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace roof {

/// The point's value on the axis, or `otherwise` where it has none.
std::string text_or(const Point& point, std::string_view axis, std::string_view otherwise);

/// The thread count; 1 where the point has none.
int threads_of(const Point& point);

/// The non-default conditions of a point, for display: "small pages, siblings"; empty for the defaults.
std::string condition_of(const Point& point);

class CeilingMaker {
  public:
    /// `levels`: of every device and thread count; they decide which points share their round spread.
    CeilingMaker(std::span<const Measurement> rows, const std::vector<PointSummary>& points,
                 const std::vector<MeasuredLevel>& levels);

    Ceiling make(const PointSummary& point, const std::string& level) const;
    Ceiling make(const PointSummary& point, const MeasuredLevel& level) const;

  private:
    void set_rate(const PointSummary& point, Ceiling& ceiling) const;

    CoreClock clocks_;
    RoundSpread rates_;
    RoundSpread rates_per_clock_;
};

}  // namespace roof
