// The kinds of accidents in a file of a results folder.
#pragma once

#include "ert/base/text.hpp"
#include "tests/faults/mutate.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace roof::faults {

/// Changes a text that is not empty; `other`: the same file of another folder, or nothing.
struct Accident {
    std::string_view name;
    std::string (*make)(Chance& chance, std::string text, const std::string& other);
};

inline std::size_t place_of(Chance& chance, const std::string& text, const char* letters)
{
    const std::size_t at = text.find_first_of(letters, below(chance, text.size()));
    return at == std::string::npos ? text.find_first_of(letters) : at;
}

inline std::size_t end_of_header(const std::string& text)
{
    return std::min(text.find('\n'), text.size());
}

/// Changes the cells of a line chosen by chance, or of the header alone.
template <class Change>
std::string with_cells(Chance& chance, const std::string& text, bool in_header, const Change& change)
{
    const auto [begin, length] =
        in_header ? std::pair{std::size_t{0}, end_of_header(text) + 1} : any_line(chance, text);
    std::vector<std::string> cells = split(text.substr(begin, length > 0 ? length - 1 : 0), ',');
    if (!cells.empty()) change(cells);
    return text.substr(0, begin) + join(cells, ",") + "\n" + text.substr(std::min(begin + length, text.size()));
}

/// Changes the cells of every line.
template <class Change>
std::string with_columns(const std::string& text, const Change& change)
{
    std::string made;
    for (const std::string& line : split(text, '\n')) {
        std::vector<std::string> cells = split(line, ',');
        if (!line.empty()) change(cells);
        made += (made.empty() ? "" : "\n") + join(cells, ",");
    }
    return made;
}

template <int number>
std::string simple(Chance& chance, std::string text, const std::string&)
{
    return accident(chance, std::move(text), number);
}

template <char letter>
std::string inserted(Chance& chance, std::string text, const std::string&)
{
    text.insert(below(chance, text.size() + 1), 1, letter);
    return text;
}

template <char letter>
std::string lost(Chance& chance, std::string text, const std::string&)
{
    constexpr char letters[] = {letter, 0};
    if (const std::size_t at = place_of(chance, text, letters); at != std::string::npos) text.erase(at, 1);
    return text;
}

using Text = const std::string&;

