// Choose how a batch norm is computed: they time two ways once and store the faster.
#pragma once

#include "workloads/cudnn/library/convolutions.hpp"
#include "workloads/cudnn/library/products.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace roof::cudnn {

/// For a batch norm with its ReLU: our kernels, or cuDNN.
class Norms : public Chooser {
  public:
    using Chooser::Chooser;

    /// Returns no plan if our kernels are the fastest or the only ones, or if no engine's results match theirs.
    Choice choose(const NormShape& shape);
    /// Returns a function that enqueues the operation in the stream.
    std::function<void()> bound(const LibraryNorm& operation, const Memory& memory) const;
    std::function<void()> bound(const LibraryNormGradient& operation, const Memory& memory) const;

  private:
    std::optional<Candidate> find(const NormShape& shape);
    Fastest fastest_right(const NormShape& shape, const Candidate& offered) const;

    Handle handle_{stream_.get()};
    Descriptor device_ = current_device();
    std::map<NormShape, Choice> known_;
    std::vector<Candidate> chosen_;  ///< indexed by plan number
};

/// For a batch norm behind a 1x1 convolution: passes over the map between them, or moments (engine/layers/moments.hpp).
class NormedProducts : public Chooser {
  public:
    /// All must outlive this object.
    NormedProducts(const gpu::Stream& stream, const Settings& settings, Convolutions& convolutions, Products& products,
                   std::string device_model)
        : Chooser(stream, settings, std::move(device_model)), convolutions_(convolutions), products_(products)
    {
    }

    /// Returns whether moments are faster and give the same values. Without trials: what the settings say. Throws Error.
    bool choose(const ConvolutionPass& forward);

  private:
    Convolutions& convolutions_;
    Products& products_;
    std::map<ConvolutionPass, bool> known_;
};

}  // namespace roof::cudnn
