#include "ert/method/bench/bench.hpp"

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
Role parse_role(std::string_view word)
{
    return value_in(roles, "role", word);
}

}  // namespace roof
