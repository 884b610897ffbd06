#include "ert/gpu/stream.hpp"

#include "ert/gpu/check.hpp"

namespace roof::gpu {

Stream::Stream()
{
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    handle_.reset(stream);
}

void Stream::synchronize() const
{
    check(cudaStreamSynchronize(handle_.get()));
}

void Stream::Destroy::operator()(cudaStream_t stream) const noexcept
{
    log_failure(cudaStreamDestroy(stream));
}

}  // namespace roof::gpu
