// The communication of one data-parallel step for any engine: the engine reports when gradients are ready and when
// its backward pass is over, and gets the cost of the communication.
#pragma once

#include "ert/method/bench/trace.hpp"
#include "workloads/parallel/buckets.hpp"
#include "workloads/parallel/communicator.hpp"

#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace roof::parallel {

/// When something was under way, on the step's clock.
struct Interval {
    Seconds begin{};
    Seconds end{};
};

/// The cost of communication: exposed time, in which the step waited, and hidden time, in which it computed meanwhile.
/// `transfers`: when each all-reduce (or broadcast) was under way, in any order; `waits`: when the step stood still
/// for them. Exposed: the waits. Hidden: the transfers' time outside the waits, any moment counted once. A transfer
/// lasts from when this rank is ready for it to its end, so it holds the wait for slower ranks, too.
Communication communication_of(const std::vector<Interval>& transfers, const std::vector<Interval>& waits, Bytes bytes);

/// - overlapped: an all-reduce starts when its bucket is full, beside the rest of the backward pass;
/// - serial: all of them after the backward pass;
/// - broadcast: as in PyTorch's DataParallel, rank 0 alone updates the parameters. Each step it sends them to all
///   before the forward pass and receives the mean of the gradients after the backward pass.
enum class Mode { overlapped, serial, broadcast };

/// Throws InputError naming the legal words.
Mode parse_mode(std::string_view word);

class Exchange {
  public:
    /// `clock` must outlive this.
    Exchange(std::shared_ptr<Communicator> communicator, Packing packing, Mode mode, const Clock& clock);
    /// Waits for the running reduction; reductions that have not begun are dropped.
    ~Exchange();

    /// The gradient's place in the block.
    float* gradient(std::size_t index) const { return block_.data() + packing_.begins[index]; }

    /// Before the forward pass; in mode broadcast, `parameters` are sent. Waits for it.
    void begin(const std::vector<std::span<std::byte>>& parameters);
    /// To be called when a gradient is complete in its place.
    void ready(std::size_t gradient);
    /// The backward pass is over: waits for the means, and returns what the step's communication cost so far.
    Communication finish();

    /// Whether this rank has the mean, and is to update the parameters.
    bool updates() const { return mode_ != Mode::broadcast || communicator_->rank == 0; }
    const Packing& packing() const { return packing_; }

  private:
    class Background;
    void start(std::size_t bucket);

    std::shared_ptr<Communicator> communicator_;
    Packing packing_;
    Mode mode_;
    const Clock& clock_;
    std::span<float> block_;
    Schedule schedule_;
    std::vector<Interval> transfers_;
    std::vector<Interval> waits_;
    Bytes broadcast_{};
    std::unique_ptr<Background> background_;
};

}  // namespace roof::parallel
