// Chooses how a batch norm behind a 1x1 convolution finds its statistics and gradients: by passes over the map between them,
// or by moments (engine/layers/moments.hpp). Times both once and stores the faster.
#pragma once

#include "workloads/cudnn/library/convolutions.hpp"
#include "workloads/cudnn/library/products.hpp"

#include <memory>
#include <string>

namespace roof::cudnn {

class NormedProducts {
  public:
    /// All must outlive this object. Choices are stored per `device_model` and library version.
    NormedProducts(const gpu::Stream& stream, const Settings& settings, Convolutions& convolutions, Products& products,
                   std::shared_ptr<engine::Choices> choices, std::string device_model);

    /// Returns whether moments are faster and give the same values. Without trials: what the settings say. Throws Error.
    bool choose(const ConvolutionPass& forward);

  private:
    const gpu::Stream& stream_;
    Settings settings_;
    Convolutions& convolutions_;
    Products& products_;
    std::shared_ptr<engine::Choices> choices_;
    std::string device_model_;
    std::map<ConvolutionPass, bool> known_;
};

}  // namespace roof::cudnn
