// A subject: one point, ready to launch. Probes of ceilings and training steps are both subjects and go through the
// same measuring loop. Subject and Bench are the abstract classes of measuring.
#pragma once

#include "ert/base/names.hpp"
#include "ert/method/bench/trace.hpp"
#include "ert/method/bench/work.hpp"

#include <string>
#include <vector>

namespace roof {

enum class Phase { forward, backward, update };
constexpr EnumNames<Phase::update> names_of(Phase)
{
    return {"phase", {"forward", "backward", "update"}};
}

/// One planned call within a part.
struct Operation {
    std::string implementation;  ///< the library's name of the kernel or algorithm
    std::string operands;        ///< inputs and outputs with precisions and layouts
    Bytes bytes;                 ///< of all operands, each once
};

/// A part of a launch with a time of its own: one layer in one phase.
struct TimedPart {
    std::string layer;  ///< as torchvision names its modules; fused layers are joined by '+'
    std::string kind;   ///< convolution, batch_norm, …
    Phase phase = Phase::forward;
    Work work;
    std::string implementation;           ///< names of its operations' implementations
    std::vector<Operation> operations{};  ///< in the order they run; not kept with results
};

class Subject {
  public:
    virtual ~Subject() = default;

    /// The work of one launch; constant.
    virtual Work work() const = 0;

    /// Does the work once and waits for its end.
    virtual void launch(Trace& trace) = 0;

    /// Of a training step: does the forward pass, or both passes, and waits. False if it cannot. No launch may follow.
    virtual bool launch_to(Phase /*last*/, Trace& /*trace*/) { return false; }

    /// Throws Error for wrong results so far. Called after the warm-up; of a training step also at the end.
    virtual void check() = 0;

    /// In the order of their indices in Trace.
    virtual std::vector<TimedPart> parts() const { return {}; }

    /// The variant that the subject chose by trials: "avx2, 8 per iteration".
    virtual std::string variant() const { return {}; }

    /// Remarks on the launches so far, one sentence each, such as broken files that were skipped.
    virtual std::vector<std::string> remarks() const { return {}; }

    /// Planned memory of the launches.
    virtual Bytes memory() const { return {}; }
};

}  // namespace roof
