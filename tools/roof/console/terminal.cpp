#include "tools/roof/console/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace roof {
namespace {

/// The first variable that is set decides, as in setlocale().
bool is_utf8()
{
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        std::string locale = environment_variable(name);
        if (locale.empty()) continue;
        std::transform(locale.begin(), locale.end(), locale.begin(), [](unsigned char c) { return std::toupper(c); });
        return locale.find("UTF-8") != std::string::npos || locale.find("UTF8") != std::string::npos;
    }
    return false;
}

int columns_of(int descriptor)
{
    winsize size{};
    return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace

std::string environment_variable(const char* name)
{
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

Terminal detect_terminal()
{
    Terminal terminal;
    terminal.live = isatty(STDERR_FILENO) == 1 && environment_variable("TERM") != "dumb";
    const int columns = std::max(columns_of(STDOUT_FILENO), columns_of(STDERR_FILENO));
    if (columns > 0) terminal.columns = terminal.width = std::clamp(columns, 40, 200);
    terminal.plain = !is_utf8();
    return terminal;
}

}  // namespace roof