inline constexpr std::array<Accident, 43> accidents{{
    {"a bit", simple<0>},
    {"a digit changed", simple<1>},
    {"a letter lost", simple<2>},
    {"a quote", simple<3>},
    {"a line lost", simple<4>},
    {"a line repeated", simple<5>},
    {"a line moved", simple<6>},
    {"64 zeroes", simple<7>},
    {"a tail cut", simple<8>},
    {"a digit added",
     [](Chance& chance, std::string text, Text) {
         const std::size_t at = place_of(chance, text, "0123456789");
         if (at != std::string::npos) text.insert(at, 1, static_cast<char>('0' + below(chance, 10)));
         return text;
     }},
    {"a digit lost",
     [](Chance& chance, std::string text, Text) {
         const std::size_t at = place_of(chance, text, "0123456789");
         if (at != std::string::npos) text.erase(at, 1);
         return text;
     }},
    {"a comma added", inserted<','>},
    {"a comma lost", lost<','>},
    {"a point lost", lost<'.'>},
    {"a line end added", inserted<'\n'>},
    {"a line end lost", lost<'\n'>},
    {"a space added", inserted<' '>},
    {"a space lost", lost<' '>},
    {"a minus", inserted<'-'>},
    {"a tab", inserted<'\t'>},
    {"a letter that is no UTF-8", inserted<'\xff'>},
    {"two letters exchanged",
     [](Chance& chance, std::string text, Text) {
         const std::size_t at = below(chance, text.size());
         std::swap(text[at], text[at > 0 ? at - 1 : 0]);
         return text;
     }},
    {"a capital",
     [](Chance& chance, std::string text, Text) {
         const std::size_t at = place_of(chance, text, "abcdefghijklmnopqrstuvwxyz");
         if (at != std::string::npos) text[at] = static_cast<char>(text[at] - 'a' + 'A');
         return text;
     }},
    {"a cell emptied",
     [](Chance& chance, std::string text, Text) {
         return with_cells(chance, text, false, [&](auto& cells) { cells[below(chance, cells.size())].clear(); });
     }},
    {"two cells exchanged",
     [](Chance& chance, std::string text, Text) {
         return with_cells(chance, text, false, [&](auto& cells) {
             std::swap(cells[below(chance, cells.size())], cells[below(chance, cells.size())]);
         });
     }},
    {"cells of the header exchanged",
     [](Chance& chance, std::string text, Text) {
         return with_cells(chance, text, true, [&](auto& cells) {
             std::swap(cells[below(chance, cells.size())], cells[below(chance, cells.size())]);
         });
     }},
    {"a letter of the header",
     [](Chance& chance, std::string text, Text) {
         text[below(chance, end_of_header(text) + 1)] = static_cast<char>('a' + below(chance, 26));
         return text;
     }},
    {"the header lost", [](Chance&, std::string text, Text) { return text.erase(0, end_of_header(text) + 1); }},
    {"the header twice",
     [](Chance&, std::string text, Text) { return text.insert(0, text.substr(0, end_of_header(text) + 1)); }},
    {"another folder's header",
     [](Chance&, std::string text, Text other) {
         return other.substr(0, end_of_header(other)) + text.substr(end_of_header(text));
     }},
    {"a column lost",
     [](Chance& chance, std::string text, Text) {
         const std::size_t column = below(chance, split(text.substr(0, end_of_header(text)), ',').size());
         return with_columns(text, [&](auto& cells) {
             if (column < cells.size()) cells.erase(cells.begin() + static_cast<std::ptrdiff_t>(column));
         });
     }},
    {"a column twice",
     [](Chance& chance, std::string text, Text) {
         const std::size_t column = below(chance, split(text.substr(0, end_of_header(text)), ',').size());
         return with_columns(text, [&](auto& cells) {
             if (column < cells.size()) cells.push_back(cells[column]);
         });
     }},
    {"two columns exchanged without their header",
     [](Chance& chance, std::string text, Text) {
         const std::size_t size = split(text.substr(0, end_of_header(text)), ',').size();
         const std::size_t one = below(chance, size), two = below(chance, size);
         bool is_header = true;
         return with_columns(text, [&](auto& cells) {
             if (!is_header && std::max(one, two) < cells.size()) std::swap(cells[one], cells[two]);
             is_header = false;
         });
     }},
    {"a line of another folder",
     [](Chance& chance, std::string text, Text other) {
         if (other.empty()) return text;
         const auto [from, size] = any_line(chance, other);
         const auto [begin, length] = any_line(chance, text);
         return text.replace(begin, length, other.substr(from, size));
     }},
    {"another folder's lines at the end",
     [](Chance&, std::string text, Text other) {
         return text + other.substr(std::min(end_of_header(other) + 1, other.size()));
     }},
    {"another folder's second half",
     [](Chance&, std::string text, Text other) {
         return text.substr(0, text.rfind('\n', text.size() / 2) + 1) +
                other.substr(other.rfind('\n', other.size() / 2) + 1);
     }},
    {"another folder's file", [](Chance&, std::string, Text other) { return other; }},
    {"the second half lost",
     [](Chance&, std::string text, Text) { return text.substr(0, text.rfind('\n', text.size() / 2) + 1); }},
    {"the file twice", [](Chance&, std::string text, Text) { return text + text; }},
    {"the file empty", [](Chance&, std::string, Text) { return std::string(); }},
    {"a mark of UTF-8", [](Chance&, std::string text, Text) { return "\xEF\xBB\xBF" + text; }},
    {"line ends of Windows", [](Chance&, std::string text, Text) { return join(split(text, '\n'), "\r\n"); }},
    {"marks of a merge",
     [](Chance& chance, std::string text, Text) {
         const auto [begin, length] = any_line(chance, text);
         const std::string line = text.substr(begin, length);
         return text.replace(begin, length, "<<<<<<< HEAD\n" + line + "=======\n" + line + ">>>>>>> other\n");
     }},
}};

/// Of the file, not of its text.
inline constexpr std::array<std::string_view, 4> accidents_of_files{
    "the file lost", "a folder in its place", "a link to another folder's file", "two files exchanged"};

}  // namespace roof::faults
