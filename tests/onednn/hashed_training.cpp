#include "tests/onednn/hashed_training.hpp"

#include "tests/onednn/network_values.hpp"
#include "workloads/data/source.hpp"

#include <algorithm>

namespace roof::onednn {
namespace {

constexpr int batch = 2;

}  // namespace

HashedTraining::HashedTraining(const std::string& model, const Arithmetic& arithmetic)
    : HashedTraining(model::build_model(model), arithmetic)
{
}

HashedTraining::HashedTraining(const model::Graph& graph, const Arithmetic& arithmetic)
    : graph_(graph),
      network_(graph_, {.batch = batch,
                        .threads = 2,
                        .parameters = Parameters::hashed,
                        .learning_rate = arithmetic.optimizer == model::Optimizer::sgd ? 0.01F : 0.001F,
                        .optimizer = arithmetic.optimizer,
                        .precision = arithmetic.precision,
                        .algorithm = arithmetic.algorithm}),
      images_(static_cast<std::size_t>(batch * graph_.layer(0).output.elements())),
      trace_(clock_, network_.parts().size())
{
    const data::Source source = data::open_source("hashed", batch, data::Form::of(graph_), 1, 1);
    const data::Batch made = source.next();
    std::copy_n(made.images, images_.size(), images_.begin());
    labels_.assign(made.labels, made.labels + batch * graph_.labels_each());
}

double HashedTraining::loss()
{
    return network_.forward(images_.data(), labels_.data(), trace_);
}

double HashedTraining::differentiate()
{
    const double of_forward = loss();
    network_.backward(trace_);
    return of_forward;
}

std::vector<float> HashedTraining::gradient(std::size_t parameter) const
{
    return gradient_of(network_, parameter);
}

void HashedTraining::update()
{
    network_.update(trace_);
}

}  // namespace roof::onednn
