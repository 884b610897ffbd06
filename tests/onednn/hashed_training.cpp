#include "tests/onednn/hashed_training.hpp"

#include "workloads/model/hashed.hpp"

namespace roof::onednn {
namespace {

constexpr int batch = 2;

}  // namespace

HashedTraining::HashedTraining(const std::string& model, const Arithmetic& arithmetic)
    : graph_(model::build_model(model)),
      network_(graph_, {.batch = batch,
                        .threads = 2,
                        .parameters = Parameters::hashed,
                        .learning_rate = 0.01F,
                        .precision = arithmetic.precision,
                        .algorithm = arithmetic.algorithm}),
      images_(static_cast<std::size_t>(batch * graph_.layer(0).output.elements())),
      trace_(clock_, network_.parts().size())
{
    model::hashed_input().fill(images_);
    for (int n = 0; n < batch; ++n) labels_.push_back(model::hashed_label(n, graph_.classes()));
}

double HashedTraining::differentiate()
{
    const double loss = network_.forward(images_.data(), labels_.data(), trace_);
    network_.backward(trace_);
    return loss;
}

void HashedTraining::update()
{
    network_.update(trace_);
}

}  // namespace roof::onednn
