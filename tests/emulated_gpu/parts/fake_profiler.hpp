// A profiler that records nothing, for steps on emulated GPUs: launches are told of, as CUPTI's are, and repeated as
// for counters.
#pragma once

#include "ert/method/bench/bench_registry.hpp"

namespace roof::emulated {

inline Profiler fake_profiler()
{
    constexpr int passes = 3;
    return {"gpu", [](const Device&, const std::vector<TimedPart>&) {
                return Profile{.listener = {[](std::size_t) {}, [] {}},
                               .trace = [](const Launch& launch) { launch(); },
                               .count =
                                   [](const Launch& launch) {
                                       for (int pass = 0; pass < passes; ++pass) launch();
                                       return std::vector<std::string>{"a fake profiler saw the launches"};
                                   },
                               .write = [](const std::filesystem::path&, const std::string&) {}};
            }};
}

}  // namespace roof::emulated
