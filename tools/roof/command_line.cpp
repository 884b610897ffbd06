#include "tools/roof/command_line.hpp"

#include "ert/base/error.hpp"
#include "ert/base/names.hpp"
#include "ert/base/ranges.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/identity.hpp"
#include "tools/roof/binary/binary.hpp"
#include "tools/roof/commands/commands.hpp"
#include "tools/roof/console/output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>

namespace roof {
namespace {

using Arguments = std::vector<std::string>;

const Command& find_command(const std::string& name)
{
    if (const Command* const command = find_in(commands, name, &Command::name)) return *command;
    std::vector<std::string> names = names_in(commands);
    names.emplace_back("help");
    throw InputError(unknown_word("command", name, names));
}

bool asks_for_help(const Arguments& arguments)
{
    // Arguments after "--" belong to another program.
    const auto end = std::find(arguments.begin(), arguments.end(), "--");
    return std::any_of(arguments.begin(), end, [](const std::string& w) { return w == "--help" || w == "-h"; });
}

int run_command(const Command& command, const Arguments& rest, const Arguments& arguments,
                const Environment& environment)
{
    OptionParser parser{std::string(command.name)};
    const Action action = command.declare(parser);
    parser.parse(rest);
    BenchRegistry registry = environment.assemble();
    if (command.measures) registry.join();
    if (registry.follower()) return registry.follower()(registry);
    registry.machine().versions["roof"] = version();
    registry.machine().versions["revision"] = revision();
    if (registry.machine().node.empty()) {
        registry.machine().node = node_name();
        registry.machine().host = host_id();
    }
    Context context{environment, registry, "roof " + shell_line(arguments)};
    const int status = action(context);
    return std::max(status, context.status);
}

/// `roof rank`: roof starts itself with this command for each further rank of a training step.
int run_as_rank(const Environment& environment)
{
    BenchRegistry registry = environment.assemble();
    registry.join();
    if (!registry.follower()) throw InputError("roof itself starts 'roof rank', for `roof run --ranks`");
    return registry.follower()(registry);
}

std::size_t indent_of(std::string_view line)
{
    return std::min(line.find_first_not_of(' '), line.size());
}

/// Where the description begins in "    --option NAME  description"; npos without one.
std::size_t description_in(std::string_view line)
{
    const std::size_t gap = line.find("  ", indent_of(line));
    return gap == std::string_view::npos ? gap : line.find_first_not_of(' ', gap);
}

/// Whether `line` continues `before`: a paragraph, or the description of an option at the same column.
bool continues(std::string_view line, std::string_view before)
{
    if (line.empty() || before.empty() || before.starts_with('#')) return false;
    const std::size_t indent = indent_of(line);
    if (indent == 0) return indent_of(before) == 0;
    return indent > 4 && indent == description_in(before) && line.find("  ", indent) == std::string_view::npos;
}

/// The lines of a page; those of a paragraph are one, and those of an option's description.
std::vector<std::string> whole_lines(const std::string& page)
{
    std::vector<std::string> lines;
    for (const std::string& line : split(std::string_view(page).substr(0, page.size() - 1), '\n')) {
        if (!lines.empty() && continues(line, lines.back()))
            lines.back() += " " + line.substr(indent_of(line));
        else
            lines.push_back(line);
    }
    return lines;
}

/// "roof run MODEL --batch N [options]" of a form with each of them in brackets.
std::string without_options(const std::string& form)
{
    const std::size_t first = form.find(" [--"), program = form.find(" -- ");
    if (first == form.npos) return form;
    return form.substr(0, first) + " [options]" + (program == form.npos ? "" : form.substr(program));
}

/// An option's description as far as there is room, and its usual value if there is some more.
std::string one_line(const std::string& option, std::size_t width)
{
    const std::size_t usual = option.ends_with(']') ? option.rfind("  [") : option.npos;
    std::string text(trim(option.substr(0, usual)));
    const std::string value = usual == option.npos ? "" : " " + std::string(trim(option.substr(usual)));
    if (text.size() + value.size() + 4 <= width) return "    " + text + value + "\n";
    if (text.size() + 4 > width) text = text.substr(0, text.rfind(' ', width - 8)) + " ...";
    return "    " + text + "\n";
}

/// The page in lines that fit the window, if there is one; examples stay whole.
std::string fitted_help(const std::string& page, const Terminal& terminal)
{
    if (terminal.width <= 0) return page;
    const std::vector<std::string> lines =
        whole_lines(terminal.plain ? in_ascii(page) : page);  // its signs may be longer
    std::string text;
    bool is_example = false;
    for (const std::string& line : lines) {
        if (line.starts_with('#')) is_example = line == "## Examples";
        const bool is_whole = is_example && line.starts_with(' ');
        text += is_whole ? line + "\n" : in_window(line + "\n", terminal);
    }
    return text;
}

int dispatch(const Arguments& arguments, const Environment& environment)
{
    const std::string first = arguments.empty() ? "help" : arguments.front();
    const Arguments rest(arguments.begin() + (arguments.empty() ? 0 : 1), arguments.end());
    if (first == "--version" || first == "-V") {
        environment.out << "roof " << version() << " (" << revision() << ")\n";
        return 0;
    }
    if (first == "--help" || first == "-h" || first == "help") {
        const bool of_all = rest.empty() || rest.front() == "help";
        const std::string page =
            of_all ? overview(first == "help" && !arguments.empty()) : help_of(find_command(rest.front()).name);
        environment.out << fitted_help(page, environment.terminal);
        return 0;
    }
    if (first == "rank") return run_as_rank(environment);
    const Command& command = find_command(first);
    if (asks_for_help(rest)) {
        environment.out << short_help(command.name, environment.terminal);
        return 0;
    }
    return run_command(command, rest, arguments, environment);
}

}  // namespace

int run_command_line(const std::vector<std::string>& arguments, const Environment& unsafe)
{
    SafeStream out(unsafe.out, unsafe.terminal.plain);
    SafeStream err(unsafe.err, unsafe.messages.plain);
    Environment environment{out,
                            err,
                            unsafe.assemble,
                            unsafe.clock,
                            unsafe.terminal,
                            unsafe.interrupted,
                            unsafe.results,
                            {},
                            unsafe.messages,
                            unsafe.measured_anew};
    if (unsafe.start_again) {
        environment.start_again = [&] {
            out.flush();
            err.flush();
            unsafe.start_again();
        };
    }
    constexpr int failed = 1;
    constexpr int wrong_input = 2;
    const auto complain = [&](const std::exception& error, int status) {
        constexpr std::size_t longest = 2000;
        environment.err << in_window("roof: " + shortened(printable(in_own_words(error)), longest) + '\n',
                                     environment.messages);
        return status;
    };
    try {
        const int status = dispatch(arguments, environment);
        if (!environment.out.flush()) throw InputError("standard output cannot be written");
        return status;
    } catch (const InputError& error) {
        return complain(error, wrong_input);
    } catch (const std::filesystem::filesystem_error& error) {
        return complain(error, wrong_input);
    } catch (const Error& error) {
        return complain(error, failed);
    } catch (const std::bad_alloc&) {
        return complain(Error("there is not enough memory for this command"), failed);
    } catch (const std::exception& error) {  // of a library, and not explained by the code that called it
        return complain(Error("unexpected: " + in_own_words(error)), failed);
    }
}

std::string short_help(std::string_view command, const Terminal& terminal)
{
    constexpr std::size_t most_forms = 3, most_options = 10, most_examples = 3, usual_width = 100;
    const std::size_t width = terminal.width > 0 ? static_cast<std::size_t>(terminal.width) : usual_width;
    const std::string page = help_of(command);
    std::vector<std::string> forms, options, examples;
    std::string sentence, part;
    for (const std::string& line : whole_lines(terminal.plain ? in_ascii(page) : page)) {
        const bool is_entry = indent_of(line) == 4;
        if (line.starts_with('#'))
            part = line;
        else if (part == "## Options" && is_entry)
            options.push_back(line);
        else if (part == "## Examples" && is_entry)
            examples.push_back(line);
        else if (part.starts_with("# ") && sentence.empty() && is_entry)
            forms.push_back(line);
        else if (part.starts_with("# ") && sentence.empty() && indent_of(line) > 4)
            forms.back() += line.substr(indent_of(line) - 1);
        else if (part.starts_with("# ") && sentence.empty() && !line.empty())
            sentence = line.substr(0, line.find(". "));
    }
    std::string text;
    for (std::size_t i = 0; i < std::min(forms.size(), most_forms); ++i)
        text += in_window(without_options(forms[i]) + "\n", terminal);
    text += "\n" + in_window(sentence + (sentence.ends_with('.') ? "\n\n" : ".\n\n"), terminal);
    for (std::size_t i = 0; i < std::min(options.size(), most_options); ++i) text += one_line(options[i], width);
    text += "\n";
    for (std::size_t i = 0; i < std::min(examples.size(), most_examples); ++i) text += examples[i] + "\n";
    return text + fmt::format("\n`roof help {}` has all {} options and explains them.\n", command, options.size());
}

std::string overview(bool is_whole)
{
    std::string text = help_of("roof");
    if (!is_whole) text.erase(text.find("\n## Output"));
    text += "\n## Commands\n\n";
    for (const Command& command : commands) text += fmt::format("    {:10} {}\n", command.name, command.summary);
    return text +
           "\n`roof COMMAND --help` is one screen, `roof help COMMAND` its whole page, `roof help` where results are "
           "kept; `-o` is short for `--out`; `roof --version` or `-V` prints the version.\n";
}

std::string help_of(std::string_view command)
{
    return embedded_text(fmt::format("tools/roof/help/{}.md", command));
}

}  // namespace roof
