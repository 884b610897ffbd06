#include "workloads/cudnn/program/written.hpp"

#include "workloads/cudnn/program/formulas.hpp"
#include "workloads/cudnn/program/layers.hpp"
#include "workloads/engine/initial.hpp"

namespace roof::cudnn {

Written::Written(const model::Graph& graph, const Settings& settings, const Choosers& choosers)
    : graph_(graph), settings_(settings)
{
    Builder build(graph_, settings_, choosers, program_);
    write_step(build);
    parameters_ = build.parameters;
    running_ = build.running;
    images_ = build.images;
    labels_ = build.labels_given;
    algorithms_ = build.algorithms;
    bytes_ = program_.place();
}

Written::Start Written::start() const
{
    Start start;
    start.values.resize(parameters_.values.elements());
    for (std::size_t k = 0; k < parameters_.all().size(); ++k) {
        const Trained& trained = parameters_.all()[k];
        std::vector<float> values(trained.given);
        engine::fill_initial(graph_, static_cast<int>(k), settings_.parameters, values);
        for (std::size_t i = 0; i < trained.count; ++i) {
            if (const auto place = trained.pytorch_place(i)) start.values[trained.first + i] = values[*place];
        }
    }
    if (settings_.storage() == Precision::fp16) start.state.loss_scale = first_loss_scale;
    return start;
}

std::vector<float> Written::in_pytorch_order(std::size_t parameter, std::span<const float> stored) const
{
    const Trained& trained = parameters_.all()[parameter];
    std::vector<float> values(trained.given);
    for (std::size_t i = 0; i < trained.count; ++i) {
        if (const auto place = trained.pytorch_place(i)) values[*place] = stored[trained.first + i];
    }
    return values;
}

}  // namespace roof::cudnn
