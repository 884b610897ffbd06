#include "ert/method/stopping.hpp"

#include "ert/method/estimate.hpp"

namespace roof {

void StoppingRule::add(Seconds sample)
{
    samples_.push_back(sample.value);
    spent_ += sample;
}

bool StoppingRule::finished() const
{
    const int n = static_cast<int>(samples_.size());
    if (n < options_.least) return false;
    if (n >= options_.most || spent_ >= options_.budget) return true;
    // Below six samples the range covers the median with less than 95%: too early to be content.
    return n >= 6 && Estimate<Seconds>::of(samples_).relative_half_width() <= options_.interval;
}

}  // namespace roof
