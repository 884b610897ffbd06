// A step as its layers define it: stages of operations for which nothing is chosen yet. Passes (engine/passes) change
// the list for an executor; lower() makes it a program.
#pragma once

#include "ert/base/units.hpp"
#include "ert/method/bench/work.hpp"
#include "workloads/engine/ir/operations.hpp"
#include "workloads/engine/ir/program.hpp"
#include "workloads/engine/settings.hpp"

#include <functional>
#include <list>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace roof::ir {

// What chooses the implementations of a program's operations, and which of them an executor wants: a device, or a test.

struct Choice {
    int plan = -1;               ///< number of the plan in the chooser
    std::size_t workspace = 0;   ///< bytes
    std::string implementation;  ///< "cudnn: engine 62 k2=1"
    std::string algorithm;       ///< convolutions: gemm, winograd or fft
    Flops executed{};            ///< that the implementation executes; 0: unknown
    int winograd_tile = 0;       ///< outputs along a tile's edge, if the library gives it; 0: unknown
    bool by_products = false;    ///< attention: by products of whole matrices, whose library numbers the plan
    bool fused = true;           ///< computes all that the shape has beside the pass; else the plan is of the bare pass
    std::vector<Refetch> refetched{};
};

struct Product {
    Pass pass = Pass::forward;
    int batch = 1;
    int inputs = 1;
    int outputs = 1;
    Precision precision = Precision::fp32;         ///< of the inputs; may be tf32
    Precision result_precision = Precision::fp32;  ///< of the result
    bool bias = false;  ///< added in the forward pass; its gradient in the pass of the weights
    bool relu = false;
    bool gelu = false;  ///< by tanh, forward; its gradient in the pass of the data
    bool adds = false;  ///< to what the result holds

    auto operator<=>(const Product&) const = default;
};
Product product_of(const Multiply& operation);

struct Choosers {
    std::function<Choice(const ConvolutionPass&)> convolution;
    std::function<Choice(const Product&)> product;
    /// For a whole batch norm. No plan, or an empty function: our own kernels compute it.
    std::function<Choice(const NormShape&)> norm{};
    /// Returns whether the first convolution should read images by space_to_depth(), given its forward pass. Empty: no.
    std::function<bool(const ConvolutionPass& first)> deep_images{};
    /// Returns whether the batch norm behind this 1x1 convolution should find its statistics and gradients from moments
    /// of the convolution's source (passes.hpp), given its forward pass. Empty: no.
    std::function<bool(const ConvolutionPass& forward)> moments{};
    /// For a pass of attention. No plan, or an empty function: our own kernels compute it.
    std::function<Choice(const AttentionPass&)> attention{};

    /// The first layer reads the images as they are given. Otherwise an operation imports them.
    bool reads_images = false;
    /// A batch norm, the sum behind it and its ReLU are one pass over memory in each direction: their operations are
    /// neighbours in one stage, and no other layer normalises what it reads.
    bool whole_norms = false;
    /// Convolutions read trained values in fp32 and write weights' gradients in fp32, with the bias' in the same pass.
    bool whole_gradients = false;
    /// A linear layer of each position is a 1x1 convolution; else a product of the rows of all positions.
    bool convolves_positions = false;
    /// The layer before the loss has a multiple of so many outputs, where it is a product: the library takes five times
    /// as long for 50,257 as for 50,264. Weights of those beyond the classes are 0, and stay so.
    int outputs_multiple = 1;
    /// The loss reads logits of tokens in the precision of the activations, as PyTorch's autocast does; else in fp32.
    bool narrow_logits = false;
    /// A layer norm computes the sum before it, a product its activation, and attention over a cache turns its own.
    bool fuses_positions = false;
    /// Blocks of attention over a cache that run at once; 0: a cache is read as a whole.
    int attention_blocks = 0;
    /// Linear layers' weights are updated from the factors of their gradient (DescendProduct).
    bool updates_from_factors = false;
};

using engine::Settings;

/// An operation of a list.
struct Entry {
    Operation operation;
    std::string implementation{};  ///< of our own kernel; a library's is chosen by lower()
    Work work{};                   ///< beside that of the stage; executed FLOPs only where no choice changes them
    bool is_removed = false;       ///< by a pass, until List::sweep()
};

/// Passes of convolutions by algorithm: {{"gemm", 40}, {"winograd", 13}}.
using Algorithms = std::map<std::string, int, std::less<>>;

class List {
  public:
    struct Stage {
        TimedPart part;  ///< its work without that of the entries
        std::list<Entry> entries{};
        std::vector<std::size_t> ready{};  ///< parameters whose gradients are complete after the stage
    };

    /// The tensors' memory is the program's, which must outlive the list.
    explicit List(Program& program) : program_(&program) {}

    Program& program() const { return *program_; }
    Tensor tensor(const Tensor& shape) const { return program_->tensor(shape); }
    Tensor resident(const Tensor& shape) const { return program_->resident(shape); }
    Tensor constant(std::vector<std::int32_t> numbers) const { return program_->constant(std::move(numbers)); }

    /// Opens a stage; what is appended from here on belongs to it.
    void begin(const std::string& layer, const std::string& kind, Phase phase);
    void add_work(const Work& work) { engine::add_work(stages.back().part, work); }
    void append(Operation operation, const std::string& implementation = {}, const Work& work = {});
    /// The open stage completes the gradient of this parameter.
    void completes(std::size_t parameter) { stages.back().ready.push_back(parameter); }

    /// Drops what passes removed.
    void sweep();

    std::list<Stage> stages;
    Algorithms algorithms;  ///< of passes that other operations of the list compute

  private:
    Program* program_;
};

/// Chooses the implementation of each operation that a library may compute, appends all to the list's program, and
/// returns the algorithms of its convolutions. Throws what the choosers throw.
Algorithms lower(const List& list, const Settings& settings, const Choosers& choosers);

}  // namespace roof::ir
