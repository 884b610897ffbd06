#include "ert/method/bench/measurement.hpp"

namespace roof {

/// Under strong scaling the batch is the total of all ranks.
double Measurement::images() const
{
    if (!point.has("batch")) return 0;
    const bool strong = point.has("scaling") && point.text("scaling") == "strong";
    return static_cast<double>(point.integer("batch")) * (strong ? 1 : ranks());
}

Spread Measurement::images_per_second() const
{
    const Spread step(seconds);
    const double wait = data.median.value;
    if (!(step.median + wait > 0)) return {};
    return images() / Spread{step.median + wait, step.low + wait, step.high + wait};
}

std::vector<double> Measurement::losses() const
{
    std::vector<double> values;
    for (const Sample& sample : samples)
        if (sample.loss) values.push_back(*sample.loss);
    return values;
}

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
