#include "ert/base/text.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <utility>

namespace roof {

namespace {

constexpr std::array<SiPrefix, 9> prefixes{
    {{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}, {1e-3, "m"}, {1e-6, "u"}, {1e-9, "n"}}};

/// 999.9 has four digits before the point once it is rounded to three digits.
double rounded_up(double value)
{
    return std::fabs(value) * (1 + 5e-4);
}

std::size_t edit_distance(std::string_view a, std::string_view b)
{
    std::vector<std::size_t> row(b.size() + 1), above, second_above;
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        second_above = std::exchange(above, row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1), above[j] + 1, row[j - 1] + 1});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], second_above[j - 2] + 1);
        }
    }
    return row.back();
}

/// Marks that change the direction of the text after them, so that it reads as another one.
bool is_mark_of_direction(unsigned code)
{
    return code == 0x061C || code == 0x200E || code == 0x200F || (code >= 0x202A && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x2069);
}

/// A character and its bytes: none if it is a control character (C0, DEL, C1) or no valid UTF-8.
struct Character {
    std::size_t bytes = 0;
    unsigned code = 0;
};

Character first_character(std::string_view text)
{
    const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
    const unsigned first = byte(0);
    if (first < 0x80) return first < 0x20 || first == 0x7F ? Character{} : Character{1, first};
    const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    unsigned code = first & (0xFFU >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0) != 0x80) return {};
        code = code << 6 | (byte(i) & 0x3F);
    }
    constexpr std::array<unsigned, 5> least{0, 0, 0xA0, 0x800, 0x10000};  // C1 ends below 0xA0
    const bool is_surrogate = code >= 0xD800 && code < 0xE000;
    const bool is_none = first < 0xC2 || first > 0xF4 || code < least[length] || code > 0x10FFFF || is_surrogate;
    return is_none ? Character{} : Character{length, code};
}

}  // namespace

const SiPrefix& si_prefix(double value)
{
    const auto* found =
        std::ranges::find_if(prefixes, [&](const SiPrefix& p) { return rounded_up(value) >= p.factor; });
    return found == prefixes.end() ? prefixes.back() : *found;
}

std::optional<double> parse_si(std::string_view text, std::string_view unit)
{
    if (!text.ends_with(unit)) return {};
    text = trim(text.substr(0, text.size() - unit.size()));
    const bool is_binary = unit == "B" && text.ends_with('i');  // KiB, GiB
    if (is_binary) text.remove_suffix(1);
    const auto* prefix = std::ranges::find_if(prefixes, [&](const SiPrefix& p) {
        return p.factor == 1 || text.ends_with(p.letter) || (is_binary && p.factor == 1e3 && text.ends_with('K'));
    });
    if (is_binary && prefix->factor < 1e3) return {};
    const auto value = parse_number<double>(trim(text.substr(0, text.size() - prefix->letter.size())));
    const double factor = is_binary ? std::pow(1024, std::round(std::log10(prefix->factor) / 3)) : prefix->factor;
    return value ? std::optional(*value * factor) : value;
}

std::string format_si(double value, std::string_view unit)
{
    if (!std::isfinite(value)) return "-";
    if (value == 0) return fmt::format("0 {}", unit);
    const auto& [factor, letter] = si_prefix(value);
    const double magnitude = rounded_up(value) / factor;
    if (magnitude >= 1e6) return fmt::format("{:.2e} {}", value, unit);
    return fmt::format("{:.{}f} {}{}", value / factor, magnitude >= 100 ? 0 : magnitude >= 10 ? 1 : 2, letter, unit);
}

std::string format_capacity(double bytes)
{
    if (!std::isfinite(bytes)) return "-";
    static constexpr std::array<std::string_view, 5> units{"B", "KiB", "MiB", "GiB", "TiB"};
    std::size_t unit = 0;
    while (bytes >= 1024 && unit + 1 < units.size()) {
        bytes /= 1024;
        ++unit;
    }
    const bool whole = std::fabs(bytes - std::round(bytes)) < 0.05 || bytes >= 100;
    return fmt::format("{:.{}f} {}", bytes, whole ? 0 : 1, units[unit]);
}

std::string format_duration(double seconds)
{
    if (seconds >= 120) {
        const auto whole = std::llround(seconds), minutes = std::llround(seconds / 60);
        return whole < 7200 ? fmt::format("{} min {:02} s", whole / 60, whole % 60)
                            : fmt::format("{} h {:02} min", minutes / 60, minutes % 60);
    }
    return format_si(seconds, "s");
}

std::string format_exact(double value)
{
    return std::isfinite(value) ? fmt::format("{}", value) : "";
}

std::string join(std::span<const std::string> words, std::string_view separator)
{
    return fmt::format("{}", fmt::join(words.begin(), words.end(), separator));
}

std::vector<std::string> split(std::string_view text, char separator)
{
    std::vector<std::string> words;
    for (std::size_t begin = 0;;) {
        const std::size_t end = text.find(separator, begin);
        words.emplace_back(text.substr(begin, end == std::string_view::npos ? end : end - begin));
        if (end == std::string_view::npos) return words;
        begin = end + 1;
    }
}

std::string_view trim(std::string_view text)
{
    constexpr std::string_view blank = " \t\r\n";
    const std::size_t begin = text.find_first_not_of(blank);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(blank) - begin + 1);
}

