// Messages between ranks that mpirun or srun started, by what training uses: MPI from memory to memory, NCCL from GPU to GPU.
//   network_pair   two ranks send each other a message in turns. A launch counts the bytes of all messages, each way.
//   network        `ring`: each rank sends a message to the next one and receives one, all at once; the bytes that one rank
//                  sends. `allreduce`: the mean that training takes of gradients; the message times 2(n-1)/n, which is
//                  what each rank must send in a ring of n ("bus").
// The time of one message or all-reduce is that of the launch divided by their number, which follows from the bytes.
#pragma once

#include "ert/method/bench/bench.hpp"
#include "workloads/parallel/messenger.hpp"

namespace roof::parallel {

enum class Messages { pair, group };

class NetworkBench : public Bench {
  public:
    explicit NetworkBench(Messages kind, Carrier carrier = host_carrier());

    std::vector<Axis> axes(const Machine& machine) const override;
    std::optional<std::string> unsupported_reason(const Point& point, const Machine& machine,
                                                  const Device& device) const override;
    std::unique_ptr<Subject> create(const Point& point, const Machine& machine, const Device& device) const override;

  private:
    Messages kind_;
    Carrier carrier_;
};

}  // namespace roof::parallel
