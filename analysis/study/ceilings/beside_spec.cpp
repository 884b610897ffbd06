// Ceilings beside the spec of the core, and beside the data sheet of the device.
#include "analysis/study/ceilings/ceiling_tables.hpp"

#include "analysis/roofline/roofs.hpp"
#include "analysis/study/tables.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/ranges.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

namespace roof::analysis {

namespace {

bool stands_beside(const SpecRate& spec, const Ceiling& ceiling)
{
    return spec.kind == name(ceiling.kind) && spec.level == ceiling.level && spec.operation == ceiling.operation &&
           (spec.isa.empty() || spec.isa == ceiling.isa) &&
           (spec.precision.empty() || spec.precision == ceiling.precision);
}

/// A GPU's rates are the sum over its multiprocessors; 0 for other devices.
int multiprocessors(const Device* device)
{
    if (device == nullptr || device->kind != "gpu") return 0;
    const auto count = device->facts.find("multiprocessors");
    return count == device->facts.end() ? 0 : std::atoi(count->second.c_str());
}

/// Threads use one core after the other, unless they were packed onto each core's hardware threads.
int cores_under(const Ceiling& ceiling, const Machine& machine)
{
    if (const int count = multiprocessors(machine.find_device(ceiling.device)); count > 0) return count;
    const int per_core = std::max(1, machine.smt);
    if (ceiling.packs_cores) return (ceiling.threads + per_core - 1) / per_core;
    return std::clamp(ceiling.threads, 1, std::max(1, machine.cores));
}

Hertz fastest_clock(const Ceilings& ceilings, const std::string& device)
{
    Hertz fastest;
    for (const Ceiling& ceiling : ceilings.all)
        if (ceiling.device == device) fastest = std::max(fastest, ceiling.clock.median);
    return fastest;
}

std::string source_of(const MachineSheet& sheet)
{
    std::string text = sheet.title;
    for (const std::string& source : sheet.sources) text += (&source == sheet.sources.data() ? ": " : "; ") + source;
    return text;
}

void add_shares(const Study& study, const std::string& device, const MachineSheet& sheet,
                std::vector<SheetShare>& shares)
{
    const int threads = study.ceilings.most_threads(device);
    const auto add = [&](const std::string& what, double spec, const std::optional<Ceiling>& measured) {
        if (!measured || !(spec > 0)) return;
        shares.push_back({device, what, spec, measured->rate, std::string(measured->unit()), source_of(sheet)});
    };
    for (const auto& [precision, peak] : sheet.peaks)
        add(std::string(traits(precision).name), peak.value,
            study.ceilings.roof(Role::compute, device, std::string(traits(precision).name), threads));
    for (const SheetLevel& level : sheet.levels)
        add(level.name, level.bandwidth.value, study.ceilings.roof(Role::bandwidth, device, level.name, threads));
}

}  // namespace

const SpecRate* spec_rate_of(const Ceiling& ceiling, const Machine& machine)
{
    const Device* const device = machine.find_device(ceiling.device);
    if (device == nullptr) return nullptr;
    for (const SpecRate& spec : device->spec_rates)
        if (stands_beside(spec, ceiling)) return &spec;
    return nullptr;
}

double per_clock_and_core(const Ceiling& ceiling, const Machine& machine)
{
    return ceiling.per_clock.median.value * ceiling.threads / cores_under(ceiling, machine);
}

std::optional<double> share_of_spec(const Ceiling& ceiling, const Machine& machine)
{
    const SpecRate* const spec = spec_rate_of(ceiling, machine);
    const double reached = per_clock_and_core(ceiling, machine);
    if (spec == nullptr || spec->per_clock <= 0 || reached <= 0) return std::nullopt;
    return reached / spec->per_clock;
}

bool is_above_spec(const Ceiling& ceiling, const Ceilings& ceilings, const Machine& machine)
{
    const std::optional<double> share = share_of_spec(ceiling, machine);
    // A neighbour can make the measured clock too low, so it is also compared at the fastest one.
    const double low_end = ceiling.per_clock.low / ceiling.per_clock.median;
    if (!share || *share * low_end <= max_share_of_spec) return false;
    const Hertz clock = fastest_clock(ceilings, ceiling.device);
    return clock.value <= 0 || *share * (ceiling.clock.median / clock) > max_share_of_spec;
}

std::vector<std::string> above_spec(const Ceilings& ceilings, const Machine& machine)
{
    std::vector<std::string> names;
    for (const Ceiling& ceiling : ceilings.all)
        if (is_above_spec(ceiling, ceilings, machine)) names.push_back(name_of(ceiling));
    return names;
}

std::string name_of(const Ceiling& ceiling)
{
    std::vector<std::string> words;
    const bool computes = ceiling.kind == Role::compute;
    for (const std::string& word :
         {computes ? ceiling.precision : ceiling.level, ceiling.operation, computes ? ceiling.isa : std::string()})
        if (!word.empty()) words.push_back(word);
    return fmt::format("{}, {}{}", join(words, " "), processors_text(ceiling.device, ceiling.threads),
                       ceiling.condition.empty() ? "" : ", " + ceiling.condition);
}

std::vector<SheetShare> beside_sheets(const Study& study)
{
    std::vector<SheetShare> shares;
    for (const Device& device : study.calibration.machine.devices)
        if (const auto* sheet = first_in(study.sheets, [&](const auto& one) { return one.describes(device.model); }))
            add_shares(study, device.name, *sheet, shares);
    return shares;
}

DataTable sheet_table(const Study& study)
{
    using S = const SheetShare&;
    static const std::vector<ColumnOf<SheetShare>> columns{
        {"device", "device", [](S s) { return word(s.device); }},
        {"what", "what", [](S s) { return word(s.what); }},
        {"measured [95%]", "measured_*_per_s", [](S s) { return range(s.measured, s.unit); }},
        {"data sheet", "spec_per_s", [](S s) { return amount(s.spec, s.unit); }},
        {"reached", "", [](S s) { return share(s.share()); }},
        {"", "unit", [](S s) { return word(s.unit); }},
        {"", "source", [](S s) { return word(s.source); }},
    };
    return table_of(columns, beside_sheets(study), {.title = "Beside the data sheet"});
}

std::string sheet_footnote(const Study& study)
{
    std::set<std::string> sources;
    for (const SheetShare& share : beside_sheets(study)) sources.insert(share.source);
    if (sources.empty()) return {};
    std::string text = "Data sheet: spec, at the vendor's clock, matrix products without sparsity. ";
    for (const std::string& source : sources) text += source + ". ";
    text.pop_back();
    return text;
}

// The ceilings with names in the literature, from the best mix down to scalar code.

namespace {

/// The ceilings of a precision with so many threads; null if there is none.
struct Named {
    std::string device, precision;
    int threads;
    const Ceiling* mix;
    std::optional<Ceiling> roof;
    const Ceiling* add;
    const Ceiling* without_fma;
    const Ceiling* scalar;

