// The passes of a convolution. A candidate computes one pass: an implementation of oneDNN or a kernel of this project.
// choice.cpp selects the candidate for each pass.
#pragma once

#include "workloads/engine/algorithm.hpp"
#include "workloads/engine/ir/list.hpp"
#include "workloads/model/graph.hpp"
#include "workloads/model/work.hpp"
#include "workloads/onednn/program/program.hpp"

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace roof::onednn {

using engine::Algorithm;

/// Layouts of a pass's operands. A gradient has the layout of its values.
struct Layouts {
    Desc source;
    Desc weights;
    Desc result;
};

/// Operands of a pass. forward reads source, weights and bias and writes result; backward_data reads result and weights
/// and writes source; backward_weights reads source and result and writes weights and bias.
struct ConvolutionTensors {
    Tensor source{}, weights{}, result{};
    Tensor bias{};  ///< may be none
};

struct Candidate {
    std::string name;
    Algorithm algorithm = Algorithm::direct;
    Flops executed{};           ///< FLOPs that the implementation executes; 0: as the model counts
    int vector_bits = 0;        ///< of its instruction set; 0: unknown
    bool is_preferred = false;  ///< oneDNN's first choice for the precision, or a kernel of this project
    bool is_kernel = false;     ///< of this project
    Layouts layouts;            ///< of the tensors that it reads and writes; empty where any serves
    std::vector<Refetch> refetched{};
    /// Appends the pass with its workspace. The tensors must have `layouts`.
    std::function<void(Program&, const ConvolutionTensors&)> append{};
};

/// All candidates for a pass: oneDNN's direct ones in its order of preference, this project's kernels, oneDNN's
/// Winograd ones. For bf16 also oneDNN's in fp32 ("jit:avx512_core in fp32"), which convert their operands. Direct
/// includes matrix products (gemm). Reference code is included only if there is nothing else. `is_plain`: oneDNN's read
/// a plain source. Throws dnnl::error.
std::vector<Candidate> candidates(const dnnl::engine& engine, const ConvolutionPass& shape, int threads, bool is_plain);

/// oneDNN's implementations for `algorithm` (direct or winograd).
std::vector<Candidate> library_candidates(const dnnl::engine& engine, const ConvolutionPass& shape, Algorithm algorithm,
                                          bool is_plain);

/// The properties of a oneDNN implementation, found by its name, for one pass of the convolution.
struct LibraryFacts {
    Algorithm algorithm = Algorithm::direct;
    Flops executed{};
    int vector_bits = 0;
};
LibraryFacts facts_of(const std::string& implementation, const model::Convolution& convolution);

/// The reason why this machine cannot train, or run forward in this use, in this precision, or none.
std::optional<std::string> unsupported_precision(Precision precision, model::Use use = model::Use::train);

/// True if this machine has a Winograd convolution of this precision.
bool offers_winograd(Precision precision);

/// Appends the pass between tensors in any layouts: operands are reordered to the candidate's, also in trials.
void append_pass(Program& program, Pass pass, const Candidate& candidate, const ConvolutionTensors& tensors);

/// The implementation of one pass. `edges`: layouts between the convolution and its neighbours, as oneDNN's first
/// direct implementation prefers them (or its matrix product, for gemm).
struct ChosenPass {
    Candidate candidate;
    Layouts edges;
};

/// Selects the candidates of convolutions by the algorithm of the settings: `auto` the fastest of all of a pass,
/// `direct` of oneDNN's first choice and this project's direct kernels. In bf16 candidates multiply in both ways: by
/// the dot product, or widened to fp32. Images are read in a plain layout.
class Convolutions {
  public:
    /// Both must outlive it.
    Convolutions(const dnnl::engine& engine, const Settings& settings) : engine_(engine), settings_(settings) {}

    /// Chooses all passes of a convolution when it is first asked for one. Throws Error.
    ir::Choice choose(const ConvolutionPass& shape);
    const ChosenPass& operator[](int plan) const { return plans_.at(static_cast<std::size_t>(plan)); }

  private:
    const dnnl::engine& engine_;
    const Settings& settings_;
    std::vector<ChosenPass> plans_;
    std::map<ConvolutionPass, int> numbers_;
};

/// The version of oneDNN, the instruction set of this project's kernels, and a checksum of the candidates' names. A
/// remembered choice is valid for these only, so a new candidate is tried.
std::string library_of(std::span<const Candidate> candidates);

}  // namespace roof::onednn
