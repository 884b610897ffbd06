// Converts the options of `roof run` into a plan, so a run is measured, kept and continued like a sweep.
#pragma once

#include "ert/method/bench/bench_registry.hpp"
#include "ert/method/plan/plan.hpp"

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace roof {

/// Axes of the bench `train` that have an option of the same name: "bucket_mb" is --bucket-mb.
inline constexpr std::array<std::string_view, 11> train_axes{
    "precision", "algorithm", "data",          "parameters", "lr",        "threads",
    "ranks",     "scaling",   "communication", "bucket_mb",  "batch_norm"};

/// The options as typed. Lists are separated by commas; for an empty value the bench decides.
struct TrainOptions {
    std::string model;
    std::string batch;
    std::string device = "cpu";
    std::string steps;
    std::map<std::string_view, std::string> axes{
        {"precision", "fp32"}, {"data", "synthetic"}, {"parameters", "random"}};  ///< the values of train_axes
    bool profile = false;
    bool profile_steps = false;  ///< without the counters of each kernel
    bool no_graph = false;       ///< on a GPU: kernel by kernel
    bool deterministic = false;  ///< on a GPU: only algorithms with reproducible bits
};

/// The models that any bench of the registry can train. Opens all parts.
std::vector<std::string> trained_models(const BenchRegistry& registry);

/// "bucket_mb" -> "--bucket-mb".
std::string option_of(std::string_view axis);

/// The number of steps; 0 if the stopping rule decides. Throws InputError unless it is an integer from 1 to a million.
int steps_of(const TrainOptions& options);

/// With --steps N: exactly N steps. The first is not timed unless it is the only one. Throws InputError.
Plan train_plan(const TrainOptions& options);

}  // namespace roof
