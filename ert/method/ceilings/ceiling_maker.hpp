// From what the visits to a point sustain to the ceiling that it is: how its rate, interval and steadiness are told.
#pragma once

#include "ert/method/ceilings/between_visits.hpp"
#include "ert/method/ceilings/ceiling.hpp"
#include "ert/method/ceilings/core_clock.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace roof {

/// The point's word on the axis, or another where it has none.
std::string text_or(const Point& point, std::string_view axis, std::string_view otherwise);

/// The thread count; 1 where the point has none.
int threads_of(const Point& point);

/// What is unusual about a row, in words; empty if nothing is.
std::string condition_of(const Point& point);

class CeilingMaker {
  public:
    /// `levels`: of every device and thread count, to tell which points share their weather.
    CeilingMaker(std::span<const Measurement> rows, const std::vector<Sustained>& points,
                 const std::vector<MeasuredLevel>& levels);

    Ceiling make(const Sustained& point, const std::string& level) const;
    Ceiling make(const Sustained& point, const MeasuredLevel& level) const;

  private:
    void set_rate(const Sustained& point, Ceiling& ceiling) const;

    CoreClock clocks_;
    BetweenVisits rates_;
    BetweenVisits rates_per_clock_;
};

}  // namespace roof
