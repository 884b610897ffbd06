// The cost of one training step, computed analytically: multiply-adds, FLOPs, bytes moved and bytes allocated.
#pragma once

#include "analysis/estimate/footprint.hpp"
#include "ert/base/precision.hpp"
#include "workloads/model/work.hpp"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace roof::analysis {

/// One layer over the whole batch.
struct LayerEstimate {
    std::string name;
    model::LayerKind kind{};
    long long parameters = 0;
    std::vector<int> output_shape;  ///< [n, c, h, w], or [n, f] from the flatten on
    model::LayerWork work;
};

struct ModelEstimate {
    std::string model;
    int batch = 0;
    Precision precision{};
    long long parameters = 0;
    long long multiply_adds = 0;           ///< forward, full window
    long long multiply_adds_unpadded = 0;  ///< forward, without the taps that fall on padding
    model::StepWork flops;
    std::vector<LayerEstimate> layers;  ///< in the order they run, without the input
    Footprint step_memory;
    Footprint forward_memory;
    Bytes inference_memory;
};

/// Throws InputError for an unknown model or a batch below 1.
ModelEstimate estimate_model(std::string_view model, int batch, Precision precision);

/// Keys model, batch, precision, parameters, multiply_adds, flops, bytes, memory, layers; every count is a JSON
/// integer.
nlohmann::json to_json(const ModelEstimate& estimate);

/// Tables of fewer than 100 columns. Convolution and linear layers have a row each; other layers are summed by kind.
std::string to_text(const ModelEstimate& estimate);

}  // namespace roof::analysis
