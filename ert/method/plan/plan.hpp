// A plan: read from YAML, expanded to items. An error names file, line, key and the legal values, and nothing is
// measured.
#pragma once

#include "ert/method/bench/bench_registry.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace roof {

/// When to stop repeating a launch, as written in a plan under `measure:`.
struct StoppingOptions {
    int warmup = 1;          ///< launches that are not counted
    int min_samples = 5;     ///< taken in any case
    int max_samples = 1000;  ///< samples
    double interval = 0.01;  ///< of a probe: stop when half the width of its interval is at most this share of it
    Seconds budget{1.0};     ///< stop when the launches together have taken this long
    Seconds min_time{};      ///< and not before they have taken this long
    int processes = 1;       ///< of a step: at most so many, one after another, share the samples and the budget
    double max_noise = 0;    ///< takes the place of `interval`; of a step: as has_enough_processes(); 0: none
    Seconds sustain{};       ///< then repeat the launches for so long, for what lasts (measure.hpp); 0: not at all
};

/// One (bench, point, device) after expansion.
struct Item {
    const Bench* bench = nullptr;  ///< null if it cannot be run here; then `missing` is the reason
    std::string bench_name;
    Role role = Role::step;  ///< of a bench of that name on any kind of device
    Point point;
    std::string device;
    StoppingOptions stopping;
    std::string missing;
    std::string where;  ///< the plan's entry, "file:line"
    Profiling profile = Profiling::off;
    bool is_open = false;  ///< the working set is a keyword (ert/method/plan/scheduler.hpp)

    std::string id() const { return bench_name + " " + device + " " + point.str(); }
};

/// One entry of the plan's `run:` list.
struct PlanEntry {
    std::string bench;
    std::string device;
    std::map<std::string, std::vector<std::string>> axes;
    StoppingOptions stopping;
    std::string where;                              ///< "file:line"
    std::map<std::string, std::string> axis_where;  ///< "file:line" of each axis; may lack some
    Profiling profile = Profiling::off;
};

struct Plan {
    std::string name;
    std::string description;
    std::vector<PlanEntry> entries;
    bool quick = false;            ///< a calibration that is used only where there is no full one
    int rounds = 1;                ///< of the whole list (ert/method/ceilings/point_summary.hpp)
    int max_rounds = 1;            ///< of an item whose ceiling is not steady after that
    Seconds extra_rounds_until{};  ///< no extra round begins later in the run; 0: no limit
    Seconds end_after{};           ///< nothing begins later in the run, and what is left is `skipped`; 0: no limit
    std::string source;            ///< the YAML text, kept in the results folder
};

/// Axis values from the command line; they replace that axis in every entry whose bench has it.
using Settings = std::map<std::string, std::vector<std::string>>;

/// Throws InputError.
Plan load_plan(const std::filesystem::path& file);
Plan parse_plan(const std::string& text, const std::string& name);

/// Every combination of every entry's axes, in the order written, the last axis fastest; those that `matching` keeps. A
/// bench or device that this build or machine lacks gives items with a reason. Throws InputError for an unknown name or
/// value, and where no item is left but open ones.
std::vector<Item> expand(const Plan& plan, const BenchRegistry& registry, const Settings& settings = {},
                         const std::string& only = {});

/// `only`: a whole id, or a glob that matches anywhere in an id; empty takes all. Open items are kept.
std::vector<Item> matching(std::vector<Item> items, const std::string& only);

/// Calls unsupported_reason() for each item, so that a value that is wrong everywhere (a missing folder) ends the run
/// before anything is measured. Throws InputError with the entry's place.
void check_items(const std::vector<Item>& items, const BenchRegistry& registry);

/// The value as a row has it, checked against its axis. Throws InputError with `where`, the key and the legal values.
std::string checked_value(const Axis& axis, const std::string& value, const std::string& where);

}  // namespace roof
