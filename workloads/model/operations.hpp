// A network as the list of its operations, with their work and nothing that could be trained: what `roof estimate` reads of an ONNX file
// whose operators the engines do not have.
#pragma once

#include "workloads/model/work.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace roof::model {

/// One operator over the batch of its file. Numbers of values, not bytes.
struct Operation {
    std::string name;
    std::string kind;             ///< "MatMul"
    bool is_contraction = false;  ///< two FLOPs per multiply-add
    bool has_rule = true;         ///< false: its FLOPs are unknown, and it counts by what it moves
    bool moves = false;           ///< computes nothing
    std::vector<long long> output{};
    long long parameters = 0;   ///< trained values that no operator before it reads
    double flops = 0;           ///< forward
    double gradient_flops = 0;  ///< of the gradients of its inputs, where they need one
    double executed = 1;        ///< share of the FLOPs that a causal mask leaves
    double read = 0;            ///< of other operators' results
    double written = 0;
    double constants = 0;    ///< weights, biases, tables that it reads
    double biases = 0;       ///< of the constants, those that are only added
    bool is_linear = false;  ///< the gradients of `read` need none of it: a product with weights, a sum, a mean
    double rows = 0;         ///< of an embedding's table, what it reads; else 0
};

struct Operations {
    std::string name;
    double batch = 1;   ///< images of all that follows
    double inputs = 0;  ///< values of the network's inputs
    long long parameters =
        0;  ///< each constant once, however many operators read it; no running means, no single numbers
    std::vector<Operation> all{};
};

/// The work over `images` where `operation` counts `batch` of them. A contraction's gradient of weights costs its forward FLOPs. Gradients of
/// inputs read the gradient of the result, the weights, and the inputs unless the operator is linear in them.
LayerWork work_of(const Operation& operation, double images, double batch, Precision precision,
                  Optimizer optimizer = Optimizer::sgd);

/// Extents that the file leaves open, by their names in it: {"sequence", 128}. The number of images is 1.
using Sizes = std::map<std::string, long long>;

/// The operators of an ONNX file. A result's shape follows from the operator's rule, or is what the file says. Throws InputError for a
/// shape that neither gives of an operator with a rule, for an extent that is open, and for more than 2^62 values.
Operations read_onnx_operations(const std::filesystem::path& file, const Sizes& sizes);

}  // namespace roof::model
