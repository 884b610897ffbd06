#include "workloads/parallel/follow.hpp"

#include "ert/base/error.hpp"
#include "workloads/parallel/cpus.hpp"
#include "workloads/parallel/mpi_object.hpp"
#include "workloads/parallel/world.hpp"

#include <signal.h>
#include <sys/prctl.h>

#include <memory>

namespace roof::parallel {
namespace {

/// A subject and the trace that its launches need; the trace is not read.
struct Share {
    explicit Share(std::unique_ptr<Subject> made) : subject(std::move(made)), trace(clock, subject->parts().size()) {}

    Clock clock = steady_clock();
    std::unique_ptr<Subject> subject;
    Trace trace;
};

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

void run_commands(const BenchRegistry& registry, Communicator& control, int rank_here)
{
    std::unique_ptr<Share> share;
    while (true) {
        const Command command = receive(control);
        switch (command.kind) {
            case CommandKind::make:
                share = make_share(registry, command.assignment, rank_here);
                break;
            case CommandKind::launch:
                if (share == nullptr) throw Error("there is nothing to launch");
                share->trace.reset();
                share->subject->launch(share->trace);
                break;
            case CommandKind::release:
                share.reset();
                break;
            case CommandKind::leave:
                return;
        }
    }
}

/// A terminal interrupts all processes; only rank 0 can tell when a launch is over.
void leave_interrupts_to_the_first()
{
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
}

}  // namespace

int follow(const BenchRegistry& registry, const Place& place)
{
    leave_interrupts_to_the_first();
    if (place.launcher == Launcher::roof) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        keep_to(cpus_of(place.rank, place.ranks, allowed_cpus()));
    }
    const auto control = communicator_of(place);
    try {
        run_commands(registry, *control, place.rank_here);
    } catch (const std::exception& error) {
        control->fail("rank " + std::to_string(place.rank) + ": " + error.what());
        return 1;
    }
    if (place.launcher == Launcher::mpi) finish_mpi();
    return 0;
}

}  // namespace roof::parallel
