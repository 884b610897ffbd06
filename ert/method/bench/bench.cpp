#include "ert/method/bench/bench.hpp"

#include "ert/base/error.hpp"

namespace roof {

std::unique_ptr<Subject> Bench::make(const Point& point, const Machine& machine, const Device& device) const
{
    if (const auto reason = unsupported_reason(point, machine, device)) throw Unsupported(*reason);
    return create(point, machine, device);
}

}  // namespace roof
