// One way to compute one pass of a convolution: an implementation of oneDNN or a kernel of this project, behind the
// same interface.
#pragma once

#include "workloads/engine/algorithm.hpp"
#include "workloads/model/work.hpp"
#include "workloads/onednn/program/program.hpp"

#include <functional>
#include <string>
#include <vector>

namespace roof::onednn {

using engine::Algorithm;
using model::Pass;

/// Layouts of a pass's operands; a gradient has the layout of its values.
struct Layouts {
    Desc source;
    Desc weights;
    Desc result;
};

/// Operands of a pass: forward reads source, weights and bias and writes result; backward_data reads result and
/// weights and writes source; backward_weights reads source and result and writes weights and bias.
struct ConvolutionTensors {
    Tensor source{}, weights{}, result{};
    Tensor bias{};  ///< used where `has_bias`
    bool has_bias = false;
};

struct Candidate {
    std::string name;
    Algorithm algorithm = Algorithm::direct;
    Flops executed{};        ///< FLOPs that the implementation executes; 0: those that the model counts
    int vector_bits = 0;     ///< of its instruction set; 0: not known
    bool is_kernel = false;  ///< this project's
    Layouts layouts;         ///< of the tensors it reads and writes
    /// Appends the pass with its workspace; the tensors have `layouts`.
    std::function<void(Program&, const ConvolutionTensors&)> append{};
};

/// oneDNN's implementations for `algorithm` (direct or winograd), its favourite first; reference code only where
/// there is nothing else. Those of direct include matrix products (gemm). Throws dnnl::error.
std::vector<Candidate> library_candidates(const dnnl::engine& engine, const Convolution& shapes, Pass pass,
                                          Algorithm algorithm);
/// The kernel of this project for `algorithm`; empty where there is none.
std::vector<Candidate> kernel_candidates(const Convolution& shapes, Pass pass, Algorithm algorithm, int threads);

/// What is known of oneDNN's implementation of this name, for one pass of the convolution.
struct LibraryFacts {
    Algorithm algorithm = Algorithm::direct;
    Flops executed{};
    int vector_bits = 0;
};
LibraryFacts facts_of(const std::string& implementation, const model::Convolution& convolution);

/// Whether a Winograd convolution of this precision is available on this machine.
bool offers_winograd(Precision precision);

/// Appends the pass between tensors in any layouts: what the candidate wants in others is reordered, in the step and
/// when it is tried.
void append_pass(Program& program, Pass pass, const Candidate& candidate, const ConvolutionTensors& tensors);

/// The convolution as the model's formulas take it.
model::Convolution size_of(const Convolution& shapes);

}  // namespace roof::onednn
