// Owners of the CUDA runtime's handles. Device code needs none, and <memory> is half of what it would parse.
#pragma once

#include "ert/gpu/check.hpp"

#include <cuda_runtime_api.h>

#include <memory>

namespace roof::gpu {

/// Calls the runtime's function `destroy`, and logs its failure.
template <auto destroy>
struct Destroy {
    template <class Object>
    void operator()(Object* handle) const noexcept
    {
        log_failure(destroy(handle));
    }
};

template <class Object, auto destroy>
using Handle = std::unique_ptr<Object, Destroy<destroy>>;

using EventHandle = Handle<CUevent_st, cudaEventDestroy>;

}  // namespace roof::gpu