bool glob_match(std::string_view pattern, std::string_view text)
{
    std::string escaped;
    for (const char c : pattern) escaped.append(c == '[' || c == '\\' ? "\\" : "") += c;
    return ::fnmatch(escaped.c_str(), std::string(text).c_str(), 0) == 0;
}

std::string in_lower_case(std::string_view text)
{
    std::string small(text);
    std::ranges::transform(small, small.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return small;
}

std::string nearest(std::string_view word, std::span<const std::string> legal)
{
    constexpr std::size_t longest = 100;  // the distance of long texts takes long
    std::string best;
    if (word.size() > longest) return best;
    std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
    const bool is_last_part = word.find('/') == std::string_view::npos;
    for (const std::string& candidate : legal) {
        const std::size_t begin = is_last_part ? candidate.rfind('/') + 1 : 0;
        const std::size_t distance =
            edit_distance(in_lower_case(word), in_lower_case(std::string_view(candidate).substr(begin)));
        if (distance < least) {
            least = distance;
            best = candidate;
        }
    }
    return best;
}

std::string unknown_word(std::string_view kind, std::string_view word, std::span<const std::string> legal)
{
    const std::string near = nearest(word, legal);
    return fmt::format("unknown {} '{}'{}; legal values: {}", kind, shortened(printable(word), 100),
                       near.empty() ? "" : fmt::format("; did you mean '{}'?", near), join(legal, ", "));
}

std::string printable(std::string_view text)
{
    std::string clean;
    clean.reserve(text.size());
    while (!text.empty()) {
        const auto [bytes, code] = first_character(text);
        if (is_mark_of_direction(code))
            clean += fmt::format("[U+{:04X}]", code);
        else
            clean += bytes > 0 ? text.substr(0, bytes) : "?";
        text.remove_prefix(std::max<std::size_t>(bytes, 1));
    }
    return clean;
}

std::string printable_lines(std::string_view text)
{
    std::string clean;
    for (std::size_t begin = 0;;) {
        const std::size_t end = std::min(text.find_first_of("\n\t", begin), text.size());
        clean += printable(text.substr(begin, end - begin));
        if (end == text.size()) return clean;
        clean += text[end];
        begin = end + 1;
    }
}

std::string in_own_words(const std::exception& error)
{
    if (const auto* const of_file = dynamic_cast<const std::filesystem::filesystem_error*>(&error)) {
        std::error_code gone;
        static_cast<void>(std::filesystem::current_path(gone));
        if (gone) return "the working folder is not there any more (" + gone.message() + "): go to another one";
        const std::string file = (of_file->path2().empty() ? of_file->path1() : of_file->path2()).string();
        return "cannot use " + (file.empty() ? "a file" : file) + ": " + of_file->code().message();
    }
    constexpr std::string_view kind = "[json.exception.";  // then a name, and "] "
    std::string what = error.what();
    for (std::size_t at; (at = what.find(kind)) != std::string::npos;) {
        const std::size_t end = what.find(']', at);
        what.erase(at, end != std::string::npos && what.compare(end, 2, "] ") == 0 ? end + 2 - at : kind.size());
    }
    return what;
}

std::string in_ascii(std::string_view text)
{
    // clang-format off
    constexpr std::array<std::pair<std::string_view, std::string_view>, 19> words{{
        {"≤ ", "<="}, {"≥ ", ">="}, {"≤", "<="}, {"≥", ">="}, {"…", "..."}, {"²", "^2"}, {"³", "^3"}, {"·", "*"}, {"×", "x"}, {"√", "sqrt"},
        {"π", "pi"}, {"µ", "u"}, {"–", "-"}, {"—", "-"}, {"→", "->"}, {"│", "|"}, {"└", "+"}, {"─", "-"}, {"█", "#"}}};
    // clang-format on
    std::string ascii;
    for (std::size_t bytes = 0; !text.empty(); text.remove_prefix(bytes)) {
        const auto* const word = std::ranges::find_if(words, [&](const auto& w) { return text.starts_with(w.first); });
        const Character first = first_character(text);
        bytes = word != words.end() ? word->first.size() : std::max<std::size_t>(first.bytes, 1);
        if (word != words.end())
            ascii += word->second;
        else if (static_cast<unsigned char>(text[0]) < 0x80)
            ascii += text[0];
        else if (first.code < 0x10000)
            ascii += first.bytes > 0 ? fmt::format("\\u{:04x}", first.code) : "?";
        else
            ascii += fmt::format("\\u{:04x}\\u{:04x}", 0xD7C0 + (first.code >> 10), 0xDC00 + (first.code & 0x3FF));
    }
    return ascii;
}

std::string shortened(std::string_view text, std::size_t most)
{
    if (text.size() <= most) return std::string(text);
    std::size_t end = most;
    while (end > 0 && (text[end] & 0xC0) == 0x80) --end;  // not inside a character
    return std::string(text.substr(0, end)) + "…";
}

std::string utc_text(std::time_t seconds)
{
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(seconds));
}

std::optional<std::time_t> utc_seconds(const std::string& text, const char* form)
{
    std::tm time{};
    if (::strptime(text.c_str(), form, &time) == nullptr) return std::nullopt;
    return ::timegm(&time);
}

}  // namespace roof
