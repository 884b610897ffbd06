// Decides what to measure next, given the rows so far. Most items are known from the plan. Some depend on earlier rows: a working set
// given as `levels` or `edges` is resolved from a sweep, and an unsteady ceiling may get extra rounds.
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
    explicit Scheduler(std::vector<Item> items) : planned_(std::move(items)) {}
    /// The plan's items in their rounds, then the items with keywords, in as many rounds. Throws InputError, as `expand` does.
    Scheduler(Plan plan, const BenchRegistry& registry, const Settings& settings = {}, std::string only = {});

    /// The next items without a row; empty when the plan is complete. A function of the rows alone: a stopped run continues with
    /// the same items.
    std::vector<Item> next(std::span<const Measurement> rows) const;

    /// After the plan is complete: one more round of each ceiling that is not steady, while the plan allows. Optional.
    std::vector<Item> extra_rounds(std::span<const Measurement> rows) const;

    /// Time of the run after which no extra round begins; 0: no limit.
    Seconds extra_rounds_until() const { return plan_.extra_rounds_until; }

    /// The items known before anything is measured.
    const std::vector<Item>& planned() const { return planned_; }

  private:
    std::vector<Item> resolved_by(std::span<const Measurement> rows) const;

    std::vector<Item> planned_;
    std::vector<Item> open_;
    Plan plan_;
    const BenchRegistry* registry_ = nullptr;  ///< null: no keywords and no extra rounds
    std::string only_;
};

}  // namespace roof
