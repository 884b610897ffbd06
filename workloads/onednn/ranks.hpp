// The communication of a training step with other ranks: before it, between backward pass and update, and after it.
#pragma once

#include "ert/method/bench/clock.hpp"
#include "workloads/onednn/network.hpp"
#include "workloads/parallel/options.hpp"
#include "workloads/parallel/world.hpp"

#include <memory>
#include <string>
#include <vector>

namespace roof::onednn {

class Ranks {
  public:
    /// Places the network's gradients. Collective; the network must outlive this.
    Ranks(Network& network, parallel::World world, const parallel::Options& options);

    /// Starts the step on all ranks; rank 0 sends the command.
    void begin();
    /// Runs the backward pass and averages all gradients.
    void backward(Trace& trace);
    /// Runs the update on the ranks that make it, then waits for all ranks. Returns the mean of the ranks' losses.
    double update(double loss, Trace& trace);
    /// Reports that the step failed on this rank.
    void fail(const std::string& message) const { world_.communicator->fail(message); }

    std::string describe() const { return world_.describe(exchange_.packing().buckets.size()); }
    /// Reasons why a time may not be representative.
    std::vector<std::string> remarks() const;

  private:
    parallel::World world_;
    Network& network_;
    Clock clock_ = steady_clock();
    parallel::Exchange exchange_;
};

/// Restricts the calling thread and the threads of its parallel regions to the rank's processors during its lifetime.
class Pinned {
  public:
    Pinned(const parallel::Place& place, int threads);
    ~Pinned();
    Pinned(const Pinned&) = delete;
    Pinned& operator=(const Pinned&) = delete;

  private:
    int threads_;
    std::vector<int> before_;
};

}  // namespace roof::onednn
