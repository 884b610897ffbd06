// What is to be measured next, given the rows so far. Most plans say it at once. Some items rest on what others find: a
// working set may be written as `levels` or `edges`, and stands for sizes that the sweep before has shown; and a ceiling
// whose rounds disagree may be measured again.
#pragma once

#include "ert/method/plan/plan.hpp"

#include <span>
#include <string>
#include <vector>

namespace roof {

struct Measurement;

class Scheduler {
  public:
    /// These items, and nothing after them.
    explicit Scheduler(std::vector<Item> items) : written_(std::move(items)) {}
    /// The plan's: its written items in their rounds; then those that rest on them, in as many rounds. Throws InputError, as
    /// `expand` does.
    Scheduler(Plan plan, const BenchRegistry& registry, Settings settings = {}, std::string only = {});

    /// Those without a row that come next; empty when nothing is left to do. A function of the rows alone: a run that was
    /// stopped goes on with the same items.
    std::vector<Item> next(std::span<const Measurement> rows) const;

    /// With nothing left to do, as long as the plan has rounds left: another round to each ceiling that is not steady. Time
    /// well spent, but the rows are complete without it.
    std::vector<Item> further(std::span<const Measurement> rows) const;

    /// Of the run, after which no extra round begins; 0: no limit.
    Seconds extra_rounds_until() const { return plan_.extra_rounds_until; }

    /// Known before anything is measured.
    const std::vector<Item>& written() const { return written_; }

  private:
    std::vector<Item> found_by(std::span<const Measurement> rows) const;

    std::vector<Item> written_;
    Plan plan_;
    const BenchRegistry* registry_ = nullptr;  ///< null: nothing rests on what is found
    Settings settings_;
    std::string only_;
};

}  // namespace roof
