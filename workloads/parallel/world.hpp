// The ranks of one subject: those that roof starts for it, or those that mpirun or srun started beside this process.
#pragma once

#include "workloads/parallel/commands.hpp"
#include "workloads/parallel/place.hpp"
#include "workloads/parallel/processes.hpp"

#include <memory>
#include <optional>
#include <string>

namespace roof::parallel {

/// Rank 0's hold on the others: they make their part when it is made, and let it go when it is destroyed.
class Followers {
  public:
    /// `processes`: null if others started them.
    Followers(std::shared_ptr<Communicator> control, std::shared_ptr<Processes> processes,
              const Assignment& assignment);
    ~Followers();
    Followers(const Followers&) = delete;
    Followers& operator=(const Followers&) = delete;

    /// Told before each launch of rank 0's own part.
    void launch() const { send(*control_, {CommandKind::launch, {}}); }
    /// The others let go of their parts now, as they else do when this is destroyed: for parts whose ends wait for each other.
    /// Returns whether they heard it; nothing is launched afterwards.
    bool release() noexcept;

  private:
    bool is_released_ = false;
    std::shared_ptr<Communicator> control_;
    std::shared_ptr<Processes> processes_;
};

struct World {
    std::shared_ptr<Communicator> communicator;
    std::shared_ptr<Followers> followers;  ///< null on all ranks but the first; goes before the communicator
    Place place;
};

/// Why that many ranks cannot be had here, or nothing.
std::optional<std::string> unsupported_ranks(int ranks, const Place& place);

/// On rank 0, tells the others to make this point's subject; on the others, joins. Then agree() is due on all of them.
/// Throws Unsupported, Error.
World open_world(const Assignment& assignment, int ranks);

/// The communicator of a process that is a rank of others already.
std::shared_ptr<Communicator> communicator_of(const Place& place);

}  // namespace roof::parallel
