// The phases of a step as stretches to be counted: a new one begins where the phase changes. Stretches are numbered, for no two may have
// the same name.
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
    /// Before the launch is over.
    void leave()
    {
        if (!phase_.empty()) counting_.pop();
        phase_.clear();
    }

    /// {phase: values}, added up over the stretches of each.
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
    std::string phase_;  ///< at work; empty between stretches
    int begun_ = 0;
};

}  // namespace roof::cupti
