// Registers data-parallel training: a process that is not rank 0 runs the commands of rank 0 and ignores its command
// line.
#include "ert/base/error.hpp"
#include "ert/base/processors.hpp"
#include "ert/method/bench/bench_registry.hpp"
#include "ert/method/bench/identity.hpp"
#include "workloads/parallel/network_bench.hpp"
#include "workloads/parallel/place.hpp"
#include "workloads/parallel/world.hpp"

#include <signal.h>
#include <sys/prctl.h>

#include <memory>

namespace roof {
namespace parallel {
namespace {

/// A subject and the trace that its launches need; the trace is not read.
struct Share {
    explicit Share(std::unique_ptr<Subject> made) : subject(std::move(made)), trace(clock, subject->parts().size()) {}

    Clock clock = steady_clock();
    std::unique_ptr<Subject> subject;
    Trace trace;
};

Share& required(const std::unique_ptr<Share>& share, CommandKind kind)
{
    if (share == nullptr) throw Error("there is nothing to " + std::string(name(kind)));
    return *share;
}

/// Null where a rank could not make its part; agree() has then reported it to all.
std::unique_ptr<Share> make_share(const BenchRegistry& registry, const Assignment& assignment, int rank_here)
{
    const std::string name = assignment.device(rank_here);
    const std::string kind = name.substr(0, name.find(':'));
    const Bench* const bench = registry.find(assignment.bench, kind);
    if (bench == nullptr) throw Error("this program has no bench " + assignment.bench + " for a " + kind);
    const Device& device = registry.machine().device(name);
    try {
        return std::make_unique<Share>(bench->create(assignment.point, registry.machine(), device));
    } catch (const std::exception&) {
        return nullptr;
    }
}

/// agree() has reported a failure to all, and rank 0 then releases.
void check(Subject& subject)
{
    try {
        subject.check();
    } catch (const Error&) {  // NOLINT: see above
    }
}

/// Of a rank that roof started: a rank on a CPU has its part of the processors; one on a GPU has all, of which its step
/// takes those near that GPU.
void take_processors(const Place& place, const Assignment& assignment, const std::vector<int>& allowed)
{
    if (place.launcher != Launcher::roof) return;
    const bool is_cpu = assignment.device(place.rank_here).starts_with("cpu");
    keep_thread_to(is_cpu ? cpus_of(place.rank, place.ranks, allowed) : allowed);
}

void run_commands(const BenchRegistry& registry, Communicator& control, const Place& place)
{
    const std::vector<int> allowed = processors_of_thread();
    std::unique_ptr<Share> share;
    while (true) {
        const Command command = receive(control);
        switch (command.kind) {
            case CommandKind::make:
                take_processors(place, command.assignment, allowed);
                share = make_share(registry, command.assignment, place.rank_here);
                break;
            case CommandKind::launch:
                required(share, command.kind).trace.set_recording(command.recording);
                share->subject->launch(share->trace);
                break;
            case CommandKind::check:
                check(*required(share, command.kind).subject);
                break;
            case CommandKind::report:
                required(share, command.kind).subject->remarks();
                break;
            case CommandKind::release:
                share.reset();
                break;
            case CommandKind::leave:
                return;
        }
    }
}

/// The main loop of all ranks but the first: runs commands until rank 0 sends `leave` and returns the exit status.
/// Prints nothing but why it failed. Ignores interrupts, which rank 0 handles. Ends with rank 0 if that is this
/// process's parent.
int follow(const BenchRegistry& registry, const Place& place)
{
    // A terminal interrupts all processes; only rank 0 can tell when a launch is over.
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    if (place.launcher == Launcher::roof) prctl(PR_SET_PDEATHSIG, SIGKILL);
    const auto control = communicator_of(place);  // throws where there is no rank 0
    try {
        run_commands(registry, *control, place);
    } catch (const std::exception& error) {
        control->fail("rank " + std::to_string(place.rank) + ": " + error.what());
        return 1;
    }
    if (place.launcher == Launcher::mpi) finish_mpi();
    return 0;
}

/// Rank 0 of ranks that MPI started: its destructor makes the others leave.
struct MpiSession {
    MpiSession() = default;
    ~MpiSession()
    {
        try {
            send(*control, {CommandKind::leave, {}});
        } catch (const std::exception&) {  // NOLINT: a rank is lost, and finish_mpi() ends the others
        }
        finish_mpi();
    }
    MpiSession(const MpiSession&) = delete;
    MpiSession& operator=(const MpiSession&) = delete;

    const std::shared_ptr<Communicator> control = mpi_communicator();
};

/// Meets the ranks of the launcher that the environment names. Throws InputError if MPI knows nothing of it.
void join(BenchRegistry& registry)
{
    const Place place = place_of_process();
    Machine& machine = registry.machine();
    if (place.launcher == Launcher::mpi) {
        const auto control = mpi_communicator();
        check_place(place, control->rank, control->size);
        set_rank_nodes(machine, nodes_of_ranks(*control, node_name()));
    }
    if (place.rank > 0)
        return registry.follow_with([place](const BenchRegistry& complete) { return follow(complete, place); });
    if (place.launcher != Launcher::mpi) return;
    const auto session = std::make_shared<MpiSession>();
    machine.versions["MPI"] = session->control->transport;
    registry.keep(session);
}

}  // namespace
}  // namespace parallel

void add_parallel(BenchRegistry& registry)
{
    for (const parallel::Messages kind : {parallel::Messages::pair, parallel::Messages::group})
        registry.add(std::make_unique<parallel::NetworkBench>(kind));
    registry.join_with(parallel::join);
}

}  // namespace roof
