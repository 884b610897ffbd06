#include "ert/method/bench/measurement.hpp"

namespace roof {

/// Under strong scaling the batch is the total of all ranks.
double Measurement::images() const
{
    if (!point.has("batch")) return 0;
    const bool strong = point.has("scaling") && point.text("scaling") == "strong";
    return static_cast<double>(point.integer("batch")) * (strong ? 1 : ranks());
}

double Measurement::images_per_second() const
{
    const Seconds step = seconds.median + data.median;
    return step.value > 0 ? images() / step.value : 0;
}

std::vector<double> Measurement::losses() const
{
    std::vector<double> values;
    for (const Sample& sample : samples)
        if (sample.loss) values.push_back(*sample.loss);
    return values;
}

}  // namespace roof
