// A network on the parity batch, and the reference it is compared with: values of PyTorch in double precision.
#pragma once

#include "workloads/onednn/network.hpp"

#include <map>
#include <string>
#include <vector>

namespace roof::onednn {

/// tests/onednn/data/parity_<model>.csv: quantity, name (of a parameter, a statistic, or the step's number), value.
class Reference {
  public:
    explicit Reference(const std::string& model);
    /// The model's rows of parity_family.csv, which has a column more: gradients of the first and the last weight alone.
    static Reference of_family(const std::string& model);

    double at(const std::string& quantity, const std::string& name) const;
    std::size_t count(const std::string& quantity) const;
    bool has(const std::string& quantity, const std::string& name) const;

  private:
    Reference() = default;

    std::map<std::string, std::map<std::string, double>> values_;
};

/// How convolutions are computed, and in what.
struct Arithmetic {
    Algorithm algorithm = Algorithm::direct;
    Precision precision = Precision::fp32;
};

/// Batch 2, hashed parameters, images and labels; learning rate 0.01.
class HashedTraining {
  public:
    explicit HashedTraining(const std::string& model, const Arithmetic& arithmetic = {});

    /// Forward and backward; returns the loss.
    double differentiate();
    void update();
    Network& network() { return network_; }

  private:
    model::Graph graph_;
    Network network_;
    std::vector<float> images_;
    std::vector<int> labels_;
    Clock clock_ = [] { return Seconds{}; };
    Trace trace_;
};

/// Euclidean norm, in double.
double norm(const std::vector<float>& values);

}  // namespace roof::onednn
