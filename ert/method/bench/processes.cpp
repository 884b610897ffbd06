#include "ert/method/bench/processes.hpp"

namespace roof {

std::vector<int> processes_of(const std::vector<Sample>& samples)
{
    std::vector<int> processes;
    bool was_warmup = true;
    for (const Sample& sample : samples) {
        const bool is_warmup = !sample.used && sample.disturbance.empty() && sample.window.empty();
        const int last = processes.empty() ? 0 : processes.back();
        processes.push_back(is_warmup && !was_warmup ? last + 1 : last);
        was_warmup = is_warmup;
    }
    return processes;
}

int processes_of(const Measurement& row)
{
    // A recording of another program leaves steps out in between.
    return row.samples.empty() || row.bench != "train" ? 1 : processes_of(row.samples).back() + 1;
}

}  // namespace roof
