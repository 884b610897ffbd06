#include "workloads/engine/axes.hpp"

#include "ert/base/error.hpp"

#include <cmath>
#include <utility>

namespace roof::engine {

Axis words(std::string name, std::string meaning, Words usual, Words legal)
{
    Axis axis;
    axis.name = std::move(name);
    axis.meaning = std::move(meaning);
    axis.defaults = std::move(usual);
    axis.allowed = std::move(legal);
    return axis;
}

Axis numbers(std::string name, std::string meaning, Words usual, long long most)
{
    Axis axis = words(std::move(name), std::move(meaning), std::move(usual), {});
    axis.numeric = true;
    axis.max = most;
    return axis;
}

float learning_rate(const Point& point)
{
    const double rate = point.number("lr");
    if (!std::isfinite(rate) || rate < 0)
        throw InputError("lr: a learning rate is no less than 0, not " + point.text("lr"));
    return static_cast<float>(rate);
}

}  // namespace roof::engine
