#include "workloads/engine/axes.hpp"

#include "ert/base/error.hpp"
#include "workloads/data/source.hpp"
#include "workloads/model/models.hpp"

#include <cmath>

namespace roof::engine {

std::vector<Axis> training_axes(const TrainingAxes& of_engine)
{
    const Values models = model::model_names();
    Axis model{"model", "network: a name, an ONNX file, or its layers", models, models};
    model.file_ending = model::network_ending;
    model.takes_map = true;
    return {model,
            {"batch", "images", of_engine.batches, {}, true, 1, 65536},
            {"precision",
             "number format of activations and of the weights that are read; " + of_engine.precision_note +
                 "sums and updates are fp32",
             of_engine.precisions, of_engine.allowed_precisions},
            {"algorithm",
             "of convolutions; auto: of each pass of each shape the fastest, tried once",
             {of_engine.algorithms.front()},
             of_engine.algorithms},
            {"data", "synthetic, hashed, or a folder of class/image.jpg", {"synthetic"}, {}},
            {"parameters",
             "start of training; hashed: reproducible in any language, without dropout",
             {"random"},
             {"random", "hashed"}},
            {"lr", "learning rate", {"0.01"}, {}}};
}

Parameters parameters_of(const Point& point)
{
    return point.text("parameters") == "hashed" ? Parameters::hashed : Parameters::random;
}

void require_legal(const Point& point)
{
    learning_rate(point);
    data::require_source(point.text("data"));
    if (model::is_own_network(point.text("model"))) model::build_model(point.text("model"));
}

float learning_rate(const Point& point)
{
    const double rate = point.number("lr");
    if (!std::isfinite(rate) || rate < 0)
        throw InputError("lr: a learning rate is no less than 0, not " + point.text("lr"));
    return static_cast<float>(rate);
}

}  // namespace roof::engine
