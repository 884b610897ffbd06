// Standard output and standard error: no foreign text can control the terminal.
#pragma once

#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>

namespace roof {

/// Erases the current line of a terminal. The only control sequence that a SafeStream lets through.
inline constexpr std::string_view erase_line = "\r\033[K";

/// Passes text on at each line end and flush, made safe by printable_lines(). `sink` is borrowed.
class SafeStream : private std::streambuf, public std::ostream {
  public:
    explicit SafeStream(std::ostream& sink);
    ~SafeStream() override;

  private:
    int overflow(int letter) override;
    int sync() override;
    bool pass_on();

    std::ostream& sink_;
    std::string waiting_;
};

}  // namespace roof
