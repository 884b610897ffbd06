#include "analysis/recordings/import_units.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace roof::analysis {

namespace {

struct Word {
    std::string_view word;
    double factor;
    std::string_view name;
};

constexpr double kibi = 1024, mebi = kibi * kibi, gibi = kibi * mebi;

/// Nsight's prefixes are decimal; LIKWID's are too; only "KiB" and its kin are not.
constexpr std::array words{
    Word{"byte", 1, "byte"},
    Word{"Kbyte", 1e3, "byte"},
    Word{"Mbyte", 1e6, "byte"},
    Word{"Gbyte", 1e9, "byte"},
    Word{"Tbyte", 1e12, "byte"},
    Word{"B", 1, "byte"},
    Word{"Bytes", 1, "byte"},
    Word{"KBytes", 1e3, "byte"},
    Word{"MBytes", 1e6, "byte"},
    Word{"GBytes", 1e9, "byte"},
    Word{"KiB", kibi, "byte"},
    Word{"MiB", mebi, "byte"},
    Word{"GiB", gibi, "byte"},
    Word{"nsecond", 1e-9, "s"},
    Word{"usecond", 1e-6, "s"},
    Word{"msecond", 1e-3, "s"},
    Word{"second", 1, "s"},
    Word{"ns", 1e-9, "s"},
    Word{"us", 1e-6, "s"},
    Word{"ms", 1e-3, "s"},
    Word{"s", 1, "s"},
    Word{"nsec", 1e-9, "s"},
    Word{"usec", 1e-6, "s"},
    Word{"msec", 1e-3, "s"},
    Word{"sec", 1, "s"},
    Word{"hz", 1, "Hz"},
    Word{"Khz", 1e3, "Hz"},
    Word{"Mhz", 1e6, "Hz"},
    Word{"Ghz", 1e9, "Hz"},
    Word{"Hz", 1, "Hz"},
    Word{"KHz", 1e3, "Hz"},
    Word{"MHz", 1e6, "Hz"},
    Word{"GHz", 1e9, "Hz"},
    Word{"FLOP", 1, "FLOP"},
    Word{"MFLOP", 1e6, "FLOP"},
    Word{"GFLOP", 1e9, "FLOP"},
    Word{"inst", 1, "inst"},
    Word{"Kinst", 1e3, "inst"},
    Word{"Minst", 1e6, "inst"},
    Word{"Ginst", 1e9, "inst"},
    Word{"sector", 1, "sector"},
    Word{"Ksector", 1e3, "sector"},
    Word{"Msector", 1e6, "sector"},
    Word{"Gsector", 1e9, "sector"},
    Word{"cycle", 1, "cycle"},
    Word{"Kcycle", 1e3, "cycle"},
    Word{"Mcycle", 1e6, "cycle"},
    Word{"request", 1, "request"},
    Word{"warp", 1, "warp"},
    Word{"thread", 1, "thread"},
    Word{"block", 1, "block"},
    Word{"register", 1, "register"},
    Word{"%", 0.01, ""},
    Word{"", 1, ""},
    Word{"1", 1, ""},
    Word{"Joules", 1, "J"},
    Word{"J", 1, "J"},
    Word{"W", 1, "W"},
};

bool is_digit(char letter)
{
    return letter >= '0' && letter <= '9';
}

/// The groups after the first separator have three digits each, and the first one to three.
bool well_grouped(std::string_view whole, char separator)
{
    std::size_t begin = 0;
    for (bool first = true;; first = false) {
        const std::size_t end = std::min(whole.find(separator, begin), whole.size());
        const std::size_t length = end - begin;
        const bool alone = first && end == whole.size();
        if (!alone && (first ? length < 1 || length > 3 : length != 3)) return false;
        if (end == whole.size()) return true;
        begin = end + 1;
    }
}

}  // namespace

std::optional<Unit> unit_of(std::string_view text)
{
    const std::size_t over = text.find('/');
    if (over != text.npos) {
        const auto above = unit_of(text.substr(0, over)), below = unit_of(text.substr(over + 1));
        if (!above || !below) return {};
        return Unit{above->factor / below->factor, above->name + "/" + below->name};
    }
    const auto word = std::ranges::find(words, text, &Word::word);
    if (word == words.end()) return {};
    return Unit{word->factor, std::string(word->name)};
}

std::optional<NumberStyle> style_shown_by(std::string_view number)
{
    const auto points = std::ranges::count(number, '.'), commas = std::ranges::count(number, ',');
    if (points > 1 && commas <= 1) return NumberStyle::comma;
    if (commas > 1 && points <= 1) return NumberStyle::point;
    if (points != 1 || commas != 1) return {};
    return number.find('.') < number.find(',') ? NumberStyle::comma : NumberStyle::point;
}

std::optional<double> number_of(std::string_view text, NumberStyle style)
{
    const char decimal = style == NumberStyle::point ? '.' : ',';
    const char group = style == NumberStyle::point ? ',' : '.';
    const std::size_t sign = !text.empty() && (text.front() == '-' || text.front() == '+') ? 1 : 0;
    const std::size_t whole_end = std::min(text.find_first_of(std::string{decimal, 'e', 'E'}), text.size());
    if (whole_end == sign || !well_grouped(text.substr(sign, whole_end - sign), group)) return {};
    std::string plain = text.front() == '-' ? "-" : "";
    for (std::size_t i = sign; i < text.size(); ++i) {
        const char letter = text[i];
        if (letter == group && i < whole_end) continue;
        const bool exponent = letter == 'e' || letter == 'E' || letter == '-' || letter == '+';
        if (!is_digit(letter) && letter != decimal && !exponent) return {};
        plain += letter == decimal ? '.' : letter;
    }
    double value = 0;
    const auto [rest, error] = std::from_chars(plain.data(), plain.data() + plain.size(), value);
    if (error != std::errc{} || rest != plain.data() + plain.size() || !std::isfinite(value)) return {};
    return value;
}

}  // namespace roof::analysis
