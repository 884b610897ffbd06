#include "ert/base/error.hpp"
#include "tests/parallel/threads.hpp"
#include "workloads/parallel/orders.hpp"
#include "workloads/parallel/world.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::parallel;

TEST_CASE("an order arrives as it was said, whatever signs its values hold")
{
    Device device;
    device.name = "gpu:0";
    device.others = {"gpu:1"};
    Point point;
    point.set("model", "resnet18");
    point.set("data", "a folder=with signs/ä");
    const Order order{Word::make, assignment_of("train", device, point)};
    const auto complaints = on_ranks(3, [&](const Communicator& communicator) {
        if (communicator.rank == 0) {
            say(communicator, order);
            return say(communicator, {Word::leave, {}});
        }
        const Order heard = hear(communicator);
        if (heard.word != Word::make || heard.assignment.bench != "train") throw Error("another order");
        if (heard.assignment.device(1) != "gpu:1" || heard.assignment.point != order.assignment.point)
            throw Error("another point");
        if (hear(communicator).word != Word::leave) throw Error("not the end");
    });
    CHECK(complaints == std::vector<std::string>(3));
}

TEST_CASE("what one rank lacks, all ranks say")
{
    const auto lacking = [](const Communicator& communicator) {
        std::exception_ptr failure;
        if (communicator.rank == 1) failure = std::make_exception_ptr(Error("no such folder"));
        agree(communicator, failure);
    };
    CHECK(on_ranks(3, lacking) ==
          std::vector<std::string>{"rank 1: no such folder", "no such folder", "rank 1: no such folder"});
}

TEST_CASE("memory that one rank lacks is out of memory on all")
{
    const auto complaints = on_ranks(2, [](const Communicator& communicator) {
        std::exception_ptr failure;
        if (communicator.rank == 1) failure = std::make_exception_ptr(OutOfMemory(Bytes{9e9}, Bytes{4e9}, "training"));
        try {
            agree(communicator, failure);
        } catch (const OutOfMemory& error) {
            if (error.wanted == Bytes{9e9}) return;
        }
        throw Error("not out of memory");
    });
    CHECK(complaints == std::vector<std::string>(2));
}

TEST_CASE("a team is let go of once, when it is said or when it ends, and not told where a rank has failed")
{
    const auto complaints = on_ranks(2, [](const Communicator& communicator) {
        if (communicator.rank == 0) {
            {
                Team team(communicator, nullptr, {"train", {"gpu:0"}, {}});
                team.launch();
                if (!team.release() || !team.release()) throw Error("not heard");
            }
            say(communicator, {Word::leave, {}});
            Team lost(communicator, nullptr, {"train", {"gpu:0"}, {}});
            communicator.fail("rank 0: enough");
            if (lost.release()) throw Error("heard by nobody");
            return;
        }
        for (const Word due : {Word::make, Word::launch, Word::release, Word::leave, Word::make}) {
            if (hear(communicator).word != due) throw Error("another word");
        }
    });
    CHECK(complaints == std::vector<std::string>(2));
}
