#include "analysis/recordings/import_units.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace roof::analysis {

namespace {

struct KnownUnit {
    std::string_view text;
    double factor;
    std::string_view name;
};

constexpr double kibi = 1024, mebi = kibi * kibi, gibi = kibi * mebi;

/// Prefixes of Nsight and LIKWID are decimal; KiB, MiB and GiB are binary.
constexpr std::array known_units{
    KnownUnit{"byte", 1, "byte"},
    KnownUnit{"Kbyte", 1e3, "byte"},
    KnownUnit{"Mbyte", 1e6, "byte"},
    KnownUnit{"Gbyte", 1e9, "byte"},
    KnownUnit{"Tbyte", 1e12, "byte"},
    KnownUnit{"B", 1, "byte"},
    KnownUnit{"Bytes", 1, "byte"},
    KnownUnit{"KBytes", 1e3, "byte"},
    KnownUnit{"MBytes", 1e6, "byte"},
    KnownUnit{"GBytes", 1e9, "byte"},
    KnownUnit{"KiB", kibi, "byte"},
    KnownUnit{"MiB", mebi, "byte"},
    KnownUnit{"GiB", gibi, "byte"},
    KnownUnit{"nsecond", 1e-9, "s"},
    KnownUnit{"usecond", 1e-6, "s"},
    KnownUnit{"msecond", 1e-3, "s"},
    KnownUnit{"second", 1, "s"},
    KnownUnit{"ns", 1e-9, "s"},
    KnownUnit{"us", 1e-6, "s"},
    KnownUnit{"ms", 1e-3, "s"},
    KnownUnit{"s", 1, "s"},
    KnownUnit{"nsec", 1e-9, "s"},
    KnownUnit{"usec", 1e-6, "s"},
    KnownUnit{"msec", 1e-3, "s"},
    KnownUnit{"sec", 1, "s"},
    KnownUnit{"hz", 1, "Hz"},
    KnownUnit{"Khz", 1e3, "Hz"},
    KnownUnit{"Mhz", 1e6, "Hz"},
    KnownUnit{"Ghz", 1e9, "Hz"},
    KnownUnit{"Hz", 1, "Hz"},
    KnownUnit{"KHz", 1e3, "Hz"},
    KnownUnit{"MHz", 1e6, "Hz"},
    KnownUnit{"GHz", 1e9, "Hz"},
    KnownUnit{"FLOP", 1, "FLOP"},
    KnownUnit{"MFLOP", 1e6, "FLOP"},
    KnownUnit{"GFLOP", 1e9, "FLOP"},
    KnownUnit{"inst", 1, "inst"},
    KnownUnit{"Kinst", 1e3, "inst"},
    KnownUnit{"Minst", 1e6, "inst"},
    KnownUnit{"Ginst", 1e9, "inst"},
    KnownUnit{"sector", 1, "sector"},
    KnownUnit{"Ksector", 1e3, "sector"},
    KnownUnit{"Msector", 1e6, "sector"},
    KnownUnit{"Gsector", 1e9, "sector"},
    KnownUnit{"cycle", 1, "cycle"},
    KnownUnit{"Kcycle", 1e3, "cycle"},
    KnownUnit{"Mcycle", 1e6, "cycle"},
    KnownUnit{"request", 1, "request"},
    KnownUnit{"warp", 1, "warp"},
    KnownUnit{"thread", 1, "thread"},
    KnownUnit{"block", 1, "block"},
    KnownUnit{"register", 1, "register"},
    KnownUnit{"%", 0.01, ""},
    KnownUnit{"", 1, ""},
    KnownUnit{"1", 1, ""},
    KnownUnit{"Joules", 1, "J"},
    KnownUnit{"J", 1, "J"},
    KnownUnit{"W", 1, "W"},
};

bool is_digit(char letter)
{
    return letter >= '0' && letter <= '9';
}

/// Groups after the first separator have three digits, the first group one to three.
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
    const auto unit = std::ranges::find(known_units, text, &KnownUnit::text);
    if (unit == known_units.end()) return {};
    return Unit{unit->factor, std::string(unit->name)};
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
