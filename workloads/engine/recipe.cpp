#include "workloads/engine/recipe.hpp"

#include "ert/base/error.hpp"

#include <cmath>
#include <string>

namespace roof::engine {

void check_losses(Parameters parameters, int classes, std::optional<double> first, double last)
{
    constexpr double sane = 4;  // initial weights that are off by orders of magnitude cost several times as much
    if (!std::isfinite(last)) throw Error("the loss is not finite: training diverged at this learning rate");
    const double guessing = std::log(classes);
    if (parameters == Parameters::random && first && *first > sane * guessing) {
        throw Error("the first loss is " + std::to_string(*first) + ", far above that of guessing, " +
                    std::to_string(guessing));
    }
}

}  // namespace roof::engine
