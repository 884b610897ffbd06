#include "ert/base/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

namespace roof {

std::string in_own_words(const std::exception& error)
{
    if (const auto* const of_file = dynamic_cast<const std::filesystem::filesystem_error*>(&error)) {
        std::error_code gone;
        static_cast<void>(std::filesystem::current_path(gone));
        if (gone) return "the working folder is not there any more (" + gone.message() + "): go to another one";
        const std::string file = (of_file->path2().empty() ? of_file->path1() : of_file->path2()).string();
        return "cannot use " + (file.empty() ? "a file" : file) + ": " + of_file->code().message();
    }
    std::string words = error.what();
    constexpr std::string_view mark = "[json.exception.";
    for (std::size_t at = 0; (at = words.find(mark)) != std::string::npos;) {
        const std::size_t end = words.find("] ", at);
        words.erase(at, end == std::string::npos ? mark.size() : end + 2 - at);
    }
    return words;
}

std::string in_ascii(std::string_view text)
{
    // clang-format off
    constexpr std::array<std::pair<std::string_view, std::string_view>, 19> words{{
        {"≤ ", "<="}, {"≥ ", ">="}, {"≤", "<="}, {"≥", ">="}, {"…", "..."}, {"²", "^2"}, {"³", "^3"}, {"·", "*"}, {"×", "x"}, {"√", "sqrt"},
        {"π", "pi"}, {"µ", "u"}, {"–", "-"}, {"—", "-"}, {"→", "->"}, {"│", "|"}, {"└", "+"}, {"─", "-"}, {"█", "#"}}};
    // clang-format on
    std::string ascii;
    while (!text.empty()) {
        const auto first = static_cast<unsigned char>(text.front());
        const auto* const word =
            std::ranges::find_if(words, [&](const auto& known) { return text.starts_with(known.first); });
        if (first < 0x80 || word != words.end()) {
            ascii += first < 0x80 ? text.substr(0, 1) : word->second;
            text.remove_prefix(first < 0x80 ? 1 : word->first.size());
            continue;
        }
        const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 1;
        unsigned code = first & (0xFFU >> (length + 1));
        for (std::size_t i = 1; i < std::min(length, text.size()); ++i)
            code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3F);
        if (length == 1 || length > text.size())
            ascii += '?';
        else if (code < 0x10000)
            ascii += fmt::format("\\u{:04x}", code);
        else
            ascii += fmt::format("\\u{:04x}\\u{:04x}", 0xD7C0 + (code >> 10), 0xDC00 + (code & 0x3FF));
        text.remove_prefix(std::min(length, text.size()));
    }
    return ascii;
}

}  // namespace roof
