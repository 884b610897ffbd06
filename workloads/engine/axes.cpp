#include "workloads/engine/axes.hpp"

#include "ert/base/error.hpp"
#include "workloads/model/models.hpp"

#include <cmath>
#include <utility>

namespace roof::engine {

Axis text_axis(std::string name, std::string meaning, Values defaults, Values allowed)
{
    Axis axis;
    axis.name = std::move(name);
    axis.meaning = std::move(meaning);
    axis.defaults = std::move(defaults);
    axis.allowed = std::move(allowed);
    return axis;
}

Axis number_axis(std::string name, std::string meaning, Values defaults, long long max)
{
    Axis axis = text_axis(std::move(name), std::move(meaning), std::move(defaults), {});
    axis.numeric = true;
    axis.max = max;
    return axis;
}

std::vector<Axis> training_axes(const TrainingAxes& of_engine)
{
    const Values models = model::model_names();
    return {text_axis("model", "network", models, models),
            number_axis("batch", "images", of_engine.batches, 65536),
            text_axis("precision",
                      "number format of activations and of the weights that are read; " + of_engine.precision_note +
                          "sums and updates are fp32",
                      of_engine.precisions, of_engine.allowed_precisions),
            text_axis("algorithm", "of convolutions; auto: of each pass of each shape the fastest, tried once",
                      {of_engine.algorithms.front()}, of_engine.algorithms),
            text_axis("data", "synthetic, hashed, or a folder of class/image.jpg", {"synthetic"}, {}),
            text_axis("parameters", "start of training; hashed: reproducible in any language, without dropout",
                      {"random"}, {"random", "hashed"}),
            text_axis("lr", "learning rate", {"0.01"}, {})};
}

Parameters parameters_of(const Point& point)
{
    return point.text("parameters") == "hashed" ? Parameters::hashed : Parameters::random;
}

float learning_rate(const Point& point)
{
    const double rate = point.number("lr");
    if (!std::isfinite(rate) || rate < 0)
        throw InputError("lr: a learning rate is no less than 0, not " + point.text("lr"));
    return static_cast<float>(rate);
}

}  // namespace roof::engine
