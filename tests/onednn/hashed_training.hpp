// A network on the parity batch.
#pragma once

#include "tests/engine/reference.hpp"
#include "workloads/onednn/step.hpp"

#include <string>
#include <vector>

namespace roof::onednn {

using engine::norm;
using engine::Reference;

/// The algorithm and the precision of convolutions, and the optimizer.
struct Arithmetic {
    Algorithm algorithm = Algorithm::direct;
    Precision precision = Precision::fp32;
    model::Optimizer optimizer = model::Optimizer::sgd;
};

/// A network with hashed parameters, images and labels; batch 2, learning rate 0.01, with AdamW 0.001.
class HashedTraining {
  public:
    explicit HashedTraining(const std::string& model, const Arithmetic& arithmetic = {});
    explicit HashedTraining(const model::Graph& graph, const Arithmetic& arithmetic = {});

    /// Runs forward; returns the loss.
    double loss();
    /// Runs forward and backward; returns the loss.
    double differentiate();
    void update();
    std::vector<float> gradient(std::size_t parameter) const;
    Network& network() { return network_; }

  private:
    model::Graph graph_;
    Network network_;
    std::vector<float> images_;
    std::vector<int> labels_;
    Clock clock_ = [] { return Seconds{}; };
    Trace trace_;
};

}  // namespace roof::onednn
