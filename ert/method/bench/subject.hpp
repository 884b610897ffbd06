// A subject: one point of a sweep, ready to launch. A ceiling's probe and a training step are both subjects, and go
// through the same measuring loop. This and Bench are the only two abstract classes of the project.
#pragma once

#include "ert/method/bench/trace.hpp"
#include "ert/method/bench/work.hpp"

#include <string>
#include <vector>

namespace roof {

enum class Phase { forward, backward, update };

std::string_view name(Phase phase);
Phase parse_phase(std::string_view word);

/// One call of a part, as planned.
struct Operation {
    std::string implementation;  ///< the library's own name of the kernel or algorithm
    std::string operands;        ///< what it reads and writes, with precisions and layouts
    Bytes bytes;                 ///< of all operands, each once
};

/// A stretch of a launch that is timed on its own: one layer in one phase.
struct TimedPart {
    std::string layer;  ///< as torchvision names its modules; fused layers are joined by '+'
    std::string kind;   ///< convolution, batch_norm, …
    Phase phase = Phase::forward;
    Work work;
    std::string implementation;           ///< what does it: the names of its operations' implementations
    std::vector<Operation> operations{};  ///< in the order they run; not kept with results
};

class Subject {
  public:
    virtual ~Subject() = default;

    /// What one launch does. Constant over the subject's life.
    virtual Work work() const = 0;

    /// Does the work once, to its end. Blind to clocks and statistics except for what it tells the trace.
    virtual void launch(Trace& trace) = 0;

    /// Throws Error when what the launches so far computed is wrong. Called after the warm-up, before anything is timed.
    virtual void check() = 0;

    /// In the order of their indices in Trace.
    virtual std::vector<TimedPart> parts() const { return {}; }

    /// Of the ways to do the work that the subject tried when it was made, the one it settled on: "avx2, 8 per iteration".
    virtual std::string variant() const { return {}; }

    /// What a reader of the row should know of the launches so far, each a sentence: broken files that were skipped, …
    virtual std::vector<std::string> remarks() const { return {}; }

    /// Memory held for the launches, as planned.
    virtual Bytes memory() const { return {}; }
};

}  // namespace roof
