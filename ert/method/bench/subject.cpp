#include "ert/method/bench/subject.hpp"

#include "ert/base/names.hpp"

#include <array>

namespace roof {
namespace {

constexpr std::array<Named<Phase>, 3> phases{{
    {Phase::forward, "forward"},
    {Phase::backward, "backward"},
    {Phase::update, "update"},
}};

}  // namespace

std::string_view name(Phase phase)
{
    return name_in(phases, phase);
}
Phase parse_phase(std::string_view word)
{
    return value_in(phases, "phase", word);
}

}  // namespace roof
