// What is to be measured next, given the rows so far. Most plans say it at once. Some items rest on what others find: a
// working set may be written as `levels` or `edges`, and stands for sizes that the sweep before has shown; and a ceiling
// whose visits disagree is visited again.
#pragma once

#include "ert/method/plan.hpp"

#include <span>
#include <string>
#include <vector>

namespace roof {

struct Measurement;

class Agenda {
  public:
    /// These items, and nothing after them.
    explicit Agenda(std::vector<Item> items) : written_(std::move(items)) {}
    /// The plan's: its written items in their rounds; then those that rest on them, in as many rounds; then, as long as the
    /// plan has rounds left, another visit to each ceiling that is not steady. Throws InputError, as `expand` does.
    Agenda(Plan plan, const Lab& lab, Settings settings = {}, std::string only = {});

    /// Those without a row that come next; empty when nothing is left to do. A function of the rows alone: a run that was
    /// stopped goes on with the same items.
    std::vector<Item> next(std::span<const Measurement> rows) const;

    /// Known before anything is measured.
    const std::vector<Item>& written() const { return written_; }

  private:
    std::vector<Item> found_by(std::span<const Measurement> rows) const;
    std::vector<Item> again(std::span<const Measurement> rows, const std::vector<Item>& items) const;

    std::vector<Item> written_;
    Plan plan_;
    const Lab* lab_ = nullptr;  ///< null: nothing rests on what is found
    Settings settings_;
    std::string only_;
};

}  // namespace roof
