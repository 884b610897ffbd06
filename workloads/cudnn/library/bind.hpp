// Binds an operation to the memory that it works in.
#pragma once

#include "ert/gpu/stream.hpp"
#include "workloads/cudnn/kernels/kernels.hpp"

#include <functional>
#include <stdexcept>
#include <variant>

namespace roof::cudnn {

/// Returns a function that enqueues the operation in the stream: by the first of the libraries that knows it, else by a
/// kernel. Libraries and stream must outlive it.
template <class... Libraries>
std::function<void()> bound(const ir::Operation& operation, const Memory& memory, const gpu::Stream& stream,
                            const Libraries&... libraries)
{
    std::function<void()> found;
    std::visit(
        [&](const auto& one) {
            [[maybe_unused]] const auto ask = [&](const auto& library) {
                if constexpr (requires { library.bound(one, memory); })
                    if (!found) found = library.bound(one, memory);
            };
            (ask(libraries), ...);
            if constexpr (requires { enqueue(one, memory, stream.get()); })
                if (!found) found = [one, memory, &stream] { enqueue(one, memory, stream.get()); };
        },
        operation);
    if (!found) throw std::logic_error("no library here knows the operation");
    return found;
}

}  // namespace roof::cudnn
