// The commands that rank 0 sends to the other ranks.
#pragma once

#include "ert/base/names.hpp"
#include "ert/method/bench/machine.hpp"
#include "ert/method/bench/point.hpp"
#include "ert/method/bench/trace.hpp"
#include "workloads/parallel/communicator.hpp"

#include <exception>
#include <string>
#include <vector>

namespace roof::parallel {

/// A point of a bench. `devices`: one for all ranks, or one for each rank of a machine.
struct Assignment {
    std::string bench;
    std::vector<std::string> devices;
    Point point;

    const std::string& device(int rank_here) const
    {
        return devices.size() == 1 ? devices.front() : devices.at(static_cast<std::size_t>(rank_here));
    }
};

/// For a device alone, or with the others that it is to work with.
Assignment assignment_of(const std::string& bench, const Device& device, const Point& point);

/// make: a subject is made; launch: it is launched once; check: it is checked; report: its remarks are asked for;
/// release: it is destroyed; leave: the rank ends.
enum class CommandKind { make, launch, check, report, release, leave };
constexpr EnumNames<CommandKind::leave> names_of(CommandKind)
{
    return {"command", {"make", "launch", "check", "report", "release", "leave"}};
}

struct Command {
    CommandKind kind = CommandKind::leave;
    Assignment assignment{};  ///< for `make`
    Recording recording =
        Recording::none;  ///< for `launch`: a rank that does not know that it is recorded does more than the others
};

/// Rank 0 sends and all others receive; both are collective. send() throws Error for a point whose text exceeds 16 KiB.
void send(Communicator& communicator, const Command& command);
Command receive(Communicator& communicator);

/// The name of each rank's node; `own` is this rank's. Collective.
std::vector<std::string> nodes_of_ranks(Communicator& communicator, const std::string& own);

/// Rank 0's text, or that of another. Collective.
std::string text_of_first(Communicator& communicator, std::string text, int first = 0);

/// Exchanges whether each rank succeeded; `failure` is this rank's exception, or null. Collective. If any rank
/// failed, all ranks throw: the failed one its own exception, the others OutOfMemory or Error with the message of the
/// first failed rank.
void agree(Communicator& communicator, const std::exception_ptr& failure);

/// For what must be the same on all ranks, such as the layout of gradients that are added: one line for each thing.
/// Collective. If a rank's lines are not those of rank 0, all ranks throw an Error that names the first that differs:
/// "the ranks `differ`: …".
void require_same(Communicator& communicator, const std::string& lines, const std::string& differ);
inline constexpr const char* differ_in_layout = "store gradients or parameters differently";

}  // namespace roof::parallel
