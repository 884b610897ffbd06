// Counts how often a bench has made each point. A calibration measures each point in several rounds. Each round uses
// different memory, and a result is checked only once.
#pragma once

#include <map>
#include <set>
#include <string>

namespace roof::cpu {

class PointHistory {
  public:
    /// The number of earlier calls for this point.
    int next(const std::string& point) { return calls_[point]++; }

    bool is_checked(const std::string& what) const { return checked_.contains(what); }
    void checked(const std::string& what) { checked_.insert(what); }

  private:
    std::map<std::string, int> calls_;
    std::set<std::string> checked_;
};

}  // namespace roof::cpu
