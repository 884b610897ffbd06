// A plan: YAML in, items out. A mistake names file, line, key and the legal values, and nothing is measured.
#pragma once

#include "ert/method/bench/bench_registry.hpp"
#include "ert/method/plan/stopping.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace roof {

/// One (bench, point, device) after expansion.
struct Item {
    const Bench* bench = nullptr;  ///< null if this binary lacks it; then `missing` says why
    std::string bench_name;
    Point point;
    std::string device;
    StoppingOptions stopping;
    std::string missing;
    std::string where;     ///< the entry it comes from, "file:line"
    bool profile = false;  ///< record, after measuring, what the device does in a launch

    std::string id() const;
};

/// One entry of the plan's `run:` list.
struct PlanEntry {
    std::string bench;
    std::string device;
    std::map<std::string, std::vector<std::string>> axes;
    StoppingOptions stopping;
    std::string where;                              ///< "file:line"
    std::map<std::string, std::string> axis_where;  ///< the same for each axis; may lack some
    bool profile = false;
};

struct Plan {
    std::string name;
    std::string description;
    std::vector<PlanEntry> entries;
    int rounds = 1;  ///< rounds to each item, the whole list once in each round (ert/method/ceilings/point_summary.hpp)
    int max_rounds = 1;            ///< rounds to an item whose ceiling is not steady after that
    Seconds extra_rounds_until{};  ///< of the run; after these no such extra round begins; 0: no limit
    /// Hypotheses about its rows, each a line that the report answers (analysis/estimate/hypothesis.hpp).
    std::vector<std::string> expect;
    std::string source;  ///< the text it was read from, kept in the results folder
};

/// `axis=a,b` settings given on the command line replace that axis in every entry whose bench has it.
using Settings = std::map<std::string, std::vector<std::string>>;

/// Throws InputError.
Plan load_plan(const std::filesystem::path& file);
Plan parse_plan(const std::string& text, const std::string& name);

/// Every combination of every entry's axes, checked against the registry; in the order written, the last axis fastest.
/// `only`: a whole id, or a glob looked for anywhere in the ids; empty takes all. A bench or device this build or machine lacks gives
/// items that say so; a word that is none of the grammar's throws InputError, as does a plan of which nothing is left.
std::vector<Item> expand(const Plan& plan, const BenchRegistry& registry, const Settings& settings = {},
                         const std::string& only = {});

/// Asks each item's bench about its values, so that one that can never be right (a folder that is not there) ends the run before
/// anything is measured, not when its row comes up. Throws InputError with the entry's place.
void check_items(const std::vector<Item>& items, const BenchRegistry& registry);

/// Checks one value against its axis; throws InputError with `where`, the key and the legal values.
void check_value(const Axis& axis, const std::string& value, const std::string& where);

}  // namespace roof
