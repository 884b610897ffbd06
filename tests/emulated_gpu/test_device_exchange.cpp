// A rank that exchanges with itself by the emulated NCCL: what it enqueues, what that costs, and how it ends.
#include "ert/base/error.hpp"
#include "tests/emulated_gpu/emulated_memory.hpp"
#include "tests/emulated_gpu/nccl/counts.hpp"
#include "tests/emulated_gpu/planted/planted.hpp"
#include "workloads/nccl/device_exchange.hpp"
#include "workloads/parallel/shared_memory.hpp"

using namespace roof;
using namespace roof::nccl;
using emulated::counts_of;

namespace {

std::shared_ptr<parallel::Communicator> alone()
{
    return parallel::shared_memory_communicator(parallel::SharedMemory::create(1), 0, {});
}

std::shared_ptr<const gpu::Nccl> library()
{
    return gpu::Nccl::open({ROOF_EMULATED_NCCL});
}

}  // namespace

TEST_CASE("a rank leaves NCCL at its end, aborts only what has failed, and waits no longer than its stream works")
{
    const auto nccl = library();
    const emulated::NcclCounts before = counts_of(*nccl);
    {
        const Ranks ranks(nccl, alone());
    }
    CHECK(counts_of(*nccl).aborted == before.aborted);
    {
        Ranks ranks(nccl, alone());
        const gpu::Stream stream;
        planted::enqueue_trap(stream.get());
        CHECK_THROWS_AS(ranks.wait(stream.get()), DeviceFault);
        ranks.abandon();
    }
    CHECK(counts_of(*nccl).aborted == before.aborted + 1);
    CHECK(counts_of(*nccl).alive == before.alive);
    CHECK_FALSE(emulated::fault_of_pending_work().empty());
}

TEST_CASE(
    "each step has the cost of its own messages, and only parameters that one rank updates are sent after the last")
{
    const auto nccl = library();
    const auto ranks = std::make_shared<Ranks>(nccl, alone());
    const gpu::Stream step;
    const emulated::Array<float> memory(32);
    const emulated::Card& card = emulated::machine().device(0).card;
    const double each = card.launch_cycles / card.clock_hz;  // of a message to itself
    const auto check_steps = [&](parallel::Mode mode, int messages, double bytes) {
        DeviceExchange exchange(ranks,
                                {.packing = parallel::pack({{16, 1}, {16, 0}}, 0),
                                 .mode = mode,
                                 .gradients = {memory.data(), 32, Precision::fp32},
                                 .parameters = {{memory.data(), 128}}},
                                step.get());
        for (int time = 0; time < 2; ++time) {
            INFO(static_cast<int>(mode) << " " << time);
            exchange.begin();
            exchange.ready(1);
            exchange.ready(0);
            exchange.finish();
            const Communication cost = exchange.cost();
            CHECK((cost.exposed + cost.hidden).value == Approx(messages * each).epsilon(1e-3));
            CHECK(cost.bytes == Bytes{bytes});
        }
        const int before = counts_of(*nccl).ran;
        exchange.complete_parameters();
        return counts_of(*nccl).ran - before;
    };
    CHECK(check_steps(parallel::Mode::overlapped, 2, 128) == 0);
    CHECK(check_steps(parallel::Mode::serial, 2, 128) == 0);
    CHECK(check_steps(parallel::Mode::broadcast, 3, 256) == 1);
}

TEST_CASE("messages between GPUs arrive as they were sent, and the next waits for the last")
{
    Device device;
    device.name = "gpu:0";
    const parallel::Carrier carrier = device_carrier();
    CHECK_FALSE(carrier.lacking(device));
    device.others = {"gpu:1"};
    CHECK(carrier.lacking(device).value_or("").find("1 ranks were started on this machine for 2 GPUs") == 0);
    device.others.clear();
    const auto messenger = carrier.make(alone(), 3, device);
    for (unsigned seed = 0; seed < 20; ++seed) {
        emulated::machine().chance().seed(seed);
        const auto sent = static_cast<float>(seed);
        messenger->fill(sent + 1);
        messenger->exchange(0, 0);
        messenger->reduce();
        messenger->fill(sent);
        CHECK(messenger->mean() == std::vector<float>(3, sent));
        CHECK(messenger->received() == std::vector<float>(3, sent + 1));
        messenger->exchange(0, 0);
        messenger->wait();
        CHECK(messenger->received() == std::vector<float>(3, sent));
    }
}
