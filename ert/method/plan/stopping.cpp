#include "ert/method/plan/stopping.hpp"

#include "ert/base/estimate.hpp"

namespace roof {

void StoppingRule::add(Seconds sample)
{
    samples_.push_back(sample.value);
    spent_ += sample;
}

void StoppingRule::discard(Seconds sample)
{
    lost_ += sample;
    ++discarded_;
}

bool StoppingRule::finished() const
{
    constexpr double budgets = 4;  // for disturbed launches
    if (discarded_ > options_.max_samples || (discarded_ > 0 && lost_ >= options_.budget * budgets)) return true;
    const int n = kept();
    if (n < options_.min_samples) return false;
    if (n >= options_.max_samples || spent_ >= options_.budget) return true;
    // With fewer than six samples no interval covers the median with 95% probability.
    return n >= 6 && Estimate<Seconds>::of(samples_).relative_half_width() <= options_.interval;
}

}  // namespace roof
