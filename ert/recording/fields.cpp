// To add a column, add a line here. Older files read as if the cell were empty. An empty cell is an unknown value.
#include "ert/base/fields.hpp"
#include "ert/recording/record_files.hpp"

#include <algorithm>
#include <array>

namespace roof {
namespace {

constexpr bool required = true;

/// The fields of a cause, then those of the record alone.
template <class Row, std::size_t count>
constexpr std::array<Field<Row>, count + 5> with_cause(const std::array<Field<Row>, count>& own)
{
    std::array<Field<Row>, count + 5> all{
        field<Row, &Row::cause, &Cause::device>("device"), field<Row, &Row::cause, &Cause::stream>("stream"),
        field<Row, &Row::cause, &Cause::correlation>("correlation"), field<Row, &Row::cause, &Cause::layer>("layer"),
        field<Row, &Row::cause, &Cause::phase>("phase")};
    std::ranges::copy(own, all.end() - count);
    return all;
}

using Kernel = KernelRecord;
constexpr auto kernel_fields = with_cause(
    std::array{field<Kernel, &Kernel::name>("name", required), field<Kernel, &Kernel::start>("start_s"),
               field<Kernel, &Kernel::duration>("duration_s", required), field<Kernel, &Kernel::grid>("grid"),
               field<Kernel, &Kernel::block>("block"), field<Kernel, &Kernel::registers>("registers"),
               field<Kernel, &Kernel::shared>("shared_bytes"), field<Kernel, &Kernel::graph_node>("graph_node")});

using Api = ApiRecord;
constexpr std::array api_fields{field<Api, &Api::thread>("thread"), field<Api, &Api::correlation>("correlation"),
                                field<Api, &Api::layer>("layer"),   field<Api, &Api::phase>("phase"),
                                field<Api, &Api::domain>("domain"), field<Api, &Api::name>("name", required),
                                field<Api, &Api::start>("start_s"), field<Api, &Api::duration>("duration_s", required)};

using Copy = CopyRecord;
constexpr auto copy_fields =
    with_cause(std::array{field<Copy, &Copy::kind>("kind", required), field<Copy, &Copy::source>("source"),
                          field<Copy, &Copy::destination>("destination"), field<Copy, &Copy::bytes>("bytes"),
                          field<Copy, &Copy::start>("start_s"), field<Copy, &Copy::duration>("duration_s", required)});

using Memory = MemoryRecord;
constexpr std::array memory_fields{field<Memory, &Memory::cause, &Cause::device>("device"),
                                   field<Memory, &Memory::cause, &Cause::correlation>("correlation"),
                                   field<Memory, &Memory::cause, &Cause::layer>("layer"),
                                   field<Memory, &Memory::cause, &Cause::phase>("phase"),
                                   field<Memory, &Memory::action>("action", required),
                                   field<Memory, &Memory::memory>("memory"),
                                   field<Memory, &Memory::address>("address"),
                                   field<Memory, &Memory::bytes>("bytes"),
                                   field<Memory, &Memory::start>("start_s")};

using Wait = SynchronisationRecord;
constexpr auto synchronisation_fields =
    with_cause(std::array{field<Wait, &Wait::kind>("kind"), field<Wait, &Wait::start>("start_s"),
                          field<Wait, &Wait::duration>("duration_s", required)});

using Range = RangeRecord;
constexpr std::array range_fields{field<Range, &Range::thread>("thread"), field<Range, &Range::kind>("kind", required),
                                  field<Range, &Range::name>("name"), field<Range, &Range::start>("start_s"),
                                  field<Range, &Range::duration>("duration_s", required)};

using Counter = CounterRecord;
constexpr std::array counter_fields{field<Counter, &Counter::device>("device"),
                                    field<Counter, &Counter::scope>("scope", required),
                                    field<Counter, &Counter::layer>("layer"),
                                    field<Counter, &Counter::phase>("phase"),
                                    field<Counter, &Counter::name>("name"),
                                    field<Counter, &Counter::launch>("launch"),
                                    field<Counter, &Counter::metric>("metric", required),
                                    field<Counter, &Counter::value>("value", required),
                                    field<Counter, &Counter::unit>("unit", required)};

}  // namespace

constinit const decltype(record_files) record_files{{"kernels.csv", kernel_fields},
                                                    {"api.csv", api_fields},
                                                    {"copies.csv", copy_fields},
                                                    {"memory.csv", memory_fields},
                                                    {"synchronisations.csv", synchronisation_fields},
                                                    {"ranges.csv", range_fields},
                                                    {"counters.csv", counter_fields}};

}  // namespace roof
