#include "ert/method/bench/bench.hpp"

#include "ert/base/error.hpp"
#include "ert/base/names.hpp"

#include <array>

namespace roof {
namespace {

constexpr std::array<Named<Role>, 4> roles{{
    {Role::bandwidth, "bandwidth"},
    {Role::compute, "compute"},
    {Role::latency, "latency"},
    {Role::step, "step"},
}};

}  // namespace

std::string_view name(Role role)
{
    return name_in(roles, role);
}

Role parse_role(std::string_view name)
{
    return value_in(roles, "role", name);
}

std::unique_ptr<Subject> Bench::make(const Point& point, const Machine& machine, const Device& device) const
{
    if (const auto reason = unsupported_reason(point, machine, device)) throw Unsupported(*reason);
    return create(point, machine, device);
}

}  // namespace roof
