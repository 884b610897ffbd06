// Prototypes and constants from nccl.h, which may not be installed; unchanged since version 2.14.
#include "workloads/nccl/ranks.hpp"

#include "ert/base/error.hpp"
#include "ert/gpu/check.hpp"

#include <span>
#include <utility>

namespace roof::nccl {
namespace {

constexpr int operation_average = 4;
constexpr int type_of_bytes = 0;

/// Collective.
gpu::UniqueId common_id(const gpu::Nccl& library, parallel::Communicator& hosts)
{
    gpu::UniqueId id;
    if (hosts.rank == 0) library.call("ncclGetUniqueId", &id);
    hosts.broadcast(std::as_writable_bytes(std::span(&id, 1)), 0);
    return id;
}

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
    library_->call(name, arguments...);
    own_.await(watch("the connection between the GPUs"));
}

Ranks::Ranks(std::shared_ptr<const gpu::Nccl> library, std::shared_ptr<parallel::Communicator> hosts, bool waits)
    : library_(std::move(library)),
      hosts_(std::move(hosts)),
      own_(library_, size(), common_id(*library_, *hosts_), rank(), waits)
{
    own_.await(watch("the start of NCCL"));
}

Ranks::~Ranks()
{
    try {
        if (own_.get() != nullptr) own_.leave(watch("the end of NCCL"));
    } catch (const Error&) {  // NOLINT: another rank has failed, which the row reports; the rank's destructor aborts
    }
}

gpu::WhileWaiting Ranks::watch(const char* what) const
{
    return [this, what](Seconds waited) { hosts_->watch(waited, what); };
}

void Ranks::enqueue_mean(const DeviceRange& range, parallel::Reach reach, cudaStream_t stream) const
{
    const int type = nccl_type(range.precision);
    const void* const from = range.begin;
    if (reach == parallel::Reach::all)
        call("ncclAllReduce", from, range.begin, range.count, type, operation_average, own_.get(), stream);
    else
        call("ncclReduce", from, range.begin, range.count, type, operation_average, 0, own_.get(), stream);
}

void Ranks::enqueue_broadcast(void* begin, std::size_t bytes, cudaStream_t stream) const
{
    const void* const from = begin;
    call("ncclBroadcast", from, begin, bytes, type_of_bytes, 0, own_.get(), stream);
}

void Ranks::enqueue_exchange(const void* out, int to, void* in, int from, std::size_t bytes, cudaStream_t stream) const
{
    // Outside a group a rank that sends would wait until the other receives.
    library_->grouped([&] {
        if (to >= 0) library_->call("ncclSend", out, bytes, type_of_bytes, to, own_.get(), stream);
        if (from >= 0) library_->call("ncclRecv", in, bytes, type_of_bytes, from, own_.get(), stream);
    });
    own_.await(watch("the connection between the GPUs"));
}

void Ranks::wait(cudaStream_t stream) const
{
    cudaError_t status = cudaErrorNotReady;
    gpu::wait_while([&] { return (status = cudaStreamQuery(stream)) == cudaErrorNotReady; },
                    [&](Seconds waited) {
                        hosts_->watch(waited, "the exchange between the GPUs");
                        own_.await([](Seconds) {});
                    });
    gpu::check(status);
}

}  // namespace roof::nccl
