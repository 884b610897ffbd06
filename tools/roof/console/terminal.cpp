#include "tools/roof/console/terminal.hpp"

#include "ert/base/text.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace roof {
namespace {

/// The first variable that is set decides, as in setlocale().
bool is_utf8()
{
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        const std::string locale = in_lower_case(environment_variable(name));
        if (locale.empty()) continue;
        return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
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

Terminal detect_terminal(int descriptor)
{
    Terminal terminal;
    terminal.live = isatty(descriptor) == 1 && environment_variable("TERM") != "dumb";
    const int columns = columns_of(descriptor);
    if (columns > 0) terminal.columns = terminal.width = std::clamp(columns, 40, 200);
    terminal.plain = !is_utf8();
    return terminal;
}

SafeStream::SafeStream(std::ostream& sink, bool is_plain) : std::ostream(this), sink_(sink), is_plain_(is_plain) {}

SafeStream::~SafeStream()
{
    sync();
}

int SafeStream::overflow(int letter)
{
    constexpr int end_of_file = std::char_traits<char>::eof();
    if (letter == end_of_file) return 0;
    waiting_ += static_cast<char>(letter);
    return waiting_.back() != '\n' || pass_on() ? letter : end_of_file;
}

int SafeStream::sync()
{
    return pass_on() && sink_.flush() ? 0 : -1;
}

bool SafeStream::pass_on()
{
    std::string_view rest = waiting_;
    for (std::size_t at = 0; (at = rest.find(erase_line)) != std::string_view::npos;) {
        sink_ << safe(rest.substr(0, at)) << erase_line;
        rest.remove_prefix(at + erase_line.size());
    }
    sink_ << safe(rest);
    waiting_.clear();
    return static_cast<bool>(sink_);
}

std::string SafeStream::safe(std::string_view text) const
{
    const std::string printed = printable_lines(text);
    return is_plain_ ? in_ascii(printed) : printed;
}

std::string shell_word(std::string_view word)
{
    const auto harmless = [](unsigned char c) {
        return std::isalnum(c) != 0 || std::string_view("-_./=,:+@%").find(c) != std::string_view::npos;
    };
    if (!word.empty() && std::all_of(word.begin(), word.end(), harmless)) return std::string(word);
    std::string quoted = "'";
    for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
    return quoted + "'";
}

std::string shell_line(std::span<const std::string> words)
{
    std::string line;
    for (const std::string& word : words) line += (line.empty() ? "" : " ") + shell_word(word);
    return line;
}

}  // namespace roof
