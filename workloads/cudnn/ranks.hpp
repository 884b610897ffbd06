// Communication between ranks on GPUs: gradients and parameters by NCCL, commands and losses by the hosts'
// communicator.
#pragma once

#include "workloads/cudnn/device_program.hpp"
#include "workloads/nccl/device_exchange.hpp"
#include "workloads/parallel/world.hpp"

#include <memory>
#include <string>

namespace roof::cudnn {

/// Divides the block of gradients, which lie in the order in which the backward pass completes them, into buckets of at
/// least `least_bytes`, with the padding between parameters, which is zero and stays zero in sums.
parallel::Packing pack(const Parameters& parameters, std::size_t least_bytes);

class Ranks {
  public:
    /// Joins the other ranks on the current device. Collective: if one fails, all throw Error. `step` is the stream of
    /// the step's work; it and the program must outlive this object.
    Ranks(const DeviceProgram& program, parallel::World world, std::shared_ptr<const gpu::Nccl> library,
          const parallel::Options& options, cudaStream_t step);
    /// Destroy all graphs that contain this rank's communication before.
    ~Ranks();
    Ranks(const Ranks&) = delete;
    Ranks& operator=(const Ranks&) = delete;

    /// Its functions put the communication into the step, in each launch or capture.
    nccl::DeviceExchange& exchange() { return *exchange_; }

    /// Waits until the step is complete on this rank's device. Returns the cost of its communication.
    Communication wait() const { return exchange_->cost(); }
    /// As Parameters::checksums(), once all parameters are complete.
    std::string checksums(const DeviceProgram& program) const;
    /// Ends pending communication on the device. Graphs as in ~Ranks().
    void abandon();

    /// Returns "2 ranks by NCCL 2.28.9, 3 buckets".
    std::string describe() const { return world_.describe(buckets_, library_); }

  private:
    void join(const DeviceProgram& program, std::shared_ptr<const gpu::Nccl> library, const parallel::Options& options,
              cudaStream_t step);

    parallel::World world_;
    std::string library_;
    std::size_t buckets_ = 0;
    std::shared_ptr<nccl::Ranks> devices_;
    std::unique_ptr<nccl::DeviceExchange> exchange_;
};

inline constexpr const char* lacking_nccl = "ranks on GPUs exchange gradients by NCCL, and libnccl.so.2 was not found";

/// Returns whether NCCL is told to let ranks share a GPU: by NCCL_HOSTID, or from 2.30 on by
/// NCCL_MULTI_RANK_GPU_ENABLE=1, which an older one ignores and refuses them. For functional tests only.
bool may_share_gpu();
/// If so, makes NCCL_HOSTID unique to the rank. Call it before the first use of NCCL in the process.
void claim_own_machine(const parallel::Place& place);

}  // namespace roof::cudnn
