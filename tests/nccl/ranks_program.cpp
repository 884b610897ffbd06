// `nccl_ranks N`: N processes check NCCL's exchange of gradients in every mode, on a GPU each or, for a functional
// test, on one. Exits with 77 if the machine cannot run it.
#include "ert/base/error.hpp"
#include "ert/gpu/check.hpp"
#include "workloads/nccl/device_exchange.hpp"
#include "workloads/parallel/world.hpp"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

using namespace roof;
using namespace roof::nccl;
using gpu::check;

namespace {

constexpr int skipped = 77;
constexpr std::size_t count = 1 << 20;

/// Returns the values of rank `rank`: small integers, so that means over a power of two of ranks are exact.
std::vector<float> numbers_of(int rank)
{
    std::vector<float> numbers(count);
    for (std::size_t i = 0; i < count; ++i)
        numbers[i] = static_cast<float>(i % 1024 + static_cast<std::size_t>(rank) * 64);
    return numbers;
}

float due(std::size_t index, int ranks)
{
    return static_cast<float>(index % 1024) + 32 * static_cast<float>(ranks - 1);
}

struct Memory {
    Memory() { check(cudaMalloc(&begin, count * sizeof(float))); }
    ~Memory() { gpu::log_failure(cudaFree(begin)); }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    void* begin = nullptr;
};

void exchange_in(parallel::Mode mode, const std::shared_ptr<const Ranks>& ranks)
{
    const Memory gradients;
    cudaStream_t step = nullptr;
    check(cudaStreamCreateWithFlags(&step, cudaStreamNonBlocking));
    const parallel::Packing packing = parallel::pack({{count / 2, 1}, {count / 2, 0}}, 0);
    {
        DeviceExchange exchange(ranks,
                                {.packing = packing,
                                 .mode = mode,
                                 .gradients = {gradients.begin, count, Precision::fp32},
                                 .parameters = {{gradients.begin, count * sizeof(float)}}},
                                step);
        exchange.begin();
        const std::vector<float> own = numbers_of(ranks->rank());
        check(cudaMemcpyAsync(gradients.begin, own.data(), count * sizeof(float), cudaMemcpyHostToDevice, step));
        exchange.ready(1);
        exchange.ready(0);
        exchange.finish();
        const Communication cost = exchange.cost();
        const double sent = (mode == parallel::Mode::broadcast ? 2 : 1) * sizeof(float) * static_cast<double>(count);
        if (cost.bytes.value != sent) throw Error("other bytes than the gradients, or than they and parameters");
        float first = 0;
        check(cudaMemcpy(&first, gradients.begin, sizeof(first), cudaMemcpyDeviceToHost));
        if (!exchange.updates() && first != own.front()) throw Error("a mean that only rank 0 needs");
        exchange.complete_parameters();
        std::vector<float> found(count);
        check(cudaMemcpy(found.data(), gradients.begin, count * sizeof(float), cudaMemcpyDeviceToHost));
        for (std::size_t i = 0; i < count; ++i) {
            if (found[i] != due(i, ranks->size()))
                throw Error("number " + std::to_string(i) + " is " + std::to_string(found[i]) + ", not " +
                            std::to_string(due(i, ranks->size())));
        }
    }
    check(cudaStreamDestroy(step));
}

void exchange_on(const std::shared_ptr<parallel::Communicator>& hosts, const std::shared_ptr<const gpu::Nccl>& library,
                 int devices)
{
    if (hosts->size > devices) {
        // NCCL refuses ranks that share a GPU unless they appear to be on different machines.
        setenv("NCCL_HOSTID", ("roof-" + std::to_string(hosts->rank)).c_str(), 1);
        setenv("NCCL_IB_DISABLE", "1", 1);
        setenv("NCCL_SOCKET_IFNAME", "lo", 1);
    }
    check(cudaSetDevice(hosts->rank % devices));
    const auto ranks = std::make_shared<Ranks>(library, hosts);
    for (const auto mode : {parallel::Mode::overlapped, parallel::Mode::serial, parallel::Mode::broadcast})
        exchange_in(mode, ranks);
    double done = 1;
    hosts->sum({&done, 1});
    if (hosts->rank == 0)
        std::cout << "NCCL " << library->version() << ": " << done << " rank(s) on " << devices
                  << " GPU(s) have the means\n";
}

int run(int ranks)
{
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        std::cout << "skipped: no GPU\n";
        return skipped;
    }
    const auto library = gpu::Nccl::open();
    if (library == nullptr) {
        std::cout << "skipped: libnccl.so.2 was not found\n";
        return skipped;
    }
    const parallel::Place place = parallel::place_of_process();
    if (place.launcher == parallel::Launcher::roof) {
        exchange_on(parallel::communicator_of(place), library, devices);
        return 0;
    }
    const auto memory = parallel::SharedMemory::create(ranks);
    parallel::Processes processes(memory, "/proc/self/exe");
    exchange_on(parallel::shared_memory_communicator(memory, 0, {.while_waiting = [&] { processes.check(); }}), library,
                devices);
    return 0;
}

}  // namespace

int main(int argc, char** argv)
{
    try {
        return run(argc > 1 ? std::max(1, std::atoi(argv[1])) : 1);
    } catch (const std::exception& error) {
        std::cerr << "nccl_ranks: " << error.what() << '\n';
        return 1;
    }
}
