#include "tools/roof/help.hpp"

#include "tools/roof/binary/embedded.hpp"
#include "tools/roof/commands/commands.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace roof {

std::string overview()
{
    std::string text(help_of("roof"));
    text += "\n## Commands\n\n";
    for (const Command& command : commands) text += fmt::format("    {:10} {}\n", command.name, command.summary);
    return text +
           "\n`roof help COMMAND` explains each with examples; `-o` is short for `--out`; `roof --version` or "
           "`-V`\nprints the version of this binary.\n";
}

std::string_view help_of(std::string_view command)
{
    const std::string path = "tools/roof/help/" + std::string(command) + ".md";
    for (const EmbeddedText& file : embedded_texts()) {
        if (file.path == path) return file.text;
    }
    throw std::logic_error("no help for " + std::string(command));
}

}  // namespace roof
