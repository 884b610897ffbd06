// What a training step on a GPU does with other ranks, each on a GPU of its own: gradients and parameters go by NCCL between the
// devices, orders and losses by the hosts' communicator.
#pragma once

#include "workloads/cudnn/device_program.hpp"
#include "workloads/nccl/device_exchange.hpp"
#include "workloads/parallel/world.hpp"

#include <memory>
#include <string>
#include <vector>

namespace roof::cudnn {

/// How gradients are exchanged.
struct ExchangeOptions {
    parallel::Mode mode = parallel::Mode::overlapped;
    std::size_t bucket_bytes = 25'000'000;
    bool shares_gpu = false;  ///< several ranks have this rank's GPU
};

class Ranks {
  public:
    /// Joins the other ranks, on the current device. Collective: where one cannot, all throw Error. `step` is the stream of the
    /// step's work; it and the program must outlive this.
    Ranks(const DeviceProgram& program, parallel::World world, std::shared_ptr<const gpu::Nccl> library,
          const ExchangeOptions& options, cudaStream_t step);
    /// Graphs that hold this rank's communication must be gone.
    ~Ranks();
    Ranks(const Ranks&) = delete;
    Ranks& operator=(const Ranks&) = delete;

    /// What puts the communication into the step; to be called in each launch or capture of it.
    GradientHooks hooks();

    /// Tells the other ranks to launch, if this is the first.
    void begin() const;
    /// Until the step is over on this rank's device; what its communication cost.
    Communication wait() const { return exchange_->cost(); }
    /// Waits for the others: a launch is over when all ranks are. Returns the mean of their losses.
    double mean(double loss) const;
    /// The launch failed on this rank: the others are told, and what waits for them on the device is ended. Graphs as above.
    void fail(const std::string& message);

    int count() const { return world_.communicator->size; }
    /// "2 ranks by NCCL 2.28.9, 3 buckets".
    std::string describe() const;
    /// What to know before believing a time.
    std::vector<std::string> remarks() const;

  private:
    void join(const DeviceProgram& program, std::shared_ptr<const gpu::Nccl> library, cudaStream_t step);

    parallel::World world_;
    ExchangeOptions options_;
    std::string library_;
    std::size_t buckets_ = 0;
    std::shared_ptr<nccl::Ranks> devices_;
    std::unique_ptr<nccl::DeviceExchange> exchange_;
};

/// NCCL takes ranks that share a GPU for a mistake, unless they seem to be on several machines. Whether a person asked for that, to
/// see that the code works and nothing else, by NCCL_HOSTID in the environment.
bool may_share_gpu();
/// If so, gives the rank a machine of its own in NCCL's eyes. Before the process joins others by NCCL for the first time.
void claim_own_machine(const parallel::Place& place);

}  // namespace roof::cudnn
