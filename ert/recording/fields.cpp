// To add a column, add a line here. Older files read as if the cell were empty. An empty cell is an unknown value.
#include "ert/base/csv.hpp"
#include "ert/base/error.hpp"
#include "ert/base/number.hpp"
#include "ert/base/text.hpp"
#include "ert/recording/record_files.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <type_traits>

namespace roof {
namespace {

constexpr bool required = true;

template <class Value>
constexpr bool is_optional = false;
template <class Value>
constexpr bool is_optional<std::optional<Value>> = true;

template <class Value>
void write(std::string& line, const Value& value)
{
    if constexpr (std::is_same_v<Value, std::string>) {
        append_csv_cell(line, value);
    } else if constexpr (is_optional<Value>) {
        if (value) write(line, *value);
    } else if constexpr (NamedEnum<Value>) {
        line += name(value);
    } else if constexpr (std::is_arithmetic_v<Value>) {
        std::array<char, 32> text{};
        line.append(text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr);
    } else {  // bytes, seconds
        write(line, value.value);
    }
}

/// Throws Error for a cell of another type. Numbers are finite; bytes and seconds are not negative.
template <class Value>
void read(Value& value, std::string_view cell)
{
    const auto refuse = [&](const char* why) { throw Error("'" + printable(cell) + "' is " + why); };
    if constexpr (std::is_same_v<Value, std::string>) {
        value.assign(cell);
    } else if constexpr (is_optional<Value>) {
        value.reset();
        if (!cell.empty()) read(value.emplace(), cell);
    } else if constexpr (NamedEnum<Value>) {
        value = parse_enum<Value>(cell);
    } else if constexpr (std::is_arithmetic_v<Value>) {
        const std::optional<Value> number = parse_number<Value>(cell);
        if (!number) refuse("not a number");
        if (!std::isfinite(static_cast<double>(*number))) refuse("not a finite number");
        value = *number;
    } else {
        read(value.value, cell);
        if (value.value < 0) refuse("less than 0");
    }
}

/// `members`: the path to the member, which may lie in the record's cause.
template <class Record, auto... members>
constexpr Field<Record> field(std::string_view name, bool is_required = false)
{
    return {name, is_required, [](const Record& record, std::string& line) { write(line, (record.*....*members)); },
            [](Record& record, std::string_view cell) { read((record.*....*members), cell); }};
}

using Kernel = KernelRecord;
constexpr std::array kernel_fields{
    field<Kernel, &Kernel::cause, &Cause::device>("device"),
    field<Kernel, &Kernel::cause, &Cause::stream>("stream"),
    field<Kernel, &Kernel::cause, &Cause::correlation>("correlation"),
    field<Kernel, &Kernel::cause, &Cause::layer>("layer"),
    field<Kernel, &Kernel::cause, &Cause::phase>("phase"),
    field<Kernel, &Kernel::name>("name", required),
    field<Kernel, &Kernel::start>("start_s"),
    field<Kernel, &Kernel::duration>("duration_s", required),
    field<Kernel, &Kernel::grid>("grid"),
    field<Kernel, &Kernel::block>("block"),
    field<Kernel, &Kernel::registers>("registers"),
    field<Kernel, &Kernel::shared>("shared_bytes"),
    field<Kernel, &Kernel::graph_node>("graph_node"),
};

using Api = ApiRecord;
constexpr std::array api_fields{
    field<Api, &Api::thread>("thread"), field<Api, &Api::correlation>("correlation"),
    field<Api, &Api::layer>("layer"),   field<Api, &Api::phase>("phase"),
    field<Api, &Api::domain>("domain"), field<Api, &Api::name>("name", required),
    field<Api, &Api::start>("start_s"), field<Api, &Api::duration>("duration_s", required),
};

using Copy = CopyRecord;
constexpr std::array copy_fields{
    field<Copy, &Copy::cause, &Cause::device>("device"),
    field<Copy, &Copy::cause, &Cause::stream>("stream"),
    field<Copy, &Copy::cause, &Cause::correlation>("correlation"),
    field<Copy, &Copy::cause, &Cause::layer>("layer"),
    field<Copy, &Copy::cause, &Cause::phase>("phase"),
    field<Copy, &Copy::kind>("kind", required),
    field<Copy, &Copy::source>("source"),
    field<Copy, &Copy::destination>("destination"),
    field<Copy, &Copy::bytes>("bytes"),
    field<Copy, &Copy::start>("start_s"),
    field<Copy, &Copy::duration>("duration_s", required),
};

using Memory = MemoryRecord;
constexpr std::array memory_fields{
    field<Memory, &Memory::cause, &Cause::device>("device"),
    field<Memory, &Memory::cause, &Cause::correlation>("correlation"),
    field<Memory, &Memory::cause, &Cause::layer>("layer"),
    field<Memory, &Memory::cause, &Cause::phase>("phase"),
    field<Memory, &Memory::action>("action", required),
    field<Memory, &Memory::memory>("memory"),
    field<Memory, &Memory::address>("address"),
    field<Memory, &Memory::bytes>("bytes"),
    field<Memory, &Memory::start>("start_s"),
};

using Wait = SynchronisationRecord;
constexpr std::array synchronisation_fields{
    field<Wait, &Wait::cause, &Cause::device>("device"),
    field<Wait, &Wait::cause, &Cause::stream>("stream"),
    field<Wait, &Wait::cause, &Cause::correlation>("correlation"),
    field<Wait, &Wait::cause, &Cause::layer>("layer"),
    field<Wait, &Wait::cause, &Cause::phase>("phase"),
    field<Wait, &Wait::kind>("kind"),
    field<Wait, &Wait::start>("start_s"),
    field<Wait, &Wait::duration>("duration_s", required),
};

using Range = RangeRecord;
constexpr std::array range_fields{
    field<Range, &Range::thread>("thread"),
    field<Range, &Range::kind>("kind", required),
    field<Range, &Range::name>("name"),
    field<Range, &Range::start>("start_s"),
    field<Range, &Range::duration>("duration_s", required),
};

using Counter = CounterRecord;
constexpr std::array counter_fields{
    field<Counter, &Counter::device>("device"),
    field<Counter, &Counter::scope>("scope", required),
    field<Counter, &Counter::layer>("layer"),
    field<Counter, &Counter::phase>("phase"),
    field<Counter, &Counter::name>("name"),
    field<Counter, &Counter::launch>("launch"),
    field<Counter, &Counter::metric>("metric", required),
    field<Counter, &Counter::value>("value", required),
    field<Counter, &Counter::unit>("unit", required),
};

}  // namespace

template <>
const RecordFile<KernelRecord> RecordFile<KernelRecord>::table{"kernels.csv", kernel_fields};
template <>
const RecordFile<ApiRecord> RecordFile<ApiRecord>::table{"api.csv", api_fields};
template <>
const RecordFile<CopyRecord> RecordFile<CopyRecord>::table{"copies.csv", copy_fields};
template <>
const RecordFile<MemoryRecord> RecordFile<MemoryRecord>::table{"memory.csv", memory_fields};
template <>
const RecordFile<SynchronisationRecord> RecordFile<SynchronisationRecord>::table{"synchronisations.csv",
                                                                                 synchronisation_fields};
template <>
const RecordFile<RangeRecord> RecordFile<RangeRecord>::table{"ranges.csv", range_fields};
template <>
const RecordFile<CounterRecord> RecordFile<CounterRecord>::table{"counters.csv", counter_fields};

}  // namespace roof
