// The options of `roof run` as a plan, so that a run is measured, kept and continued like any sweep.
#pragma once

#include "ert/method/plan/plan.hpp"

#include <string>

namespace roof {

/// As typed; lists are separated by commas, and what is empty is left to the bench.
struct TrainOptions {
    std::string model;
    std::string batch;
    std::string device = "cpu";
    std::string precision = "fp32";
    std::string algorithm;
    std::string data = "synthetic";
    std::string parameters = "random";
    std::string lr;
    std::string threads;
    std::string ranks;
    std::string scaling;
    std::string communication;
    std::string bucket_mb;
    std::string batch_norm;
    std::string steps;
    bool profile = false;
    bool no_graph = false;       ///< on a GPU: launch by launch
    bool deterministic = false;  ///< on a GPU: only what gives the same bits each time
};

/// Steps in total, 0 if the stopping rule decides. Throws InputError unless it is a whole number from 1 to a million.
int steps_of(const TrainOptions& options);

/// With --steps N: exactly N steps, the first not timed unless it is the only one. Throws InputError.
Plan train_plan(const TrainOptions& options);

}  // namespace roof
