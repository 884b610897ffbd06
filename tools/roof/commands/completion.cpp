// `roof completion`: a script that lets a shell complete command lines of roof. The commands and options are those that
// the parsers declare; the models, plans and devices are those of this binary.
#include "ert/base/error.hpp"
#include "ert/base/names.hpp"
#include "ert/base/precision.hpp"
#include "ert/base/text.hpp"
#include "tools/roof/commands/commands.hpp"
#include "tools/roof/session/plans.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace roof {
namespace {

struct Words {
    std::vector<std::string> plain;       ///< that take no value
    std::vector<std::string> with_value;  ///< that take one
    std::string arguments;                ///< known values of the arguments; empty where they are files
    bool takes_run = false;               ///< an argument is a results folder
};

std::vector<std::string> shell_names();

/// The known values of an option or argument, with blanks between them; empty where it takes a file or a number.
std::string values_of(std::string_view word, const BenchRegistry& registry)
{
    std::vector<std::string> values;
    if (word == "MODEL") values = trained_models(registry);
    if (word == "PLAN") values = built_in_plans();
    if (word == "KIND") values = {"models", "benches", "plans", "devices"};
    if (word == "SHELL") values = shell_names();
    if (word == "--precision") values = names_in(precision_table);
    if (word == "--device") values = names_in(registry.machine().devices);
    return join(values, " ");
}

Words words_of(const Command& command, const BenchRegistry& registry)
{
    OptionParser parser{std::string(command.name)};
    const Action declared = command.declare(parser);
    Words words;
    for (const DeclaredWord& word : parser.declared()) {
        words.takes_run = words.takes_run || word.name == "DIR";
        if (word.is_argument)
            words.arguments = values_of(word.name, registry);
        else
            (word.takes_value ? words.with_value : words.plain).push_back(word.name);
    }
    words.plain.emplace_back("--help");
    return words;
}

/// After an option that takes a value, the shell completes file names, since most of these values are files. A DIR is in every shell
/// also one of the runs among the results.
std::string bash_script(const BenchRegistry& registry)
{
    std::string cases;
    for (const Command& command : commands) {
        const Words words = words_of(command, registry);
        cases += fmt::format(
            "        {})\n            options='{} {}'\n            values='{}'\n            "
            "with_value=' {} '\n            ;;\n",
            command.name, join(words.plain, " "), join(words.with_value, " "),
            words.takes_run ? "$(compgen -G \"${ROOF_RESULTS:-results}/*/*\")" : words.arguments,
            join(words.with_value, " "));
    }
    return fmt::format(R"(# bash completion for roof, written by `roof completion bash`
_roof()
{{
    local word=${{COMP_WORDS[COMP_CWORD]}} last=${{COMP_WORDS[COMP_CWORD - 1]}} options='' values='' with_value=''
    case ${{COMP_WORDS[1]}} in
{}        help) values='{}' ;;
    esac
    if ((COMP_CWORD == 1)); then
        options='--help --version'
        values='{} help'
    elif [[ $last == --precision ]]; then
        values='{}'
    elif [[ $last == --device ]]; then
        values='{}'
    elif [[ $with_value == *" $last "* ]]; then
        values=''
    fi
    [[ $word == -* ]] && values=$options
    mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")
}}
complete -o bashdefault -o default -F _roof roof
)",
                       cases, join(names_in(commands), " "), join(names_in(commands), " "),
                       values_of("--precision", registry), values_of("--device", registry));
}

/// A word in single quotes for a shell; `special` characters get a backslash.
std::string quoted(std::string_view text, std::string_view special)
{
    std::string result = "'";
    for (const char c : text) {
        if (special.find(c) != std::string_view::npos) result += '\\';
        result += c == '\'' ? "'\\''" : std::string(1, c);
    }
    return result + "'";
}

std::string zsh_script(const BenchRegistry& registry)
{
    std::string summaries;
    std::string cases;
    for (const Command& command : commands) {
        const Words words = words_of(command, registry);
        summaries += "        " + quoted(fmt::format("{}:{}", command.name, command.summary), "") + '\n';
        cases += fmt::format("        {})\n            _arguments", command.name);
        for (const std::string& option : words.plain) cases += fmt::format(" '{}'", option);
        for (const std::string& option : words.with_value) {
            const std::string values = values_of(option, registry);
            cases += fmt::format(" '*{}:value:{}'", option, values.empty() ? "_files" : "(" + values + ")");
        }
        cases += words.takes_run           ? " '*:run:{compadd -f -- ${ROOF_RESULTS:-results}/*/*(N/); _files}'"
                 : words.arguments.empty() ? " '*:file:_files'"
                                           : fmt::format(" '*:value:({})'", words.arguments);
        cases += "\n            ;;\n";
    }
    return fmt::format(R"(#compdef roof
# zsh completion for roof, written by `roof completion zsh`
_roof()
{{
    local -a commands=(
{}        'help:the help of a command'
    )
    if ((CURRENT == 2)); then
        _describe command commands
        return
    fi
    shift words
    ((CURRENT--))
    case $words[1] in
{}        help) _describe command commands ;;
    esac
}}
# Runs when zsh loads this file as the function; a file that is sourced registers it.
if [[ $funcstack[1] == _roof ]]; then _roof "$@"; else compdef _roof roof; fi
)",
                       summaries, cases);
}

std::string fish_script(const BenchRegistry& registry)
{
    std::string lines = "# fish completion for roof, written by `roof completion fish`\n";
    for (const Command& command : commands)
        lines += fmt::format("complete -c roof -n __fish_use_subcommand -f -a {} -d {}\n", command.name,
                             quoted(command.summary, "\\"));
    lines +=
        "complete -c roof -n __fish_use_subcommand -f -a help -d 'the help of a command'\n"
        "complete -c roof -n __fish_use_subcommand -s V -l version -d 'the version of roof'\n"
        "complete -c roof -n '__fish_seen_subcommand_from help' -f -a '" +
        join(names_in(commands), " ") + "'\n";
    for (const Command& command : commands) {
        const Words words = words_of(command, registry);
        const std::string start = fmt::format("complete -c roof -n '__fish_seen_subcommand_from {}'", command.name);
        for (const std::string& option : words.plain) lines += fmt::format("{} -l {}\n", start, option.substr(2));
        for (const std::string& option : words.with_value) {
            const std::string values = values_of(option, registry);
            lines += fmt::format("{} -l {} -r{}\n", start, option.substr(2),
                                 values.empty() ? "" : " -f -a '" + values + "'");
        }
        if (!words.arguments.empty()) lines += fmt::format("{} -f -a '{}'\n", start, words.arguments);
        if (words.takes_run)
            lines += start + " -a '(set -l in $ROOF_RESULTS results; set -l runs $in[1]/*/*; string join \\n $runs)'\n";
    }
    return lines;
}

struct Shell {
    const char* name;
    std::string (*script)(const BenchRegistry&);
};
constexpr Shell shells[] = {{"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};

std::vector<std::string> shell_names()
{
    return names_in(shells);
}

int print_script(const std::string& name, const Context& context)
{
    const auto shell = std::ranges::find_if(shells, [&](const Shell& known) { return name == known.name; });
    if (shell == std::end(shells)) throw InputError("completion: " + unknown_word("shell", name, shell_names()));
    context.registry.open_all();  // for the devices
    context.out << shell->script(context.registry);
    return 0;
}

}  // namespace

Action completion(OptionParser& parser)
{
    return [&shell = parser.required("SHELL")](Context& context) { return print_script(shell, context); };
}

}  // namespace roof
