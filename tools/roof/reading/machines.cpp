#include "tools/roof/reading/study.hpp"

#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/ranges.hpp"
#include "ert/base/text.hpp"
#include "tools/roof/binary/binary.hpp"

#include <fmt/format.h>

namespace roof {
namespace {

namespace fs = std::filesystem;
using analysis::MachineSheet;
using analysis::Target;

constexpr std::string_view folder = "configs/machines/";

/// The targets with ceilings in this folder, or in the newest below it; empty without a calibration.
/// `machine`: whose they are; null for any.
std::vector<Target> measured_in(const fs::path& place, const std::string& name, Context& context,
                                const Machine* machine = nullptr)
{
    const std::optional<Results> calibration = calibration_in(place, context, machine);
    return calibration ? analysis::targets_of(*calibration, name) : std::vector<Target>{};
}

/// Each measured device, followed by its sheet. Links come from the sheet, because they are not measured.
std::vector<Target> beside_sheets(std::vector<Target> measured, const std::vector<MachineSheet>& sheets)
{
    std::vector<Target> targets;
    for (Target& target : measured) {
        const auto* const sheet = first_in(sheets, [&](const auto& one) { return one.describes(target.title); });
        if (sheet && target.links.empty()) target.links = sheet->links;
        targets.push_back(std::move(target));
        if (sheet) targets.push_back(analysis::target_of(*sheet));
    }
    return targets;
}

/// The devices among the results that the sheet describes.
std::vector<Target> measured_as(const MachineSheet& sheet, Context& context)
{
    std::vector<Target> found;
    for (const Neighbour& machine : neighbours_in(context.results)) {
        if (!machine.unread.empty()) continue;
        for (Target& target : measured_in(machine.place, machine.place.filename().string(), context))
            if (sheet.describes(target.title)) found.push_back(std::move(target));
    }
    return found;
}

std::vector<Target> of_sheet(const MachineSheet& sheet, const std::string& word, Context& context)
{
    std::vector<Target> targets = sheet.models.empty() ? std::vector<Target>{} : measured_as(sheet, context);
    for (Target& target : targets) target.links = sheet.links;
    targets.push_back(analysis::target_of(sheet));
    targets.back().name = word;
    return targets;
}

}  // namespace

std::vector<MachineSheet> built_in_sheets()
{
    static const std::vector<MachineSheet> sheets = [] {
        std::vector<MachineSheet> all;
        for (const EmbeddedText& file : embedded_texts())
            if (file.path.starts_with(folder))
                all.push_back(analysis::parse_sheet(std::string(file.text), std::string(file.path)));
        return all;
    }();
    return sheets;
}

std::vector<std::string> machine_names()
{
    std::vector<std::string> names{"here"};
    for (const MachineSheet& sheet : built_in_sheets()) {
        names.push_back(sheet.name);
        names.insert(names.end(), sheet.also.begin(), sheet.also.end());
    }
    return names;
}

std::vector<Target> find_targets(const std::string& word, Context& context)
{
    const std::vector<MachineSheet> sheets = built_in_sheets();
    const bool here = word == "here";
    const fs::path machine = context.results / (here ? context.registry.machine().name : word);
    for (const fs::path& place : here ? std::vector{machine} : std::vector{fs::path(word), machine}) {
        std::vector<Target> measured = measured_in(place, here ? word : place.filename().string(), context,
                                                   here ? &context.registry.machine() : nullptr);
        if (!measured.empty()) return beside_sheets(std::move(measured), sheets);
    }
    if (const auto* const sheet = first_in(sheets, [&](const auto& one) { return one.is_called(word); }))
        return of_sheet(*sheet, word, context);
    if (fs::path(word).extension() == ".yaml" && fs::is_regular_file(word)) {
        const MachineSheet own = analysis::parse_sheet(read_file(word), word);
        return of_sheet(own, own.name, context);
    }
    if (here) throw InputError("--on here: this machine has no calibration yet; `roof calibrate` makes one");
    throw InputError(fmt::format("--on: there is no calibration in '{}'; {}", printable(word),
                                 unknown_word("machine", word, machine_names())));
}

}  // namespace roof
