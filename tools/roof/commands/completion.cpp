// `roof completion`: a script that lets a shell complete command lines of roof. It asks `roof completion words`, so
// that it has the models, plans, devices and runs of the moment.
#include "analysis/estimate/estimate.hpp"
#include "analysis/study/exports/export.hpp"
#include "ert/base/names.hpp"
#include "ert/base/precision.hpp"
#include "ert/base/ranges.hpp"
#include "ert/base/text.hpp"
#include "tools/roof/binary/binary.hpp"
#include "tools/roof/commands/commands.hpp"
#include "tools/roof/console/terminal.hpp"
#include "tools/roof/reading/study.hpp"
#include "tools/roof/session/plans.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace roof {
namespace {

struct Shell {
    std::string_view name;  ///< its script is tools/roof/completion/roof.<name>
};
constexpr std::array<Shell, 3> shells{{{"bash"}, {"zsh"}, {"fish"}}};

/// Values that no other table has, with blanks between them.
struct KnownValues {
    std::string_view command, word, values;
};
constexpr KnownValues known_values[] = {
    {"list", "KIND", "models benches plans devices counters"},
    {"fleet", "DIR", "script retest history compare slurm pbs kubernetes parallel"},
    {"atlas", "DIR", "add"},
    {"fleet", "--device", "cpu gpu cpu,gpu"},
    {"health", "--device", "cpu gpu cpu,gpu"},
    {"health", "--prolog", "slurm"},
    {"estimate", "--algorithm", "direct auto"},
    {"estimate", "--link", "nvlink pcie"},
    {"profile", "--metrics", "usual traffic shared scalar tensor rare all"},
};

/// The known values of an option or argument; none where it takes a file or a number.
std::vector<std::string> values_of(std::string_view command, std::string_view word, const Context& context)
{
    std::vector<std::string> values;
    for (const KnownValues& known : known_values)
        if (known.command == command && known.word == word) values = split(known.values, ' ');
    if (command == "run" && word.starts_with("--")) values = trained_values(context.registry, word);
    if (command == "estimate" && word == "--phase") values = names_in(names_of(model::Use{}).rows);
    if (command == "estimate" && word == "--optimizer") values = names_in(names_of(model::Optimizer{}).rows);
    if (word == "MODEL") values = trained_values(context.registry, "--model");
    if (word == "PLAN" || word == "--plan") values = built_in_plans();
    if (word == "SHELL") values = names_in(shells);
    if (word == "--on") values = machine_names();
    if (word == "--format") values = analysis::export_formats();
    if (word == "--without")
        for (const auto& bench : context.registry.benches()) values.push_back(bench->name());
    if (word == "--precision" && values.empty()) values = names_in(precision_table);
    if (word == "--device" && values.empty()) {
        context.registry.open_all();
        values = names_in(context.registry.machine().devices);
    }
    if (word == "DIR")
        for (const Neighbour& machine : neighbours_in(context.results))
            for (const Neighbour& run : neighbours_in(machine.place)) values.push_back(run.place.string());
    return values;
}

/// What may stand at the end of a command line, with a tab before what it is. `line`: the words after "roof"; the last
/// one is being written.
std::vector<std::string> next_words(const std::vector<std::string>& line, const Context& context)
{
    std::vector<std::string> words;
    if (line.size() < 2 || line.front() == "help") {
        for (const Command& command : commands) words.push_back(fmt::format("{}\t{}", command.name, command.summary));
        words.insert(words.end(), {"help\tthe help of a command", "--help", "--version"});
        return words;
    }
    const Command* const command = find_in(commands, line.front(), &Command::name);
    if (command == nullptr) return words;
    OptionParser parser(line.front());
    const Action declared = command->declare(parser);
    const bool is_option = line.back().starts_with('-');
    if (is_option) words.emplace_back("--help");
    for (const DeclaredWord& word : parser.declared()) {
        if (word.takes_value && word.name == line[line.size() - 2]) return values_of(command->name, word.name, context);
        if (word.is_argument && !is_option) words = values_of(command->name, word.name, context);
        if (!word.is_argument && is_option) words.push_back(word.name);
    }
    return words;
}

}  // namespace

Action completion(OptionParser& parser)
{
    const std::string& shell = parser.required("SHELL");
    parser.repeated("WORD");
    return [&](Context& context) {
        const std::vector<std::string>& all = parser.arguments();
        const auto dashes = std::ranges::find(all, "--");
        const std::vector<std::string> line(dashes == all.end() ? dashes : dashes + 1, all.end());
        if (shell != "words") {
            const std::string_view name = row_in(shells, "shell", shell).name;
            context.out << embedded_text(fmt::format("tools/roof/completion/roof.{}", name));
            return 0;
        }
        for (const std::string& word : next_words(line, context)) {
            const std::string name = word.substr(0, word.find('\t'));
            const bool is_plain = shell_word(name) == name;  // anybody may have named a folder
            if ((line.empty() || name.starts_with(line.back())) && is_plain) context.out << word << '\n';
        }
        return 0;
    };
}

}  // namespace roof
