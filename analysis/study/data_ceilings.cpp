// The ceilings, what data sheets say of them, and the memory levels as measured beside those reported.
#include "analysis/study/beside_sheet.hpp"
#include "analysis/study/data_tables.hpp"

namespace roof::analysis {

namespace {

const std::vector<DataColumn<Ceiling>>& ceiling_columns()
{
    static const std::vector<DataColumn<Ceiling>> columns{
        {"device", [](const Ceiling& c) { return text(c.device); }},
        {"kind", [](const Ceiling& c) { return text(name(c.kind)); }},
        {"level", [](const Ceiling& c) { return text(c.level); }},
        {"operation", [](const Ceiling& c) { return text(c.operation); }},
        {"precision", [](const Ceiling& c) { return text(c.precision); }},
        {"isa", [](const Ceiling& c) { return text(c.isa); }},
        {"threads", [](const Ceiling& c) { return Value(c.threads); }},
        {"rate_median_per_s", [](const Ceiling& c) { return number(c.rate.median.value); }},
        {"rate_low_per_s", [](const Ceiling& c) { return number(c.rate.low.value); }},
        {"rate_high_per_s", [](const Ceiling& c) { return number(c.rate.high.value); }},
        {"unit", [](const Ceiling& c) { return text(c.unit()); }},
        {"samples", [](const Ceiling& c) { return Value(c.rate.n); }},
        {"working_set_low_bytes", [](const Ceiling& c) { return number(c.working_set_low.value); }},
        {"working_set_high_bytes", [](const Ceiling& c) { return number(c.working_set_high.value); }},
        {"condition", [](const Ceiling& c) { return text(c.condition); }},
        {"working_set_bytes", [](const Ceiling& c) { return number(c.working_set.value); }},
        {"variant", [](const Ceiling& c) { return text(c.variant); }},
        {"clock_median_hz", [](const Ceiling& c) { return number(c.clock.median.value); }},
        {"steadiness", [](const Ceiling& c) { return text(name(c.steadiness)); }},
        {"rounds", [](const Ceiling& c) { return Value(c.rounds); }},
        {"known", [](const Ceiling&) { return text(name(Known::measured)); }},
    };
    return columns;
}

const std::vector<DataColumn<MeasuredLevel>>& level_columns()
{
    static const std::vector<DataColumn<MeasuredLevel>> columns{
        {"device", [](const MeasuredLevel& l) { return text(l.device); }},
        {"level", [](const MeasuredLevel& l) { return text(l.name); }},
        {"threads", [](const MeasuredLevel& l) { return Value(l.threads); }},
        {"from_bytes", [](const MeasuredLevel& l) { return number(l.from.value); }},
        {"to_bytes", [](const MeasuredLevel& l) { return number(l.to.value); }},
        {"beyond_bytes", [](const MeasuredLevel& l) { return number_if(l.beyond.value > 0, l.beyond.value); }},
        {"reported_bytes", [](const MeasuredLevel& l) { return number_if(l.reported.value > 0, l.reported.value); }},
        {"sharing", [](const MeasuredLevel& l) { return text(name(l.sharing)); }},
        {"contradiction", [](const MeasuredLevel& l) { return Value(l.contradiction); }},
        {"confirmed", [](const MeasuredLevel& l) { return Value(l.confirmed); }},
    };
    return columns;
}

const std::vector<DataColumn<SheetShare>>& sheet_columns()
{
    static const std::vector<DataColumn<SheetShare>> columns{
        {"device", [](const SheetShare& s) { return text(s.device); }},
        {"what", [](const SheetShare& s) { return text(s.what); }},
        {"measured_median_per_s", [](const SheetShare& s) { return number(s.measured.median.value); }},
        {"measured_low_per_s", [](const SheetShare& s) { return number(s.measured.low.value); }},
        {"measured_high_per_s", [](const SheetShare& s) { return number(s.measured.high.value); }},
        {"spec_per_s", [](const SheetShare& s) { return number(s.spec); }},
        {"unit", [](const SheetShare& s) { return text(s.unit); }},
        {"source", [](const SheetShare& s) { return text(s.source); }},
    };
    return columns;
}

}  // namespace

DataTable ceilings_table_of(const Study& study)
{
    return table_of(ceiling_columns(), study.ceilings.all);
}

DataTable sheet_table_of(const Study& study)
{
    return table_of(sheet_columns(), beside_sheets(study));
}

DataTable levels_table(const Study& study)
{
    return table_of(level_columns(), study.ceilings.plateaus());
}

}  // namespace roof::analysis
