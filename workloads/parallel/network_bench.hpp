// Messages between ranks that mpirun or srun started, by what training uses: MPI from memory to memory, NCCL from GPU
// to GPU.
//   network_pair   two ranks send each other a message in turns. A launch counts the bytes of all messages, each way.
//   network        `ring`: each rank sends a message to the next one and receives one, all at once; the bytes that one
//   rank
//                  sends. `allreduce`: the mean that training takes of gradients; the message times 2(n-1)/n, which is
//                  what each rank must send in a ring of n ("bus").
// The time of one message or all-reduce is that of the launch divided by their number, which follows from the bytes.
#pragma once

#include "ert/method/bench/bench.hpp"
#include "ert/method/bench/machine.hpp"
#include "workloads/parallel/communicator.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace roof::parallel {

// What moves the messages of the bench `network`: the hosts' communicator, or another library between the ranks'
// devices.

/// A message of equal numbers on each member of a path. All members make the same calls in the same order; each throws
/// Error where another rank failed.
class Messenger {
  public:
    virtual ~Messenger() = default;

    /// Sets all numbers of the message that this member sends.
    virtual void fill(float value) = 0;
    /// Replaces the message by its mean over all members.
    virtual void reduce() = 0;
    /// Sends the message to member `to` and receives that of member `from`, at once; a negative member: nothing.
    virtual void exchange(int to, int from) = 0;
    /// Waits until the messages so far are delivered on this member.
    virtual void wait() = 0;
    /// The numbers of the mean, or of the message that exchange() received.
    virtual std::vector<float> mean() const = 0;
    virtual std::vector<float> received() const = 0;
};

/// How a kind of device sends messages.
struct Carrier {
    std::string device_kind;
    /// Why this device's ranks cannot send messages here, or nothing.
    std::function<std::optional<std::string>(const Device& device)> lacking;
    /// Collective over `members`. `count`: numbers of the message.
    std::function<std::unique_ptr<Messenger>(std::shared_ptr<Communicator> members, std::size_t count,
                                             const Device& device)>
        make;
    std::function<std::string(const Communicator& hosts)> library;  ///< its name and version: "NCCL 2.28.9"
    std::string within_node;                                        ///< what the messages of ranks on one node cross
};

/// From memory to memory, by the hosts' communicator.
Carrier host_carrier();

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
