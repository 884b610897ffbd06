// Prototypes and constants from nccl.h, which may not be installed; unchanged since version 2.10.
#include "workloads/nccl/ranks.hpp"

#include "ert/base/error.hpp"
#include "ert/gpu/check.hpp"

#include <array>
#include <chrono>
#include <span>
#include <string>
#include <thread>
#include <utility>

namespace roof::nccl {
namespace {

constexpr int operation_average = 4;
constexpr int type_of_bytes = 0;
constexpr int in_progress = 7;

/// In case a rank ends without reporting a failure.
constexpr std::chrono::minutes wait_limit{5};

/// NCCL takes it by value.
struct UniqueId {
    std::array<char, 128> bytes;
};

}  // namespace

int nccl_type(Precision precision)
{
    switch (precision) {
        case Precision::fp32:
            return 7;
        case Precision::fp16:
            return 6;
        case Precision::bf16:
            return 9;
        default:
            throw Unsupported("gradients are reduced in fp32, fp16 or bf16");
    }
}

template <class... Arguments>
void Ranks::call(const char* name, Arguments... arguments) const
{
    check(library_->functions().function<int(Arguments...)>(name)(arguments...), name);
}

Ranks::Ranks(std::shared_ptr<const gpu::Nccl> library, std::shared_ptr<parallel::Communicator> hosts)
    : library_(std::move(library)), hosts_(std::move(hosts))
{
    UniqueId id{};
    if (rank() == 0) call("ncclGetUniqueId", &id);
    hosts_->broadcast(std::as_writable_bytes(std::span(&id, 1)), 0);
    call("ncclCommInitRank", &communicator_, size(), id, rank());
}

Ranks::~Ranks()
{
    if (communicator_ == nullptr) return;
    library_->functions().function<int(ncclComm*)>("ncclCommDestroy")(communicator_);
}

void Ranks::enqueue_mean(const DeviceRange& range, parallel::Reach reach, cudaStream_t stream) const
{
    const int type = nccl_type(range.precision);
    const void* const from = range.begin;
    if (reach == parallel::Reach::all)
        call("ncclAllReduce", from, range.begin, range.count, type, operation_average, communicator_, stream);
    else
        call("ncclReduce", from, range.begin, range.count, type, operation_average, 0, communicator_, stream);
}

void Ranks::enqueue_broadcast(void* begin, std::size_t bytes, cudaStream_t stream) const
{
    const void* const from = begin;
    call("ncclBroadcast", from, begin, bytes, type_of_bytes, 0, communicator_, stream);
}

void Ranks::enqueue_exchange(const void* out, int to, void* in, int from, std::size_t bytes, cudaStream_t stream) const
{
    const gpu::Library& functions = library_->functions();
    // Outside a group a rank that sends would wait until the other receives.
    call("ncclGroupStart");
    int status = 0;
    if (to >= 0) {
        const auto send =
            functions.function<int(const void*, std::size_t, int, int, ncclComm*, cudaStream_t)>("ncclSend");
        status = send(out, bytes, type_of_bytes, to, communicator_, stream);
    }
    if (from >= 0 && status == 0) {
        const auto receive = functions.function<int(void*, std::size_t, int, int, ncclComm*, cudaStream_t)>("ncclRecv");
        status = receive(in, bytes, type_of_bytes, from, communicator_, stream);
    }
    const int ended = functions.function<int()>("ncclGroupEnd")();
    check(status, "ncclSend or ncclRecv");
    check(ended, "ncclGroupEnd");
}

void Ranks::wait(cudaStream_t stream) const
{
    using namespace std::chrono_literals;
    const auto begin = std::chrono::steady_clock::now();
    for (cudaError_t status = cudaStreamQuery(stream); status != cudaSuccess; status = cudaStreamQuery(stream)) {
        if (status != cudaErrorNotReady) gpu::check(status);
        throw_if_failed();
        if (std::chrono::steady_clock::now() - begin > wait_limit)
            throw Error("communication on the device was not over after five minutes");
        std::this_thread::sleep_for(50us);
    }
}

void Ranks::abandon()
{
    if (communicator_ == nullptr) return;
    library_->functions().function<int(ncclComm*)>("ncclCommAbort")(communicator_);
    communicator_ = nullptr;
}

void Ranks::throw_if_failed() const
{
    hosts_->throw_if_failed();
    int status = 0;
    call("ncclCommGetAsyncError", communicator_, &status);
    if (status != in_progress) check(status, "another rank, or the way to it, failed: NCCL");
}

void Ranks::check(int status, const char* what) const
{
    if (status == 0) return;
    const char* const text = library_->functions().function<const char*(int)>("ncclGetErrorString")(status);
    throw Error(std::string(what) + " ended with NCCL status " + std::to_string(status) + ": " + text);
}

}  // namespace roof::nccl
