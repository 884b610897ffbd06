#include "analysis/estimate/product_bound.hpp"

#include "ert/base/error.hpp"
#include "workloads/model/work.hpp"

#include <algorithm>
#include <cmath>

namespace roof::analysis {

std::map<std::string, double> input_uses(const std::string& model)
{
    std::map<std::string, double> uses;
    try {
        const model::Graph graph = model::build_model(model);
        for (const model::Layer& layer : graph.layers()) {
            if (!model::is_contraction(layer.kind)) continue;
            const bool windows = layer.kind == model::LayerKind::convolution;
            uses[layer.name] = windows ? std::pow(std::ceil(1.0 * layer.window.size / layer.window.stride), 2) : 1;
        }
    } catch (const Error&) {
        return {};
    }
    return uses;
}

Bytes least_bytes_of_product(Flops flops, double uses, Bytes nearer, int parts, Bytes value, int products)
{
    const double kept = nearer / value;
    if (!(kept > 0)) return {};
    const double values = flops.value / std::sqrt(uses * kept) - 2 * kept * parts * products;
    return std::max(Bytes{}, value * values);
}

}  // namespace roof::analysis
