#include "ert/base/error.hpp"
#include "tests/parallel/threads.hpp"
#include "workloads/parallel/commands.hpp"
#include "workloads/parallel/world.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::parallel;

TEST_CASE("a command arrives as it was sent, with any characters in its values")
{
    Device device;
    device.name = "gpu:0";
    device.others = {"gpu:1"};
    Point point;
    point.set("model", "resnet18");
    point.set("data", "a folder=with signs/ä");
    const Command command{CommandKind::make, assignment_of("train", device, point)};
    const auto messages = on_ranks(3, [&](Communicator& communicator) {
        if (communicator.rank == 0) {
            send(communicator, command);
            return send(communicator, {CommandKind::leave, {}});
        }
        const Command received = receive(communicator);
        if (received.kind != CommandKind::make || received.assignment.bench != "train") throw Error("another command");
        if (received.assignment.device(1) != "gpu:1" || received.assignment.point != command.assignment.point)
            throw Error("another point");
        if (receive(communicator).kind != CommandKind::leave) throw Error("not the end");
    });
    CHECK(messages == std::vector<std::string>(3));
}

TEST_CASE("the ranks of each machine take its devices by their numbers there")
{
    Device device;
    device.name = "gpu:0";
    device.others = {"gpu:1"};
    const Assignment assignment = assignment_of("train", device, {});
    // Four ranks of two machines: ranks 2 and 3 are 0 and 1 of theirs.
    CHECK(assignment.device(0) == "gpu:0");
    CHECK(assignment.device(1) == "gpu:1");
    device.others.clear();
    CHECK(assignment_of("train", device, {}).device(1) == "gpu:0");
}

TEST_CASE("every rank learns the nodes of all")
{
    const auto messages = on_ranks(3, [](Communicator& communicator) {
        const std::vector<std::string> nodes = nodes_of_ranks(communicator, "n" + std::to_string(communicator.rank));
        if (nodes != std::vector<std::string>{"n0", "n1", "n2"}) throw Error("other nodes");
    });
    CHECK(messages == std::vector<std::string>(3));
}

TEST_CASE("all ranks report the failure of one rank")
{
    const auto lacking = [](Communicator& communicator) {
        std::exception_ptr failure;
        if (communicator.rank == 1) failure = std::make_exception_ptr(Error("no such folder"));
        agree(communicator, failure);
    };
    CHECK(on_ranks(3, lacking) ==
          std::vector<std::string>{"rank 1: no such folder", "no such folder", "rank 1: no such folder"});
}

TEST_CASE("out of memory on one rank is out of memory on all")
{
    const auto messages = on_ranks(2, [](Communicator& communicator) {
        std::exception_ptr failure;
        if (communicator.rank == 1) failure = std::make_exception_ptr(OutOfMemory(Bytes{9e9}, Bytes{4e9}, "training"));
        bool is_out_of_memory = false;
        try {
            agree(communicator, failure);
        } catch (const OutOfMemory& error) {
            is_out_of_memory = error.wanted == Bytes{9e9};
        }
        if (!is_out_of_memory) throw Error("not out of memory");
    });
    CHECK(messages == std::vector<std::string>(2));
}

TEST_CASE("a team is released once, explicitly or at its end, and not after a rank has failed")
{
    const auto messages = on_ranks(2, [](Communicator& communicator) {
        if (communicator.rank == 0) {
            {
                Followers followers(shared(communicator), nullptr, {"train", {"gpu:0"}, {}});
                followers.launch();
                if (!followers.release() || !followers.release()) throw Error("not received");
            }
            send(communicator, {CommandKind::leave, {}});
            Followers lost(shared(communicator), nullptr, {"train", {"gpu:0"}, {}});
            communicator.fail("rank 0: enough");
            if (lost.release()) throw Error("received by nobody");
        } else {
            for (const CommandKind due : {CommandKind::make, CommandKind::launch, CommandKind::release,
                                          CommandKind::leave, CommandKind::make}) {
                if (receive(communicator).kind != due) throw Error("another command");
            }
        }
    });
    CHECK(messages == std::vector<std::string>(2));
}
