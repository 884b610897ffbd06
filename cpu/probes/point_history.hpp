// What a bench remembers of the points it made. A calibration rounds each point several times: each round is to find other
// memory, and a result that was right once need not be computed again.
#pragma once

#include <map>
#include <set>
#include <string>

namespace roof::cpu {

class PointHistory {
  public:
    /// How often it was called for this point before.
    int next(const std::string& point) { return calls_[point]++; }

    bool is_checked(const std::string& what) const { return checked_.contains(what); }
    void checked(const std::string& what) { checked_.insert(what); }

  private:
    std::map<std::string, int> calls_;
    std::set<std::string> checked_;
};

}  // namespace roof::cpu
