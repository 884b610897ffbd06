#include "tools/roof/programs/simulation.hpp"

#include "ert/base/error.hpp"

namespace roof {

std::string missing_simulator()
{
    return "roof was built without valgrind's headers (Debian's package valgrind)";
}

bool under_simulator()
{
    return false;
}

void launch_for_simulator(Subject&, std::size_t)
{
    throw Error(missing_simulator());
}

}  // namespace roof
