// Measured ceilings beside the data sheet of the device.
#include "analysis/study/ceiling_tables.hpp"
#include "analysis/study/tables.hpp"

#include <algorithm>
#include <set>

namespace roof::analysis {

namespace {

const MachineSheet* sheet_of(const Study& study, const Device& device)
{
    const auto found =
        std::ranges::find_if(study.sheets, [&](const auto& sheet) { return sheet.describes(device.model); });
    return found == study.sheets.end() ? nullptr : &*found;
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
    const auto add = [&](const std::string& what, double spec, const Ceiling* measured) {
        if (measured == nullptr || !(spec > 0)) return;
        shares.push_back({device, what, spec, measured->rate, std::string(measured->unit()), source_of(sheet)});
    };
    for (const auto& [precision, peak] : sheet.peaks)
        add(std::string(traits(precision).name), peak.value,
            study.ceilings.multiply_add(device, std::string(traits(precision).name), threads));
    for (const SheetLevel& level : sheet.levels)
        add(level.name, level.bandwidth.value, study.ceilings.bandwidth(device, level.name, threads));
}

}  // namespace

std::vector<SheetShare> beside_sheets(const Study& study)
{
    std::vector<SheetShare> shares;
    for (const Device& device : study.calibration.machine.devices)
        if (const MachineSheet* sheet = sheet_of(study, device)) add_shares(study, device.name, *sheet, shares);
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
    DataTable table = table_of(columns, beside_sheets(study));
    table.title = "Beside the data sheet";
    return table;
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

}  // namespace roof::analysis
