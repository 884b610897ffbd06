// The cost of one training step, computed analytically: multiply-adds, FLOPs, bytes moved and bytes allocated.
#pragma once

#include "analysis/estimate/footprint.hpp"
#include "ert/base/precision.hpp"
#include "workloads/model/work.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace roof::analysis {

/// One layer over the whole batch, or the loss.
struct LayerEstimate {
    std::string name;
    std::string kind;
    bool is_contraction = false;
    bool has_rule = true;  ///< false: not all of its FLOPs are known, and it counts by its bytes
    long long parameters = 0;
    std::vector<long long> output_shape;  ///< [n, c, h, w], or [n, f] from the flatten on; of operators, any
    model::LayerWork work;
    double least_executed = 1;  ///< share of a convolution's FLOPs that Winograd's F(4x4, 3x3) executes
    std::string loops{};        ///< its kind, divided by the loops that compute it: "convolution 3x3"
};

/// Extents by name: {"tokens", 128}.
using Sizes = std::map<std::string, long long>;

inline constexpr long long imagenet_images = 1281167;  ///< images of the training set

struct EstimateRequest {
    std::string model;
    int batch = 1;  ///< on each device
    Precision precision = Precision::fp32;
    int threads = 0;  ///< on a CPU: under the roofs of as many; 0: of the most that were measured
    Passes passes = Passes::train;
    model::Optimizer optimizer = model::Optimizer::sgd;
    long long images = imagenet_images;  ///< images per epoch
    int devices = 1;
    std::string link{};  ///< between devices; required if there are several
    Sizes sizes{};       ///< that a network's file leaves open
    /// Convolutions by the fastest algorithm, not by the definition: the low end of a prediction takes Winograd's
    /// products where there are any, without its transforms. Nobody knows before a run which algorithm is the fastest.
    bool by_fastest_algorithm = false;
};

struct ModelEstimate {
    std::string model;
    int batch = 0;
    Precision precision{};
    long long parameters = 0;
    long long multiply_adds = 0;           ///< forward, full window
    long long multiply_adds_unpadded = 0;  ///< forward, without the taps that fall on padding
    model::StepWork flops;
    std::vector<LayerEstimate> layers;  ///< in the order they run, without the input; of a Graph with the loss
    Footprint step_memory;
    Footprint forward_memory;
    Bytes inference_memory;  ///< with the caches of keys and values, if `passes` are those of inference
    Footprint memory{};      ///< of `passes`
    Bytes weights{};         ///< as they are stored, if not in the precision
    std::string remarks{};   ///< of who counted it
    model::Optimizer optimizer{};
    Passes passes{};               ///< of one that does not train, the work backward and of the update is 0
    bool divides_backward = true;  ///< false: `backward_data` is the whole backward pass, and nobody looked for padding
};

/// Whether the FLOPs of an operator are unknown, so that each sum is a lower bound.
bool is_lower_bound(const ModelEstimate& estimate);

/// Throws InputError for an unknown model, an ONNX file that cannot be trained here, a size that it does not leave
/// open, or a batch below 1. Of `request` without machine, link, devices and images.
ModelEstimate estimate_model(const EstimateRequest& request);

/// Keys model, batch, precision, optimizer, parameters, multiply_adds, flops, bytes, memory, layers; every count is a
/// JSON integer.
nlohmann::json to_json(const ModelEstimate& estimate);

/// Tables of fewer than 100 columns. Convolution and linear layers have a row each; other layers are summed by kind.
std::string to_text(const ModelEstimate& estimate);

// A step that another program counted, such as the Python package of any model of PyTorch: a results folder whose rows
// are of the bench `estimate`, analytic and without times. What a layer does besides its products stands in a row of
// layers.csv of its own, of another kind; `implementation` there has the extents of what the products make, or "FLOPs
// unknown" where not all are counted. memory.csv has an allocation for each of these, by its `phase`:
// - parameters: of each layer, in the format of the row's precision
// - weights: all of them as they are stored
// - inputs: of the step
// - activations: what the forward pass keeps for the backward pass
// - caches: what stays from token to token
// - train, forward, inference: the most that is alive besides

inline constexpr std::string_view recorded_bench = "estimate";

struct RecordedEstimate {
    ModelEstimate counted;
    EstimateRequest request;  ///< as far as the row has it
};

/// One for each row. Throws InputError for a folder that is damaged or has no such row.
std::vector<RecordedEstimate> read_estimates(const std::filesystem::path& folder);

}  // namespace roof::analysis
