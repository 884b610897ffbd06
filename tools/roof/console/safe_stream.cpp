#include "tools/roof/console/safe_stream.hpp"

#include "ert/base/text.hpp"

namespace roof {

SafeStream::SafeStream(std::ostream& sink) : std::ostream(this), sink_(sink) {}

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
        sink_ << printable_lines(rest.substr(0, at)) << erase_line;
        rest.remove_prefix(at + erase_line.size());
    }
    sink_ << printable_lines(rest);
    waiting_.clear();
    return static_cast<bool>(sink_);
}

}  // namespace roof
