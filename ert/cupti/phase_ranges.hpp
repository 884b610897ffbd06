// Counts a step by phases: a new range begins where the phase changes. Ranges are numbered, because their names must
// differ.
#pragma once

#include "ert/cupti/counting.hpp"

#include <map>
#include <string>
#include <vector>

namespace roof::cupti {

class PhaseRanges {
  public:
    explicit PhaseRanges(Counting& counting) : counting_(counting) {}

    void enter(const std::string& phase)
    {
        if (phase == phase_) return;
        leave();
        counting_.push(std::to_string(begun_++) + ' ' + phase);
        phase_ = phase;
    }
    /// Call it before the launch ends.
    void leave()
    {
        if (!phase_.empty()) counting_.pop();
        phase_.clear();
    }

    /// {phase: values}, summed over the ranges of each phase.
    static std::map<std::string, std::vector<double>> add_up(const std::vector<CountedRange>& stretches)
    {
        std::map<std::string, std::vector<double>> phases;
        for (const CountedRange& stretch : stretches) {
            std::vector<double>& sums = phases[stretch.name.substr(stretch.name.find(' ') + 1)];
            sums.resize(stretch.values.size());
            for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += stretch.values[i];
        }
        return phases;
    }

  private:
    Counting& counting_;
    std::string phase_;  ///< current phase; empty between ranges
    int begun_ = 0;
};

}  // namespace roof::cupti
