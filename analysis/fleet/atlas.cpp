#include "analysis/fleet/atlas.hpp"

#include "analysis/report/report.hpp"
#include "analysis/roofline/roofs.hpp"
#include "analysis/table/html.hpp"
#include "analysis/table/quantities.hpp"
#include "ert/base/error.hpp"
#include "ert/base/precision.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <utility>

namespace roof::analysis {
namespace {

constexpr const char* no_node = "unknown";  ///< as make_digest() names a node without a name
constexpr double most_of_spec = 1.02;
constexpr std::array shown_levels{"L1", "L2", "L3", "DRAM"};

/// A device of a machine, and the roofs over it. They point into the machine's ceilings.
struct AtlasDevice {
    const AtlasMachine* machine;
    Roofs roofs;
};
using D = const AtlasDevice&;

void check(const AtlasMachine& machine)
{
    const auto is_legal = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
    if (machine.name.empty() || !std::ranges::all_of(machine.name, is_legal))
        throw InputError("atlas: '" + printable(machine.name) +
                         "' is no name of a machine: small letters, digits and hyphens, as in amd-epyc-zen4-2cpu");
    if (machine.digest.node != no_node)
        throw InputError(machine.name + ": it names the node " + printable(machine.digest.node) +
                         "; `roof atlas add` leaves the name out");
    for (const DigestRate& rate : machine.digest.ceilings)
        if (rate.state() == name(Steadiness::steady) && rate.spec > 0 && rate.value > most_of_spec * rate.spec)
            throw InputError(fmt::format("{}: {} is {} of what the core's spec allows", machine.name,
                                         printable(rate.name()), percent(rate.value / rate.spec)));
    for (const std::string& device : devices_of(machine.ceilings)) {
        const Roofs roofs = roofs_of(machine.ceilings, device);
        if (roofs.level("DRAM") != nullptr && !roofs.compute.empty()) return;
    }
    throw InputError(machine.name + ": no device has both the bandwidth of DRAM and a peak");
}

/// The digest's name of a ceiling, taken apart: "cpu compute core fma fp32 avx512 threads=2, siblings" (id_of).
std::optional<Ceiling> ceiling_of(const DigestRate& rate)
{
    const std::vector<std::string> words = split(rate.name(), ' ');
    const auto threads = std::ranges::find_if(words, [](const std::string& w) { return w.starts_with("threads="); });
    const auto before = threads - words.begin();
    const bool is_compute = before == 6 && words[1] == name(Role::compute);
    if (threads == words.end() || !(is_compute || (before == 4 && words[1] == name(Role::bandwidth))))
        return std::nullopt;
    Ceiling c;
    c.device = words[0];
    c.kind = is_compute ? Role::compute : Role::bandwidth;
    c.level = words[2];
    c.operation = words[3];
    if (is_compute) c.precision = words[4];
    if (is_compute) c.isa = words[5];
    c.threads = std::atoi(threads->c_str() + std::string_view("threads=").size());
    c.condition = join({threads + 1, words.end()}, " ");
    c.rate = {{rate.value}, {rate.low}, {rate.is_lower_bound() ? rate.value : rate.high}, rate.n, 0};
    c.steadiness = rate.is_lower_bound() ? Steadiness::at_least : Steadiness::steady;
    c.rounds = rate.rounds;
    return c;
}

Ceilings ceilings_of(const Digest& digest)
{
    Ceilings ceilings;
    for (const DigestRate& rate : digest.ceilings)
        if (std::optional<Ceiling> ceiling = ceiling_of(rate)) ceilings.all.push_back(std::move(*ceiling));
    return ceilings;
}

std::vector<AtlasDevice> devices_in(const std::vector<AtlasMachine>& machines)
{
    std::vector<AtlasDevice> devices;
    for (const AtlasMachine& machine : machines)
        for (const std::string& device : devices_of(machine.ceilings))
            devices.push_back({&machine, roofs_of(machine.ceilings, device)});
    return devices;
}

Cell rate_cell(const Ceiling* roof)
{
    return only_if(roof != nullptr, roof == nullptr ? Cell{} : number(roof->rate.median.value, rate_text(*roof)));
}

/// FLOP/B at which the memory and the fp32 roof meet.
Cell ridge_cell(D d)
{
    const Ceiling* const memory = d.roofs.level("DRAM");
    const Ceiling* const peak = d.roofs.precision("fp32");
    return memory != nullptr && peak != nullptr ? plain(peak->rate.median / memory->rate.median) : absent();
}

}  // namespace

AtlasMachine for_atlas(const std::string& name, const Results& results)
{
    AtlasMachine machine{name, make_digest(results, Twins::each), {}};
    machine.digest.node = no_node;
    machine.digest.links.clear();
    machine.ceilings = ceilings_of(machine.digest);
    check(machine);
    return machine;
}

AtlasMachine parse_atlas(const std::string& name, const std::string& text)
{
    AtlasMachine machine{name, parse_digest(text, name + ".csv"), {}};
    machine.ceilings = ceilings_of(machine.digest);
    check(machine);
    return machine;
}

DataTable atlas_table(const std::vector<AtlasMachine>& machines)
{
    std::vector<ColumnOf<AtlasDevice>> columns{
        {"machine", "machine", [](D d) { return word(d.machine->name); }},
        {"device", "device", [](D d) { return word(printable(d.roofs.device)); }},
        {"threads", "threads", [](D d) { return count(d.roofs.threads); }},
    };
    std::vector<std::string> keys;  // the columns point to them
    keys.reserve(precision_table.size() + shown_levels.size());
    for (const PrecisionTraits& precision : precision_table) {
        const std::string title(precision.name);
        keys.push_back(title + "_flop_per_s");
        columns.push_back(
            {precision.name.data(), keys.back().c_str(), [title](D d) { return rate_cell(d.roofs.precision(title)); }});
    }
    for (const char* level : shown_levels) {
        keys.push_back(std::string(level) + "_byte_per_s");
        columns.push_back({level, keys.back().c_str(), [level](D d) { return rate_cell(d.roofs.level(level)); }});
    }
    columns.push_back({"ridge, fp32", "ridge_fp32_flop_per_byte", ridge_cell});
    columns.push_back({"", "kind", [](D d) { return word(printable(d.machine->digest.kind)); }});
    columns.push_back({"day", "time", [](D d) { return word(d.machine->digest.day(), d.machine->digest.time); }});
    columns.push_back({"", "revision", [](D d) { return word(printable(d.machine->digest.revision)); }});
    DataTable table = table_of(columns, devices_in(machines));
    drop_empty_columns(table);
    table.expendable = {"day", "int32", "tf32", "int8", "L1", "L2"};
    table.identifying = {"machine", "device"};
    return table;
}

Figure atlas_figure(const std::vector<AtlasMachine>& machines)
{
    constexpr std::array<const char*, 4> precisions{"fp64", "fp32", "bf16", "fp8"};
    constexpr double room = 2;
    Figure figure{.title = "Peaks over the bandwidth of memory"};
    Extent bandwidths, peaks;
    int rank = 0;
    for (D d : devices_in(machines)) {
        const Ceiling* const memory = d.roofs.level("DRAM");
        if (memory == nullptr) continue;
        bandwidths.add(memory->rate.median.value);
        std::size_t highest = figure.marks.size();
        const std::size_t first = highest;
        for (std::size_t i = 0; i < precisions.size(); ++i) {
            const Ceiling* const peak = d.roofs.precision(precisions[i]);
            if (peak == nullptr) continue;
            peaks.add(peak->rate.median.value);
            figure.marks.push_back(
                {.x = Range::of(memory->rate),
                 .y = Range::of(peak->rate),
                 .whisker = true,
                 .shape = Shape(i),
                 .look = series_entry(i, "").look,
                 .title = fmt::format("{}, {}: {} {}, DRAM {}", d.machine->name, printable(d.roofs.device),
                                      precisions[i], rate_text(*peak), rate_text(*memory))});
            if (figure.marks[highest].y.median < peak->rate.median.value) highest = figure.marks.size() - 1;
        }
        if (figure.marks.size() == first) continue;
        figure.marks[highest].name = d.machine->name;
        figure.marks[highest].rank = rank++;
    }
    if (peaks.empty()) return figure;
    peaks.add(bandwidths.low);  // where the line of 1 FLOP/B begins
    figure.x = {"bandwidth of DRAM (B/s)", bandwidths.widened(room), {}, false};
    figure.y = {"multiply-adds (FLOP/s)", peaks.widened(room), {}, false};
    for (const auto& [axis, unit] : {std::pair{&figure.x, "B/s"}, {&figure.y, "FLOP/s"}})
        axis->ticks = decade_ticks(power_below(10, axis->frame.low), power_above(10, axis->frame.high),
                                   [unit](double v) { return tick_text(v, unit); });
    for (const double ridge : {1.0, 10.0, 100.0}) {
        const std::string label = fmt::format("ridge at {:g} FLOP/B", ridge);
        figure.roofs.push_back({.name = label,
                                .label = label,
                                .title = label,
                                .slanted = true,
                                .rate = {ridge, ridge, ridge},
                                .dashed = true});
    }
    for (std::size_t i = 0; i < precisions.size(); ++i)
        figure.legend.push_back({Shape(i), series_entry(i, "").look, precisions[i]});
    return figure;
}

std::string atlas_page(const std::vector<AtlasMachine>& machines)
{
    const Figure figure = atlas_figure(machines);
    const std::string lead = fmt::format(
        "{}, measured by roof, each in one calibration. ≥ stands before a lower bound: what was measured "
        "where the machine was "
        "disturbed. Peaks are multiply-adds, bandwidths the fastest access, both with the most threads.",
        how_many(machines.size(), "machine"));
    const std::string picture =
        figure.marks.empty() ? "" : roof::analysis::figure(figure.title, draw(figure, "atlas").str());
    return html_document("atlas of measured roofs",
                         "<header><h1>Atlas of measured roofs</h1>\n" + paragraph(lead, "lead") + "</header>\n",
                         "<section>\n" + picture + html_table(atlas_table(machines)) + "</section>\n");
}

}  // namespace roof::analysis
