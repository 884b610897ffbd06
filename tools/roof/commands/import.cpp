// `roof import`: the command of the Python package, behind the words that help and completion know.
#include "tools/roof/commands/commands.hpp"
#include "tools/roof/programs/child_program.hpp"

namespace roof {

Action import(OptionParser& parser)
{
    parser.list("FILE");
    for (const char* const option : {"--out", "--name", "--device"}) parser.value(option);
    parser.value("--machine", "imported");
    parser.flag("--json");
    return [&parser](Context&) { return run_in_package("import", parser.arguments()); };
}

}  // namespace roof
