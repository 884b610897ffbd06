#include "tools/roof/command_line.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"
#include "tools/roof/binary/version.hpp"
#include "tools/roof/commands/commands.hpp"
#include "tools/roof/console/shell.hpp"
#include "tools/roof/help.hpp"

#include <algorithm>
#include <exception>

namespace roof {
namespace {

using Words = std::vector<std::string>;

const Command& find_command(const std::string& name)
{
    const auto found = std::find_if(commands.begin(), commands.end(), [&](const Command& c) { return c.name == name; });
    if (found != commands.end()) return *found;
    Words names;
    for (const Command& command : commands) names.emplace_back(command.name);
    throw InputError(unknown_word("command", name, names));
}

bool asks_for_help(const Words& words)
{
    // What stands after two dashes is another program's.
    const auto end = std::find(words.begin(), words.end(), "--");
    return std::any_of(words.begin(), end, [](const std::string& w) { return w == "--help" || w == "-h"; });
}

int act(const Command& command, const Words& words, const Words& arguments, const Surroundings& around)
{
    OptionParser parser{std::string(command.name)};
    const Action action = command.declare(parser);
    parser.parse(words);
    BenchRegistry registry = around.assemble();
    if (registry.follower()) return registry.follower()(registry);
    registry.machine().versions["roof"] = version();
    registry.machine().versions["revision"] = revision();
    Context context{registry,
                    around.clock,
                    around.out,
                    around.err,
                    around.terminal,
                    around.interrupted,
                    "roof " + shell_line(arguments),
                    around.results};
    return action(context);
}

/// What `roof` starts itself as, once for each further rank of a step.
int be_a_rank(const Surroundings& around)
{
    const BenchRegistry registry = around.assemble();
    if (!registry.follower()) throw InputError("roof itself starts 'roof rank', for `roof run --ranks`");
    return registry.follower()(registry);
}

int obey(const Words& arguments, const Surroundings& around)
{
    const std::string first = arguments.empty() ? "help" : arguments.front();
    const Words rest(arguments.begin() + (arguments.empty() ? 0 : 1), arguments.end());
    if (first == "--version") {
        around.out << "roof " << version() << " (" << revision() << ")\n";
        return 0;
    }
    if (first == "--help" || first == "-h" || first == "help") {
        around.out << (rest.empty() ? overview() : help_of(find_command(rest.front()).name));
        return 0;
    }
    if (first == "rank") return be_a_rank(around);
    const Command& command = find_command(first);
    if (asks_for_help(rest)) {
        around.out << help_of(command.name);
        return 0;
    }
    return act(command, rest, arguments, around);
}

}  // namespace

int run_command_line(const std::vector<std::string>& arguments, const Surroundings& around)
{
    constexpr int failed = 1;
    constexpr int wrong_input = 2;
    const auto complain = [&](const std::exception& error, int status) {
        around.err << "roof: " << printable(error.what()) << '\n';
        return status;
    };
    try {
        const int status = obey(arguments, around);
        if (!around.out.flush()) throw InputError("standard output cannot be written");
        return status;
    } catch (const InputError& error) {
        return complain(error, wrong_input);
    } catch (const std::filesystem::filesystem_error& error) {
        return complain(error, wrong_input);
    } catch (const std::exception& error) {
        return complain(error, failed);
    }
}

}  // namespace roof
