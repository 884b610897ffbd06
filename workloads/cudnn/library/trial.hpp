// Several ways of computing the same, on memory of their own: their times on the current device, and whether their
// results are those of the first way.
#pragma once

#include "ert/gpu/buffer.hpp"
#include "ert/gpu/stream.hpp"
#include "workloads/engine/ir/program.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
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

}  // namespace roof::cudnn
