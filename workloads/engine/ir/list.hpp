// A step as its layers define it: stages of operations for which nothing is chosen yet. Passes (engine/passes) change
// the list for an executor; lower() makes it a program.
#pragma once

#include "workloads/engine/ir/choose.hpp"
#include "workloads/engine/ir/program.hpp"
#include "workloads/engine/settings.hpp"

#include <list>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace roof::ir {

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
