// The loop that a calibration, a run and a sweep share: the items of a plan, one after the other, into a results folder.
#pragma once

#include "ert/method/bench/measurement.hpp"
#include "ert/method/plan/scheduler.hpp"
#include "tools/roof/console/context.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace roof {

/// What to measure and where the rows go.
struct Job {
    std::string plan_text;  ///< kept in the folder; a folder holds one plan
    Scheduler scheduler;
    std::filesystem::path out;  ///< the folder itself; empty: one is chosen under `Context::results`
    /// Told the folder before anything is measured, and whether it has rows already; may be empty.
    std::function<void(const std::filesystem::path& folder, bool has_rows)> opened{};
};

/// What a listener is told while the loop runs; a hook left empty hears nothing.
struct Listener {
    std::function<void(const Item& item, std::size_t index, std::size_t total)> begins;
    std::function<void(const Sample& sample, int launches_so_far)> sample;
    std::function<void(const Measurement& row)> row;
    std::function<void()> ends;
};

struct Session {
    std::filesystem::path folder;
    bool interrupted = false;

    /// In the order in which they were measured, those of an earlier session included; none if interrupted.
    std::vector<Measurement> rows;

    /// 0 every item has a row and none failed, 1 some row failed, 130 interrupted.
    int status() const;
};

/// Measures what the folder does not hold yet, and appends each row as it is measured. A person's interrupt drops the row
/// under way and says on `context.err` how to continue. Throws InputError.
Session measure_all(const Job& job, Context& context, const Listener& listener);

}  // namespace roof
