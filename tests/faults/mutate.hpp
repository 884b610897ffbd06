// Changes of a text by chance: one accident, or any mutation.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace roof::faults {

using Chance = std::mt19937_64;

inline std::size_t below(Chance& chance, std::size_t most)
{
    return most == 0 ? 0 : std::uniform_int_distribution<std::size_t>(0, most - 1)(chance);
}

/// The begin and the length, line end included, of a line chosen by chance.
inline std::pair<std::size_t, std::size_t> any_line(Chance& chance, const std::string& text)
{
    const std::size_t inside = below(chance, text.size());
    const std::size_t end = std::min(text.find('\n', inside), text.size() - 1) + 1;
    const std::size_t before = inside == 0 ? std::string::npos : text.rfind('\n', inside - 1);
    const std::size_t begin = before == std::string::npos ? 0 : before + 1;
    return {begin, end - begin};
}

inline constexpr std::size_t simple_accidents = 9;

/// One accident, by its number: a bit, a digit, a letter lost, a quote, a line lost, repeated or moved, 64 zeroes, or a
/// tail cut.
inline std::string accident(Chance& chance, std::string text, std::size_t number)
{
    if (text.empty()) return text;
    const std::size_t at = below(chance, text.size());
    const auto [begin, length] = any_line(chance, text);
    switch (number) {
        case 0:
            text[at] = static_cast<char>(text[at] ^ (1 << below(chance, 8)));
            break;
        case 1: {
            const std::size_t digit = text.find_first_of("0123456789", at);
            if (digit != std::string::npos) text[digit] = static_cast<char>('0' + below(chance, 10));
            break;
        }
        case 2:
            text.erase(at, 1);
            break;
        case 3:
            text.insert(at, "\"");
            break;
        case 4:
            text.erase(begin, length);
            break;
        case 5:
            text.insert(begin, text.substr(begin, length));
            break;
        case 6: {
            const std::string line = text.substr(begin, length);
            text.erase(begin, length);
            text.insert(any_line(chance, text + "\n").first, line);
            break;
        }
        case 7:
            text.replace(at, std::min<std::size_t>(64, text.size() - at), std::string(64, '\0'));
            break;
        default:
            text.resize(at);
    }
    return text;
}

/// One to four changes, among them the words that readers treat in a special way.
inline std::string mutation(Chance& chance, std::string text)
{
    static constexpr std::array<std::string_view, 24> words{
        "nan",      "inf",  "-1",       "0",       "1e-320", "1e308", "99999999999999999999",
        "\"",       ",",    "\n",       "[",       "{",      "&a *a", "- - ",
        "%s",       "\xFF", "\xC2\x9B", "\x1B[2J", "=1+1",   "<b>",   "01",
        "!!binary", ": :",  "\r\n"};
    for (std::size_t changes = 1 + below(chance, 4); changes > 0; --changes) {
        if (below(chance, 2) == 0) {
            text = accident(chance, std::move(text), below(chance, simple_accidents));
            continue;
        }
        const std::size_t at = below(chance, text.size() + 1);
        const std::string_view word = words[below(chance, words.size())];
        if (below(chance, 2) == 0)
            text.insert(at, word);
        else
            text.replace(at, std::min(word.size(), text.size() - at), word);
    }
    return text;
}

/// The line with its batch, or its last number, replaced: a row or a record like it, with another name.
inline std::string numbered(std::string line, std::size_t number)
{
    const std::string text = std::to_string(number);
    const std::size_t batch = line.find("batch=");
    const std::size_t first = batch == std::string::npos ? line.find_last_of("0123456789") : batch + 6;
    if (first == std::string::npos) return line;
    const std::size_t begin = batch == std::string::npos ? line.find_last_not_of("0123456789", first) + 1 : first;
    const std::size_t end = std::min(line.find_first_not_of("0123456789", first), line.size());
    const std::string cell = "," + line.substr(begin, end - begin) + ",";
    line.replace(begin, end - begin, text);
    const std::size_t same = line.find(cell);
    if (batch != std::string::npos && same != std::string::npos) line.replace(same, cell.size(), "," + text + ",");
    return line;
}

/// A text of about 1 MB: a line repeated, with other numbers or as it is; the whole text repeated; a word repeated, or
/// a long one.
inline std::string large(Chance& chance, std::string text)
{
    static constexpr std::array<std::string_view, 14> words{"[",  "{\"a\":", "- ",  "\n- ",     "a", "9",  ",",
                                                            "\"", "\n",      "a\n", "&a [*a],", " ", "1,", "\xC2\x9B"};
    constexpr std::size_t bytes = 1'000'000;
    if (text.empty()) return text;
    std::string more;
    const auto [begin, length] = any_line(chance, text);
    const std::string line = text.substr(begin, length);
    const std::size_t how = below(chance, 4);
    const std::string_view word = words[below(chance, words.size())];
    for (std::size_t number = 1; more.size() + text.size() < bytes; ++number)
        more += how == 0 ? numbered(line, number) : how == 1 ? line : how == 2 ? text : std::string(word);
    const std::size_t at = how < 2 ? begin + length : how == 2 ? text.size() : below(chance, text.size() + 1);
    text.insert(at, more);
    return text;
}

}  // namespace roof::faults
