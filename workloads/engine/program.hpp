// A training step as a program: stages, each a layer in one phase, of operations in the order in which they run:
// forward, backward, update. The layers write it once; then its memory is planned from which operations use which
// blocks. An engine derives from it and says what an operation is.
#pragma once

#include "ert/base/units.hpp"
#include "ert/method/bench/subject.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace roof::engine {

// Offsets of blocks in one piece of memory: those that are never needed at once, each from the first moment that uses
// it to the last, may share bytes. And the memory of a whole step on a CPU, of which that piece is a part.

class MemoryPlan {
  public:
    /// A block of `bytes`; returns its index. It takes no memory until it is used or kept.
    int add(std::size_t bytes);
    /// The block is needed at this moment and all between its others.
    void use(int block, int moment);
    /// The block is needed at all times.
    void keep(int block);

    /// Gives each block its offset, the largest first, each as low as it fits. Returns the bytes of the whole.
    std::size_t lay_out();
    std::size_t offset(int block) const { return blocks_[static_cast<std::size_t>(block)].offset; }

  private:
    struct Block {
        std::size_t bytes = 0;
        int first = 0;
        int last = -1;
        std::size_t offset = 0;

        bool needed() const { return first <= last; }
        std::size_t end() const { return offset + bytes; }
        bool meets(const Block& other) const { return first <= other.last && other.first <= last; }
    };
    static std::size_t lowest_gap(const Block& block, const std::vector<const Block*>& placed);

    std::vector<Block> blocks_;
};

/// The memory of a step's ranks on one machine, as a row shows it.
struct StepMemory {
    Bytes held{};   ///< by each when it is about to take the rest: code, libraries, primitives, stacks (measured)
    Bytes taken{};  ///< by each from then on: its plan, images, gradients that ranks share (analytic)
    int ranks = 1;

    /// By which `held` differs from start to start.
    static constexpr Bytes spread{2 << 20};
    Bytes whole() const { return (held + taken + spread) * ranks; }
    /// Throws OutOfMemory, with the whole, unless there is room for what is taken. Call it before anything is.
    void require(const std::string& what_for) const;
};

/// Adds work to a part; work without executed FLOPs executes those of the model.
void add_work(TimedPart& part, const Work& work);
/// Adds an operation to the part's list and its implementation, once, to the part's name.
void add_operation(TimedPart& part, Operation operation);
/// The part with executed FLOPs only where they differ from the model's.
TimedPart finished(TimedPart part);

/// `Run`: what runs an operation, or describes it to what runs it.
template <class Run>
class Program {
  public:
    struct Stage {
        TimedPart part;
        std::vector<Run> operations;
        std::vector<std::size_t> ready;  ///< parameters whose gradients are complete after the stage
    };

    /// Opens a stage; what is appended from here on belongs to it. A stage before it that has stayed without
    /// operations, as the backward pass of a sum that hands on its gradient, is no part of the step.
    void begin(const std::string& layer, const std::string& kind, Phase phase)
    {
        if (!stages_.empty() && stages_.back().operations.empty() && stages_.back().ready.empty()) stages_.pop_back();
        stages_.push_back({{.layer = layer, .kind = kind, .phase = phase, .work = {}, .implementation = {}}, {}, {}});
    }
    void add_work(const Work& work) { engine::add_work(stages_.back().part, work); }
    /// The open stage completes the gradient of this parameter.
    void completes(std::size_t parameter) { stages_.back().ready.push_back(parameter); }

    const std::vector<Stage>& stages() const { return stages_; }
    /// By stage.
    std::vector<TimedPart> parts() const
    {
        std::vector<TimedPart> all;
        for (const Stage& stage : stages_) all.push_back(finished(stage.part));
        return all;
    }

  protected:
    /// The block is used by the operation that is appended next.
    void use(int block) { plan_.use(block, moment_); }
    void add_operation(Run run, Operation description)
    {
        ++moment_;
        stages_.back().operations.push_back(std::move(run));
        engine::add_operation(stages_.back().part, std::move(description));
    }
    MemoryPlan& plan() { return plan_; }
    const MemoryPlan& plan() const { return plan_; }

  private:
    std::vector<Stage> stages_;
    int moment_ = 0;  ///< operations appended so far
    MemoryPlan plan_;
};

}  // namespace roof::engine
