#include "analysis/estimate/target.hpp"

#include "analysis/roofline/roofs.hpp"
#include "ert/base/error.hpp"
#include "ert/base/names.hpp"
#include "ert/base/ranges.hpp"
#include "ert/base/text.hpp"
#include "ert/base/yaml_text.hpp"
#include "ert/method/results/look_file.hpp"

namespace roof::analysis {
namespace {

Ceiling ceiling_of(const std::string& device, Role kind, const std::string& level, double rate)
{
    Ceiling ceiling;
    ceiling.device = device;
    ceiling.kind = kind;
    ceiling.level = level;
    ceiling.operation = kind == Role::compute ? "fma" : "load";
    ceiling.known = Known::spec;
    ceiling.rate = {{rate}, {rate}, {rate}, 0, 0};
    return ceiling;
}

class SheetReader : YamlReader {
  public:
    using YamlReader::YamlReader;

    MachineSheet read(const YAML::Node& root) const
    {
        check_keys(root, {"name", "title", "kind", "also", "models", "peaks", "levels", "links", "sources"}, kind_);
        MachineSheet sheet;
        sheet.name = value<std::string>(root, "name");
        sheet.title = value<std::string>(root, "title");
        sheet.kind = value<std::string>(root, "kind");
        sheet.also = words(root, "also");
        sheet.models = words(root, "models");
        sheet.sources = words(root, "sources");
        if (sheet.sources.empty()) fail(root, "sources: a sheet must name the sources of its figures");
        const auto peaks = value<YAML::Node>(root, "peaks");
        for (const auto& peak : peaks) {
            const auto precision = peak.first.as<std::string>();
            sheet.peaks[parse_precision(precision)] = FlopRate{positive(peaks, precision)};
        }
        for (const YAML::Node& level : value<YAML::Node>(root, "levels")) sheet.levels.push_back(read_level(level));
        if (sheet.levels.empty()) fail(root, "levels: at least one level of memory is expected");
        for (const YAML::Node& link : root["links"]) sheet.links.push_back(read_link(link));
        return sheet;
    }

  private:
    SheetLevel read_level(const YAML::Node& node) const
    {
        check_keys(node, {"name", "bandwidth", "capacity"}, kind_);
        return {value<std::string>(node, "name"), ByteRate{positive(node, "bandwidth")},
                Bytes{positive(node, "capacity")}};
    }

    Link read_link(const YAML::Node& node) const
    {
        check_keys(node, {"name", "latency", "bandwidth"}, kind_);
        return {value<std::string>(node, "name"), Seconds{positive(node, "latency")},
                ByteRate{positive(node, "bandwidth")}};
    }

    std::vector<std::string> words(const YAML::Node& map, const char* key) const
    {
        return map[key] ? value<std::vector<std::string>>(map, key) : std::vector<std::string>();
    }

    double positive(const YAML::Node& map, const std::string& key) const
    {
        const auto node = value<YAML::Node>(map, key);
        double number = 0;
        if (YAML::convert<double>::decode(node, number) && number > 0) return number;
        fail(node, key + ": a number above 0 in SI units is expected here");
    }

    static constexpr const char* kind_ = "key of a machine's sheet";
};

}  // namespace

MachineSheet parse_sheet(const std::string& text, const std::string& name)
{
    return reading_yaml(name, [&] { return SheetReader(name).read(parse_yaml(text, name)); });
}

const Link& Target::link(const std::string& link_name) const
{
    if (const Link* const found = find_in(links, link_name, &Link::name)) return *found;
    throw InputError(links.empty() ? "'" + name + "' has no links between devices"
                                   : unknown_word("link of " + name, link_name, names_in(links)));
}

Target target_of(const MachineSheet& sheet)
{
    Target target{.name = sheet.name,
                  .title = sheet.title,
                  .known = Known::spec,
                  .device = sheet.kind,
                  .machine = {},
                  .ceilings = {},
                  .memory = sheet.memory(),
                  .links = sheet.links};
    target.machine.name = sheet.name;
    for (const SheetLevel& level : sheet.levels) {
        Ceiling& ceiling = target.ceilings.all.emplace_back(
            ceiling_of(target.device, Role::bandwidth, level.name, level.bandwidth.value));
        ceiling.working_set_high = level.capacity;
        MeasuredLevel extent;
        extent.device = target.device;
        extent.name = level.name;
        extent.to = level.capacity;
        target.ceilings.levels.push_back(extent);
    }
    for (const auto& [precision, peak] : sheet.peaks)
        target.ceilings.all.emplace_back(ceiling_of(target.device, Role::compute, "core", peak.value)).precision =
            traits(precision).name;
    return target;
}

std::vector<Target> targets_of(const Results& calibration, const std::string& name)
{
    const Ceilings ceilings =
        fit_ceilings(calibration.rows, calibration.machine, looks_at(calibration.folder, calibration.machine).seen);
    std::vector<Target> targets;
    for (const std::string& device : devices_of(ceilings)) {
        const Roofs roofs = roofs_of(ceilings, device);
        if (roofs.levels.empty() || roofs.compute.empty()) continue;
        const Device* const found = calibration.machine.find_device(device);
        targets.push_back({.name = name,
                           .title = found != nullptr ? found->model : device,
                           .known = Known::measured,
                           .device = device,
                           .machine = calibration.machine,
                           .ceilings = ceilings,
                           .quality = calibration_quality(ceilings, calibration.rows),
                           .memory = found != nullptr ? found->memory : Bytes{},
                           .links = {}});
    }
    if (targets.empty())
        throw InputError("'" + name +
                         "' holds no ceilings of both bandwidth and compute; `roof calibrate` measures them");
    if (targets.size() > 1)
        for (Target& target : targets) target.name += ":" + target.device;
    return targets;
}

}  // namespace roof::analysis
