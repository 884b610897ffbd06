// Registers data-parallel training: a process that is not rank 0 runs the commands of rank 0 and ignores its command
// line.
#include "ert/method/bench/bench_registry.hpp"
#include "ert/method/bench/node.hpp"
#include "workloads/parallel/commands.hpp"
#include "workloads/parallel/follow.hpp"
#include "workloads/parallel/mpi_object.hpp"
#include "workloads/parallel/network_bench.hpp"

namespace roof {
namespace {

/// Rank 0 of ranks that MPI started: its destructor makes the others leave.
class MpiSession {
  public:
    MpiSession() : control_(parallel::mpi_communicator()) {}
    ~MpiSession()
    {
        try {
            parallel::send(*control_, {parallel::CommandKind::leave, {}});
        } catch (const std::exception&) {  // NOLINT: a rank is lost, and finish_mpi() ends the others
        }
        parallel::finish_mpi();
    }
    MpiSession(const MpiSession&) = delete;
    MpiSession& operator=(const MpiSession&) = delete;
    const std::string& transport() const { return control_->transport; }

  private:
    std::shared_ptr<parallel::Communicator> control_;
};

}  // namespace

void add_parallel(BenchRegistry& registry)
{
    const parallel::Place place = parallel::place_of_process();
    Machine& machine = registry.machine();
    if (place.launcher == parallel::Launcher::mpi)
        set_rank_nodes(machine, parallel::nodes_of_ranks(*parallel::mpi_communicator(), node_name()));
    for (const parallel::Messages kind : {parallel::Messages::pair, parallel::Messages::group})
        registry.add(std::make_unique<parallel::NetworkBench>(kind));
    if (place.rank > 0)
        return registry.follow_with(
            [place](const BenchRegistry& complete) { return parallel::follow(complete, place); });
    if (place.launcher != parallel::Launcher::mpi) return;
    const auto session = std::make_shared<MpiSession>();
    machine.versions["MPI"] = session->transport();
    registry.keep(session);
}

}  // namespace roof
