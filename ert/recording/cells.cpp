#include "ert/recording/cells.hpp"

#include "ert/base/error.hpp"
#include "ert/base/names.hpp"
#include "ert/base/text.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace roof {
namespace {

constexpr std::array<Named<ApiDomain>, 2> domains{{{ApiDomain::runtime, "runtime"}, {ApiDomain::driver, "driver"}}};
constexpr std::array<Named<CopyKind>, 6> copy_kinds{{{CopyKind::host_to_device, "H2D"},
                                                     {CopyKind::device_to_host, "D2H"},
                                                     {CopyKind::device_to_device, "D2D"},
                                                     {CopyKind::peer, "P2P"},
                                                     {CopyKind::host_to_host, "H2H"},
                                                     {CopyKind::fill, "memset"}}};
constexpr std::array<Named<MemoryKind>, 5> memory_kinds{{{MemoryKind::pageable, "pageable"},
                                                         {MemoryKind::pinned, "pinned"},
                                                         {MemoryKind::device, "device"},
                                                         {MemoryKind::managed, "managed"},
                                                         {MemoryKind::pool, "pool"}}};
constexpr std::array<Named<MemoryAction>, 2> actions{
    {{MemoryAction::allocate, "allocate"}, {MemoryAction::release, "free"}}};
constexpr std::array<Named<RangeKind>, 4> range_kinds{
    {{RangeKind::step, "step"}, {RangeKind::phase, "phase"}, {RangeKind::layer, "layer"}, {RangeKind::nvtx, "nvtx"}}};
constexpr std::array<Named<CounterScope>, 3> scopes{
    {{CounterScope::kernel, "kernel"}, {CounterScope::phase, "phase"}, {CounterScope::step, "step"}}};

template <class Value>
void append_number(std::string& line, Value value)
{
    std::array<char, 32> text{};
    line.append(text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr);
}

template <class Value>
Value number_in(std::string_view cell)
{
    Value value{};
    const char* const end = cell.data() + cell.size();
    const auto [rest, error] = std::from_chars(cell.data(), end, value);
    if (error == std::errc{} && rest == end) return value;
    throw Error("'" + printable(cell) + "' is not a number");
}

double not_negative(std::string_view cell)
{
    double value = 0;
    cells::read(value, cell);
    if (value < 0) throw Error("'" + printable(cell) + "' is less than nothing");
    return value;
}

}  // namespace

std::string_view name(ApiDomain domain)
{
    return name_in(domains, domain);
}

std::string_view name(CopyKind kind)
{
    return name_in(copy_kinds, kind);
}

std::string_view name(MemoryKind kind)
{
    return name_in(memory_kinds, kind);
}

std::string_view name(MemoryAction action)
{
    return name_in(actions, action);
}

std::string_view name(RangeKind kind)
{
    return name_in(range_kinds, kind);
}

std::string_view name(CounterScope scope)
{
    return name_in(scopes, scope);
}

namespace cells {

void write(std::string& line, const std::string& text)
{
    if (text.find_first_of(",\"\r\n") == std::string::npos) {
        line += text;
        return;
    }
    line += '"';
    for (const char letter : text) {
        if (letter == '"') line += '"';
        line += letter == '\n' || letter == '\r' ? ' ' : letter;
    }
    line += '"';
}

void write(std::string& line, double value)
{
    append_number(line, value);
}

void write(std::string& line, Number number)
{
    if (number) append_number(line, *number);
}

void write(std::string& line, ApiDomain domain)
{
    line += name(domain);
}

void write(std::string& line, CopyKind kind)
{
    line += name(kind);
}

void write(std::string& line, MemoryKind kind)
{
    line += name(kind);
}

void write(std::string& line, MemoryAction action)
{
    line += name(action);
}

void write(std::string& line, RangeKind kind)
{
    line += name(kind);
}

void write(std::string& line, CounterScope scope)
{
    line += name(scope);
}

void read(std::string& text, std::string_view cell)
{
    text.assign(cell);
}

void read(double& value, std::string_view cell)
{
    value = number_in<double>(cell);
    if (!std::isfinite(value)) throw Error("'" + printable(cell) + "' is not a finite number");
}

void read(Number& number, std::string_view cell)
{
    number.reset();
    if (!cell.empty()) number = number_in<std::uint64_t>(cell);
}

void read(Seconds& seconds, std::string_view cell)
{
    seconds.value = not_negative(cell);
}

void read(Bytes& bytes, std::string_view cell)
{
    bytes.value = not_negative(cell);
}

void read(ApiDomain& domain, std::string_view cell)
{
    domain = value_in(domains, "kind of API", cell);
}

void read(CopyKind& kind, std::string_view cell)
{
    kind = value_in(copy_kinds, "kind of copy", cell);
}

void read(MemoryKind& kind, std::string_view cell)
{
    kind = value_in(memory_kinds, "kind of memory", cell);
}

void read(MemoryAction& action, std::string_view cell)
{
    action = value_in(actions, "action", cell);
}

void read(RangeKind& kind, std::string_view cell)
{
    kind = value_in(range_kinds, "kind of range", cell);
}

void read(CounterScope& scope, std::string_view cell)
{
    scope = value_in(scopes, "scope", cell);
}

}  // namespace cells
}  // namespace roof
