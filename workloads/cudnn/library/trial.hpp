// Several ways of computing the same, on memory of their own: their times on the current device, and whether their
// results are those of the first way.
#pragma once

#include "ert/gpu/buffer.hpp"
#include "ert/gpu/stream.hpp"
#include "workloads/cudnn/kernels/kernels.hpp"
#include "workloads/engine/ir/program.hpp"
#include "workloads/engine/layers/builder.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace roof::cudnn {

using namespace ir;  // a step's operations and program

/// Number of values of a pattern: a prime, so that no channel gets the same values periodically.
inline constexpr std::size_t pattern_length = 65521;

/// Returns values from `from` to `from` + 2.
std::vector<float> pattern(float from);
inline constexpr float around_zero = -1;
/// Fills the tensor with the values, again and again, in its precision. Throws Error.
void repeat(const std::vector<float>& values, const Tensor& tensor, const Memory& memory);

class Trial {
  public:
    /// Returns a function that enqueues the operation in the trial's stream.
    using Bind = std::function<std::function<void()>(const ir::Operation& operation, const Memory& memory)>;
    struct Way {
        std::vector<ir::Operation> timed{};
        std::vector<ir::Operation> before{};  ///< run once before the others are timed
        std::vector<ir::Operation> shared{};  ///< with another pass, so timed half; only in a graph
        std::vector<Tensor> results{};        ///< to be near those of the first way, if there are any
    };

    explicit Trial(const gpu::Stream& stream) : stream_(stream) {}
    /// Times each way in a CUDA graph, so many times after each other, as in a step: without launches by the host
    /// between its operations.
    void time_in_graphs(int repeats = 8) { in_graph_ = repeats; }
    /// The distance of results that agree, as a share of their length.
    void tolerate(double distance) { tolerance_ = distance; }

    Program& program() { return program_; }
    /// A tensor that is filled with the values, again and again; all other memory with zeros.
    Tensor value(const Tensor& shape, std::vector<float> values);
    void set(const Tensor& tensor, std::vector<float> values) { filled_.emplace_back(tensor, std::move(values)); }
    void add(Way way) { ways_.push_back(std::move(way)); }
    /// Plans, allocates and fills the memory, for the operations of all ways. Throws OutOfMemory or Error.
    void place(const std::string& what_for, const Bind& bind);

    /// The time of one run of the way; infinite if it fails, or its results are not those of the first way.
    double seconds(std::size_t way);
    /// Runs the way and the first on fresh memory, and returns whether the results agree. Throws Error.
    bool is_right(std::size_t way) const;
    /// Returns whether the results in memory agree. Throws Error.
    bool agrees(std::size_t way) const;

    const Memory& memory() const { return *memory_; }
    const std::vector<Way>& ways() const { return ways_; }

  private:
    using Runs = std::vector<std::function<void()>>;
    struct Bound {
        Runs timed, before, shared;
        std::optional<bool> is_usable{};  ///< unknown until it is timed
        std::optional<gpu::Graph> graph{};
    };
    void fill() const;
    void run(const Bound& way) const;
    bool prepare(std::size_t way);

    const gpu::Stream& stream_;
    int in_graph_ = 0;  ///< runs of a way in a graph; 0: no graph
    double tolerance_ = 1e-4;
    Program program_;
    std::vector<std::pair<Tensor, std::vector<float>>> filled_;
    std::vector<Way> ways_;
    std::vector<Bound> bound_;
    std::optional<gpu::Buffer<std::byte>> bytes_;
    std::optional<Memory> memory_;
};

// What trials compare: a pass of a convolution, and layers around a batch norm, written as a step writes them.

/// Returns the pass with all that its shape has, on memory of its own with `workspace` bytes for the plan.
Convolve convolution_in(Trial& trial, const ConvolutionPass& shape, std::size_t workspace);

/// Adds the bare pass of the operation's shape by plan 0, with our kernels for what else the shape has, and then the
/// operation itself by plans 1 to `plans`. Two passes read a scaled source: each is charged half of its normalisation.
void add_convolution(Trial& trial, const Convolve& whole, std::size_t plans);

enum class Timed { forward, backward, both };

/// Adds a way for each of the choosers: the layers from `first` on, without a backward pass if only the forward pass is
/// timed. The outputs of the layers before, the parameters and the gradient of the last layer are filled. Throws
/// Unsupported or Error.
void add_layers(Trial& trial, const model::Graph& graph, int first, const Settings& settings,
                const std::vector<Choosers>& ways, Timed timed);

/// Add the pass of a batch norm, or of attention, by our kernels, and by each of the libraries' choices.
void add_passes(Trial& trial, const NormShape& shape, const std::vector<Choice>& choices);
void add_passes(Trial& trial, const AttentionPass& pass, const std::vector<Choice>& choices);

/// Adds a 1x1 convolution and the batch norm behind it, whose result a residual sum reads: by passes over the map
/// between them, and by moments (engine/passes/passes.hpp).
void add_moments(Trial& trial, const ConvolutionPass& forward, const Choosers& passes);

// Binds an operation to the memory that it works in.

/// Returns a function that enqueues the operation in the stream: by the first of the libraries that knows it, else by a
/// kernel. Libraries and stream must outlive it.
template <class... Libraries>
std::function<void()> bound(const ir::Operation& operation, const Memory& memory, const gpu::Stream& stream,
                            const Libraries&... libraries)
{
    std::function<void()> found;
    std::visit(
        [&](const auto& one) {
            [[maybe_unused]] const auto ask = [&](const auto& library) {
                if constexpr (requires { library.bound(one, memory); })
                    if (!found) found = library.bound(one, memory);
            };
            (ask(libraries), ...);
            if constexpr (requires { enqueue(one, memory, stream.get()); })
                if (!found) found = [one, memory, &stream] { enqueue(one, memory, stream.get()); };
        },
        operation);
    if (!found) throw std::logic_error("no library here knows the operation");
    return found;
}

}  // namespace roof::cudnn
