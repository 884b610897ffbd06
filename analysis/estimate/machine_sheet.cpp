#include "analysis/estimate/machine_sheet.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"
#include "ert/base/yaml_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace roof::analysis {
namespace {

/// Reads the YAML nodes of one sheet.
class SheetReader {
  public:
    explicit SheetReader(std::string name) : name_(std::move(name)) {}

    MachineSheet read(const std::string& text) const
    {
        const YAML::Node root = parse_yaml(text, name_);
        check_keys(root, {"name", "title", "kind", "also", "models", "peaks", "levels", "links", "sources"});
        MachineSheet sheet;
        sheet.name = word(root, "name");
        sheet.title = word(root, "title");
        sheet.kind = word(root, "kind");
        sheet.also = words(root["also"], "also");
        sheet.models = words(root["models"], "models");
        sheet.sources = words(root["sources"], "sources");
        if (sheet.sources.empty()) throw InputError(name_ + ": sources: a sheet must name the sources of its figures");
        for (const auto& peak : need(root, "peaks"))
            sheet.peaks[parse_precision(peak.first.as<std::string>())] = FlopRate{positive(peak.second, "peaks")};
        for (const YAML::Node& level : need(root, "levels")) sheet.levels.push_back(read_level(level));
        if (sheet.levels.empty()) throw InputError(name_ + ": levels: at least one level of memory is expected");
        for (const YAML::Node& link : root["links"]) sheet.links.push_back(read_link(link));
        return sheet;
    }

  private:
    SheetLevel read_level(const YAML::Node& node) const
    {
        check_keys(node, {"name", "bandwidth", "capacity"});
        return {word(node, "name"), ByteRate{positive(need(node, "bandwidth"), "bandwidth")},
                Bytes{positive(need(node, "capacity"), "capacity")}};
    }

    Link read_link(const YAML::Node& node) const
    {
        check_keys(node, {"name", "latency", "bandwidth"});
        return {word(node, "name"), Seconds{positive(need(node, "latency"), "latency")},
                ByteRate{positive(need(node, "bandwidth"), "bandwidth")}};
    }

    std::string where(const YAML::Node& node) const { return fmt::format("{}:{}", name_, node.Mark().line + 1); }

    void check_keys(const YAML::Node& map, const std::vector<std::string>& legal) const
    {
        if (!map.IsMap()) throw InputError(name_ + ": a map is expected, with the keys " + join(legal, ", "));
        for (const auto& pair : map) {
            const auto key = pair.first.as<std::string>();
            if (std::ranges::find(legal, key) == legal.end())
                throw InputError(where(pair.first) + ": " + unknown_word("key of a machine's sheet", key, legal));
        }
    }

    YAML::Node need(const YAML::Node& map, const char* key) const
    {
        if (!map[key]) throw InputError(fmt::format("{}: {}: this key is missing", where(map), key));
        return map[key];
    }

    std::string word(const YAML::Node& map, const char* key) const
    {
        const YAML::Node node = need(map, key);
        if (!node.IsScalar()) throw InputError(fmt::format("{}: {}: one word is expected here", where(node), key));
        return node.as<std::string>();
    }

    std::vector<std::string> words(const YAML::Node& node, const char* key) const
    {
        if (!node) return {};
        if (!node.IsSequence()) throw InputError(fmt::format("{}: {}: a list is expected here", where(node), key));
        return node.as<std::vector<std::string>>();
    }

    double positive(const YAML::Node& node, const char* key) const
    {
        double value = 0;
        if (YAML::convert<double>::decode(node, value) && value > 0) return value;
        throw InputError(fmt::format("{}: {}: a number above 0 in SI units is expected here", where(node), key));
    }

    std::string name_;
};

}  // namespace

bool MachineSheet::is_called(const std::string& word) const
{
    return word == name || std::ranges::find(also, word) != also.end();
}

bool MachineSheet::describes(const std::string& model) const
{
    return std::ranges::find(models, model) != models.end();
}

MachineSheet parse_sheet(const std::string& text, const std::string& name)
{
    return reading_yaml(name, [&] { return SheetReader(name).read(text); });
}

}  // namespace roof::analysis
