// The terminal: its properties, streams that are safe for it, and words that can be pasted into its shell.
#pragma once

#include <ostream>
#include <span>
#include <streambuf>
#include <string>
#include <string_view>

namespace roof {

/// Empty if the variable is not set.
std::string environment_variable(const char* name);

struct Terminal {
    bool live = false;  ///< a terminal whose lines can be redrawn
    int columns = 80;
    int width = 0;      ///< columns of the window; 0 without one, as in a pipe
    bool plain = true;  ///< ASCII only: the locale is not UTF-8
};

/// Of a stream's descriptor. Uses isatty, the window's size, LC_ALL, LC_CTYPE, LANG and TERM.
Terminal detect_terminal(int descriptor);

// Standard output and standard error: no foreign text can control the terminal.

/// Erases the current line of a terminal. The only control sequence that a SafeStream lets through.
inline constexpr std::string_view erase_line = "\r\033[K";

/// Passes text on at each line end and flush, made safe by printable_lines(), and by in_ascii() if it is plain. `sink`
/// is borrowed.
class SafeStream : private std::streambuf, public std::ostream {
  public:
    explicit SafeStream(std::ostream& sink, bool is_plain = false);
    ~SafeStream() override;

  private:
    int overflow(int letter) override;
    int sync() override;
    bool pass_on();

    std::string safe(std::string_view text) const;

    std::ostream& sink_;
    bool is_plain_;
    std::string waiting_;
};

// Quoting for a POSIX shell, so that a printed command can be pasted.

std::string shell_word(std::string_view word);
std::string shell_line(std::span<const std::string> words);

}  // namespace roof
