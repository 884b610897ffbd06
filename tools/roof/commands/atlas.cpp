// `roof atlas`: a command of the Python package (tools/python/roof/commands/atlas.py).
#include "tools/roof/commands/commands.hpp"
#include "tools/roof/programs/child_program.hpp"

namespace roof {

Action atlas(OptionParser& parser)
{
    parser.repeated("DIR");
    parser.value("--out");
    parser.flag("--json");
    return [&parser](Context&) { return run_in_package("atlas", parser.arguments()); };
}

}  // namespace roof
