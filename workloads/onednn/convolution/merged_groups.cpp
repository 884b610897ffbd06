// Convolutions of few channels per group, as convolutions of fewer and wider groups: weights between merged groups are 0.
// Below a vector of channels per group, oneDNN multiplies matrices group by group.
#include "workloads/onednn/convolution/candidate.hpp"

#include "workloads/kernels/convolution.hpp"

#include <cstring>
#include <numeric>

namespace roof::onednn {
namespace {

/// A row is the weights of one output channel: [inputs of its group][window][window].
struct Merging {
    std::size_t groups, outputs, row;  ///< output channels of a group; numbers of a row
    std::size_t merged;                ///< groups that become one

    std::size_t rows() const { return groups * outputs; }
    /// The first number of a row in the merged weights.
    std::size_t place(std::size_t number) const
    {
        const std::size_t group = number / outputs;
        return number * merged * row + group % merged * row;
    }
};

void widen(const Merging& of, const float* weights, float* merged)
{
#pragma omp parallel for schedule(static)
    for (std::size_t number = 0; number < of.rows(); ++number) {
        std::memset(merged + number * of.merged * of.row, 0, of.merged * of.row * sizeof(float));
        std::memcpy(merged + of.place(number), weights + number * of.row, of.row * sizeof(float));
    }
}

void narrow(const Merging& of, const float* merged, float* weights)
{
#pragma omp parallel for schedule(static)
    for (std::size_t number = 0; number < of.rows(); ++number)
        std::memcpy(weights + number * of.row, merged + of.place(number), of.row * sizeof(float));
}

/// Groups to merge so that each has whole vectors of channels; 1 if they have or cannot. Depthwise ones stay as they are.
Dim groups_to_merge(const Dims& weights)
{
    const Dim lanes = kernels::convolution_lanes();
    if (weights.size() < 5 || lanes == 0 || (weights[1] == 1 && weights[2] == 1)) return 1;
    const Dim merged = lanes / std::gcd(lanes, std::gcd(weights[1], weights[2]));
    return weights[0] % merged == 0 ? merged : 1;
}

}  // namespace

std::vector<Candidate> merged_group_candidates(const dnnl::engine& engine, const Convolution& shapes, Pass pass)
{
    const Dim merged = groups_to_merge(shapes.weights);
    if (merged == 1) return {};
    Convolution wider = shapes;
    wider.weights[0] /= merged;
    wider.weights[1] *= merged;
    wider.weights[2] *= merged;
    const auto size = [](Dim dim) { return static_cast<std::size_t>(dim); };
    const Merging merging{size(shapes.weights[0]), size(shapes.weights[1]),
                          size(shapes.weights[2] * shapes.weights[3] * shapes.weights[4]), size(merged)};
    std::vector<Candidate> all = library_candidates(engine, wider, pass, Algorithm::direct);
    std::erase_if(all, [](const Candidate& candidate) { return candidate.algorithm != Algorithm::direct; });
    for (Candidate& candidate : all) {
        const Candidate inner = candidate;
        candidate.name += " of merged groups";
        candidate.is_kernel = candidate.is_preferred;
        candidate.layouts.weights = plain(shapes.weights);
        candidate.append = [=](Program& program, const ConvolutionTensors& tensors) {
            ConvolutionTensors own = tensors;
            own.weights = program.tensor(plain(wider.weights));
            const bool writes_weights = pass == Pass::backward_weights;
            const auto copy = [=] {
                if (writes_weights)
                    narrow(merging, own.weights.data(), tensors.weights.data());
                else
                    widen(merging, tensors.weights.data(), own.weights.data());
            };
            if (!writes_weights) program.append(copy, {tensors.weights, own.weights}, "roof:groups");
            append_pass(program, pass, inner, own);
            if (writes_weights) program.append(copy, {tensors.weights, own.weights}, "roof:groups");
        };
    }
    return all;
}

}  // namespace roof::onednn
