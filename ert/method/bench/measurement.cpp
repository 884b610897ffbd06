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

}  // namespace roof
