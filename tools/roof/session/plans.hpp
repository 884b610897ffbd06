// Plans: of a file, compiled into the binary, or from the options of `roof run`.
#pragma once

#include "ert/method/bench/bench_registry.hpp"
#include "ert/method/plan/plan.hpp"
#include "tools/roof/console/options.hpp"

#include <nlohmann/json_fwd.hpp>

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace roof {

/// Names of the built-in plans, such as "calibrate/cpu": their paths under configs/ without the suffix.
std::vector<std::string> built_in_plans();

/// `file_or_name`: the path of a file, else the name of a built-in plan. Throws InputError listing the plans.
Plan find_plan(const std::string& file_or_name);

/// The YAML of a plan of this item alone, without a profile.
std::string plan_of(const Item& item);

/// The options of `run`, `sweep` and `calibrate` that take the place of a plan's stopping rule; empty: as the plan
/// says.
struct StoppingWords {
    OptionParser& parser;
    std::string& warmup = parser.value("--warmup");
    std::string& samples = parser.value("--samples");
    std::string& min_time = parser.value("--min-time");    ///< seconds
    std::string& max_noise = parser.value("--max-noise");  ///< a share
    std::string& timeout = parser.value("--timeout");      ///< seconds

    static constexpr std::array names{"--warmup", "--samples", "--min-time", "--max-noise", "--timeout"};
};
/// Of each entry, with a comment on it in the plan's text. Throws InputError.
void apply(const StoppingWords& words, Plan& plan);

// The options of `roof run` as a plan, so that a run is measured, kept and continued like a sweep.

/// Declares an option for each axis of the bench `train` that has one of the same name: "bucket_mb" is --bucket-mb.
std::map<std::string, std::string*> axis_options(OptionParser& parser);

/// The options as typed. Lists are separated by commas; for an empty value the bench decides.
struct TrainOptions {
    OptionParser& parser;
    std::string& model = parser.required("MODEL");
    std::string& batch = parser.required("--batch");
    std::string& device = parser.value("--device", "cpu");
    std::string& steps = parser.value("--steps");
    StoppingWords stopping{parser};
    std::string& sustain = parser.value("--sustain");  ///< seconds
    std::map<std::string, std::string*> axes = axis_options(parser);
    bool& no_graph = parser.flag("--no-graph");            ///< on a GPU: kernel by kernel
    bool& deterministic = parser.flag("--deterministic");  ///< on a GPU: only algorithms with reproducible bits
    bool& profile = parser.flag("--profile");
    bool& profile_steps = parser.flag("--profile-steps");  ///< without the counters of each kernel
};

/// The legal values of an option of `roof run`, of every bench that trains a model; empty for numbers and any text.
/// Opens all parts.
std::vector<std::string> trained_values(const BenchRegistry& registry, std::string_view option);

/// "bucket_mb" -> "--bucket-mb".
std::string option_of(std::string_view axis);

/// The number of steps; 0 if the stopping rule decides. Throws InputError unless it is an integer from 1 to a million.
int steps_of(const TrainOptions& options);

/// With --steps N: exactly N steps. The first is not timed unless it is the only one. Throws InputError.
Plan train_plan(const TrainOptions& options);

// What a plan does (explain.cpp): the parts of a training step, their operations, layouts, reorders and bytes. Nothing
// is measured.

/// The plan of one item's subject; `reason` is set if there is none.
struct Explanation {
    std::string item;
    std::string reason;
    std::string variant;
    Bytes memory;
    std::vector<TimedPart> parts;
};

/// Creates the subject of the item and destroys it again. Throws only InputError.
Explanation explain(const Item& item, const BenchRegistry& registry);

std::string explanation_text(const Explanation& explanation);
nlohmann::json explanation_json(const Explanation& explanation);

}  // namespace roof
