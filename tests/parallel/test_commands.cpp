#include "ert/base/error.hpp"
#include "tests/parallel/threads.hpp"
#include "workloads/parallel/commands.hpp"
#include "workloads/parallel/world.hpp"

#include <atomic>
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
        if (nodes_of_ranks(communicator, std::string(200, 'n'))[1] != std::string(127, 'n')) throw Error("not 127");
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

TEST_CASE("of a long failure the others learn the first 511 letters")
{
    std::string words(600, 'a');
    words[510] = 'b';
    const auto messages = on_ranks(2, [&](Communicator& communicator) {
        agree(communicator, communicator.rank == 0 ? std::make_exception_ptr(Error(words)) : nullptr);
    });
    CHECK(messages == std::vector<std::string>{words, "rank 0: " + words.substr(0, 511)});
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
            is_out_of_memory = error.wanted == Bytes{9e9} && error.available == Bytes{4e9};
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
                followers.tell(CommandKind::launch);
                followers.tell(CommandKind::check);
                if (!followers.release() || !followers.release()) throw Error("not received");
            }
            send(communicator, {CommandKind::leave, {}});
            Followers lost(shared(communicator), nullptr, {"train", {"gpu:0"}, {}});
            communicator.fail("rank 0: enough");
            if (lost.release()) throw Error("received by nobody");
        } else {
            for (const CommandKind due : {CommandKind::make, CommandKind::launch, CommandKind::check,
                                          CommandKind::release, CommandKind::leave, CommandKind::make}) {
                if (receive(communicator).kind != due) throw Error("another command");
            }
        }
    });
    CHECK(messages == std::vector<std::string>(2));
}

TEST_CASE("a launch that is recorded is recorded on all ranks, and what each says of its device reaches the first")
{
    const auto messages = on_ranks(3, [](Communicator& communicator) {
        if (communicator.rank == 0) {
            const auto followers =
                std::make_shared<Followers>(shared(communicator), nullptr, Assignment{"train", {"gpu:0"}, {}});
            const World world{shared(communicator), followers, {}};
            world.tell(CommandKind::launch);
            world.tell(CommandKind::launch, Recording::counted);
            if (world.remarks_of_ranks("") != std::vector<std::string>{"rank 2: it was hot"}) throw Error("not heard");
        } else {
            if (receive(communicator).kind != CommandKind::make) throw Error("another command");
            if (receive(communicator).recording != Recording::none) throw Error("recorded");
            if (receive(communicator).recording != Recording::counted) throw Error("not recorded");
            if (receive(communicator).kind != CommandKind::report) throw Error("another command");
            World{shared(communicator), nullptr, {}}.remarks_of_ranks(communicator.rank == 2 ? "it was hot" : "");
            if (receive(communicator).kind != CommandKind::release) throw Error("another command");
        }
    });
    CHECK(messages == std::vector<std::string>(3));
}

TEST_CASE("of many ranks that say something the first four are heard, and the others counted")
{
    const auto messages = on_ranks(6, [](Communicator& communicator) {
        const auto all = World{shared(communicator), nullptr, {}}.remarks_of_ranks("hot");
        if (all != std::vector<std::string>{"rank 0: hot", "rank 1: hot", "rank 2: hot", "rank 3: hot",
                                            "likewise on 2 other ranks"})
            throw Error("others are heard");
    });
    CHECK(messages == std::vector<std::string>(6));
}

TEST_CASE("what differs from rank 0 is named on all ranks, and no difference is silent")
{
    const auto on_three = [](const std::string& of_rank_1) {
        return on_ranks(3, [&](Communicator& communicator) {
            require_same(communicator, communicator.rank == 1 ? of_rank_1 : "conv1 9408\nfc 10\n", "differ");
        });
    };
    CHECK(on_three("conv1 9408\nfc 10\n") == std::vector<std::string>(3));
    const std::string complaint = "the ranks differ: 'conv1 16384' here, 'conv1 9408' on rank 0";
    CHECK(on_three("conv1 16384\nfc 10\n") ==
          std::vector<std::string>{"rank 1: " + complaint, complaint, "rank 1: " + complaint});
    CHECK(on_three("conv1 9408\n")[0].find("'' here, 'fc 10' on rank 0") != std::string::npos);
    CHECK(on_three("conv1 9408\nfc 10\nfc 11\n")[2].find("'fc 11' here, '' on rank 0") != std::string::npos);
    const auto of_two = [](int longer) {
        return on_ranks(2, [&](Communicator& communicator) {
            require_same(communicator, communicator.rank == longer ? "conv1\nfc" : "conv1", "differ");
        })[1];
    };
    CHECK(of_two(1) == "the ranks differ: 'fc' here, '' on rank 0");
    CHECK(of_two(0) == "the ranks differ: '' here, 'fc' on rank 0");
    CHECK(on_three("")[1].find("'' here, 'conv1 9408' on rank 0") != std::string::npos);
}

TEST_CASE(
    "ranks that have other parameters after the same steps are told apart, and one that cannot read its own is named")
{
    const auto with = [](const std::function<std::string(int)>& lines) {
        return on_ranks(2, [&](Communicator& communicator) {
            const World world{shared(communicator), nullptr, {}};
            world.compare_parameters([&] { return lines(communicator.rank); });
        });
    };
    CHECK(with([](int) { return "conv1 7\nfc 8\n"; }) == std::vector<std::string>(2));
    const std::string complaint =
        "the ranks have different parameters after the same steps: 'fc 1' here, 'fc 0' on rank 0";
    CHECK(with([](int rank) { return "conv1 7\nfc " + std::to_string(rank) + "\n"; }) ==
          std::vector<std::string>{"rank 1: " + complaint, complaint});
    CHECK(with([](int rank) { return rank == 1 ? throw Error("no memory") : std::string(); }) ==
          std::vector<std::string>{"rank 1: no memory", "no memory"});
}

TEST_CASE("rank 0 makes its part first, and the others follow what it chose")
{
    std::atomic<int> made = 0;
    std::vector<std::string> followed(3);
    const auto messages = on_ranks(3, [&](Communicator& communicator) {
        const World world{shared(communicator), nullptr, {}};
        const auto rank = static_cast<std::size_t>(communicator.rank);
        const auto place = world.made_by_first([&] { return std::make_unique<int>(made++); },
                                               [&] { return "rank 0's, after " + std::to_string(made); },
                                               [&](const std::string& text) { followed[rank] = text; });
        if (place == nullptr || (*place == 0) != (rank == 0)) throw Error("made in another order");
    });
    CHECK(messages == std::vector<std::string>(3));
    CHECK(made == 3);
    CHECK(followed == std::vector<std::string>{"", "rank 0's, after 1", "rank 0's, after 1"});
}

TEST_CASE("a rank that cannot make its part after rank 0 has made its own fails on all ranks")
{
    const auto failing = [](int broken) {
        return on_ranks(2, [&](Communicator& communicator) {
            const World world{shared(communicator), nullptr, {}};
            world.made_by_first(
                [&] {
                    if (communicator.rank == broken) throw Error("no room");
                    return std::make_unique<int>(1);
                },
                [] { return std::string(); }, [](const std::string&) {});
        });
    };
    CHECK(failing(0) == std::vector<std::string>{"no room", "rank 0: no room"});
    CHECK(failing(1) == std::vector<std::string>{"rank 1: no room", "no room"});
}
