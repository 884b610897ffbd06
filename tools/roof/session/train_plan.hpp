// The options of `roof run` as a plan: a run is measured, kept and continued like a sweep.
#pragma once

#include "ert/method/plan/plan.hpp"

#include <array>
#include <map>
#include <string>
#include <string_view>

namespace roof {

/// Axes of the bench `train` that have an option of the same name: "bucket_mb" is --bucket-mb.
inline constexpr std::array<std::string_view, 11> train_axes{
    "precision", "algorithm", "data",          "parameters", "lr",        "threads",
    "ranks",     "scaling",   "communication", "bucket_mb",  "batch_norm"};

/// As typed; lists are separated by commas, and an empty value is left to the bench.
struct TrainOptions {
    std::string model;
    std::string batch;
    std::string device = "cpu";
    std::string steps;
    std::map<std::string_view, std::string> axes{
        {"precision", "fp32"}, {"data", "synthetic"}, {"parameters", "random"}};  ///< those of train_axes
    bool profile = false;
    bool no_graph = false;       ///< on a GPU: launch by launch
    bool deterministic = false;  ///< on a GPU: only algorithms that give the same bits each time
};

/// "bucket_mb" -> "--bucket-mb".
std::string option_of(std::string_view axis);

/// Steps in total, 0 if the stopping rule decides. Throws InputError unless it is a whole number from 1 to a million.
int steps_of(const TrainOptions& options);

/// With --steps N: exactly N steps, of which the first is not timed unless it is the only one. Throws InputError.
Plan train_plan(const TrainOptions& options);

}  // namespace roof
