// What a training step does with other ranks: before it, between its backward pass and its update, and after it.
#pragma once

#include "ert/method/bench/clock.hpp"
#include "workloads/onednn/network.hpp"
#include "workloads/parallel/exchange.hpp"
#include "workloads/parallel/world.hpp"

#include <memory>
#include <string>
#include <vector>

namespace roof::onednn {

/// How gradients are exchanged.
struct ExchangeOptions {
    parallel::Mode mode = parallel::Mode::overlapped;
    std::size_t bucket_bytes = 25'000'000;
};

class Ranks {
  public:
    /// Gives the network's gradients their places. Collective; the network must outlive this.
    Ranks(Network& network, parallel::World world, const ExchangeOptions& options);

    /// Tells the other ranks, if this is the first, and begins with them.
    void begin();
    /// The backward pass, and the means of all gradients.
    void backward(Trace& trace);
    /// The update, by those ranks that are to make it; then waits for the others: a step is over when all are. Returns the mean of
    /// the ranks' losses.
    double update(double loss, Trace& trace);
    /// The step failed on this rank.
    void fail(const std::string& message) const { exchange_.communicator().fail(message); }

    int count() const { return exchange_.communicator().size; }
    std::string describe() const;
    /// What to know before believing a time.
    std::vector<std::string> remarks() const;

  private:
    parallel::World world_;
    Network& network_;
    Clock clock_ = steady_clock();
    parallel::Exchange exchange_;
};

/// The calling thread and the threads of its parallel regions keep to the rank's processors, for this object's life.
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
