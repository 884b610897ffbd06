// The communication of one data-parallel step for any engine: the engine reports when gradients are ready and when
// its backward pass is over, and gets the cost of the communication.
#pragma once

#include "ert/base/names.hpp"
#include "ert/method/bench/trace.hpp"
#include "workloads/parallel/communicator.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace roof::parallel {

// Gradients packed into buckets, so that each all-reduce is large enough: each bucket a range of one block in which the
// gradients lie in the order in which the backward pass makes them.

/// A gradient as the packer sees it. `stage`: when it is ready, the lowest first.
struct GradientSize {
    std::size_t count = 0;  ///< numbers
    std::size_t stage = 0;
};

struct Bucket {
    std::size_t begin = 0;               ///< first number, from the block's begin
    std::size_t count = 0;               ///< numbers
    std::vector<std::size_t> gradients;  ///< their indices as given
};

struct Packing {
    std::vector<std::size_t> begins;  ///< by gradient: its first number in the block
    std::vector<Bucket> buckets;      ///< in the order in which they fill
    std::size_t count = 0;            ///< numbers of the whole block
};

/// Bytes of the first bucket: small, so that communication begins early, as in PyTorch's DistributedDataParallel.
inline constexpr std::size_t first_bucket_bytes = 1 << 20;

/// Gradients by stage, those of one stage from the last to the first. A bucket is closed once it holds `least_bytes`
/// or more (the first one: first_bucket_bytes, if that is less), so a gradient is never cut. Each begins at a
/// multiple of 64 bytes.
Packing pack(const std::vector<GradientSize>& gradients, std::size_t least_bytes);

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
constexpr EnumNames<Mode::broadcast> names_of(Mode)
{
    return {"communication", {"overlapped", "serial", "broadcast"}};
}

/// What an exchange does, by the host's threads or by streams.
struct ExchangeOperations {
    /// Communication started from now on begins after the step's work so far.
    std::function<void()> communication_follows_step;
    /// The step's work from now on begins after the communication started so far.
    std::function<void()> step_follows_communication;
    std::function<void(const Bucket& bucket, Reach reach)> mean;
    std::function<void()> broadcast_parameters;
};

/// When which of them is done. A bucket's all-reduce starts once all its gradients are ready and the buckets before it
/// have started: so all ranks start them in one order, whatever the order in which gradients become ready.
class ExchangeOrder {
  public:
    ExchangeOrder(Packing packing, Mode mode, ExchangeOperations operations);

    /// Call it before the forward pass.
    void begin();
    /// Call it when the gradient is in its place, or its last kernel enqueued. Throws std::logic_error for one that was
    /// ready already.
    void ready(std::size_t gradient);
    /// Call it after the whole backward pass. The update follows the means. Throws std::logic_error if a gradient was
    /// not ready.
    void finish();

    const Packing& packing() const { return packing_; }
    Mode mode() const { return mode_; }

  private:
    Packing packing_;
    Mode mode_;
    ExchangeOperations operations_;
    std::vector<std::size_t> bucket_of_;  ///< by gradient
    std::vector<bool> seen_;              ///< by gradient
    std::vector<std::size_t> missing_;    ///< by bucket: gradients that are not ready
    std::size_t next_ = 0;                ///< the bucket to start next
};

class Exchange {
  public:
    /// `clock` must outlive this.
    Exchange(std::shared_ptr<Communicator> communicator, Packing packing, Mode mode, const Clock& clock);
    /// Waits for the running reduction; reductions that have not begun are dropped.
    ~Exchange();

    /// The gradient's place in the block.
    float* gradient(std::size_t index) const { return block_.data() + packing().begins[index]; }

    /// Before the forward pass; in mode broadcast, `parameters` are sent. Waits for it.
    void begin(const std::vector<std::span<std::byte>>& parameters);
    /// To be called when a gradient is complete in its place.
    void ready(std::size_t gradient) { order_.ready(gradient); }
    /// The backward pass is over: waits for the means, and returns what the step's communication cost so far.
    Communication finish();

    /// Whether this rank has the mean, and is to update the parameters.
    bool updates() const { return order_.mode() != Mode::broadcast || communicator_->rank == 0; }
    const Packing& packing() const { return order_.packing(); }

  private:
    class Background;
    ExchangeOperations operations();

    std::shared_ptr<Communicator> communicator_;
    const Clock& clock_;
    std::span<float> block_;
    std::vector<Interval> transfers_;
    std::vector<Interval> waits_;
    std::vector<std::span<std::byte>> parameters_;  ///< of this step
    Bytes broadcast_{};
    std::unique_ptr<Background> background_;
    ExchangeOrder order_;
};

}  // namespace roof::parallel