    bool has_names() const
    {
        return add != nullptr || without_fma != nullptr || scalar != nullptr ||
               (mix && !(roof && roof->rate.median >= mix->rate.median));
    }
};
using N = const Named&;

Cell rate_cell(const Ceiling* ceiling)
{
    return ceiling == nullptr ? absent() : number(ceiling->rate.median.value, rate_text(*ceiling));
}

Cell clock_cell(const Ceiling* ceiling)
{
    const double clock = ceiling != nullptr ? ceiling->clock.median.value : 0;
    return only_if(clock > 0, amount(clock, "Hz"));
}

}  // namespace

DataTable named_ceilings(const Ceilings& ceilings)
{
    const bool names_device = devices_of(ceilings).size() > 1;
    const std::vector<ColumnOf<Named>> columns{
        {"device", "", [&](N n) { return only_if(names_device, word(n.device)); }},
        {"precision", "", [](N n) { return word(n.precision); }},
        {"threads", "", [](N n) { return count(n.threads); }},
        {"best mix", "", [](N n) { return rate_cell(n.mix); }},
        {"multiply-add: the roof", "", [](N n) { return rate_cell(n.roof ? &*n.roof : nullptr); }},
        {"add only", "", [](N n) { return rate_cell(n.add); }},
        {"without FMA", "", [](N n) { return rate_cell(n.without_fma); }},
        {"without SIMD", "", [](N n) { return rate_cell(n.scalar); }},
        {"clock, scalar", "", [](N n) { return clock_cell(n.scalar); }},
        {"clock, widest", "", [](N n) { return clock_cell(n.roof ? &*n.roof : nullptr); }}};
    std::set<CurveKey> keys;
    for (const Ceiling& c : ceilings.all)
        if (c.kind == Role::compute && c.condition.empty()) keys.insert({c.device, c.precision, c.threads});
    std::vector<Named> rows;
    for (const auto& [device, precision, threads] : keys) {
        const auto by = [&, device = device, precision = precision, threads = threads](std::string_view operation,
                                                                                       std::string_view isa = "") {
            return fastest_by(ceilings, device, threads, precision, operation, isa);
        };
        const Named named{device,
                          precision,
                          threads,
                          ceilings.compute(device, precision, threads),
                          ceilings.roof(Role::compute, device, precision, threads),
                          by("add"),
                          by("mul+add"),
                          by("fma", "scalar")};
        if (named.has_names()) rows.push_back(named);
    }
    DataTable table = table_of(
        columns, rows,
        {.title = fmt::format("Named ceilings ({}): the roof, and what remains below it without one thing or another",
                              name(ceilings.known()))});
    drop_empty_columns(table);
    return table;
}

}  // namespace roof::analysis
