// `roof atlas`: machines of many kinds beside each other, from the digests that come with roof, and from runs of one's own.
#include "analysis/fleet/atlas.hpp"
#include "analysis/table/fitted_text.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "tools/roof/binary/binary.hpp"
#include "tools/roof/commands/commands.hpp"
#include "tools/roof/console/output.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>

namespace roof {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view folder = "results/atlas/";

struct AtlasOptions {
    OptionParser& parser;
    std::vector<std::string>& words = parser.repeated("DIR");  ///< "add DIR NAME", or files and folders
    std::string& out = parser.value("--out");
    bool& json = parser.flag("--json");
};

std::vector<analysis::AtlasMachine> built_in()
{
    std::vector<analysis::AtlasMachine> machines;
    for (const EmbeddedText& file : embedded_texts())
        if (file.path.starts_with(folder))
            machines.push_back(analysis::parse_atlas(fs::path(file.path).stem(), std::string(file.text)));
    return machines;
}

int add(const AtlasOptions& options, Context& context)
{
    if (options.words.size() != 3)
        throw InputError("atlas add: a calibration and a name for its machine; 'roof help atlas' shows how");
    const analysis::AtlasMachine machine = analysis::for_atlas(options.words[2], read_results(options.words[1]));
    const fs::path file = fs::path(options.out.empty() ? std::string(folder) : options.out) / (machine.name + ".csv");
    fs::create_directories(file.parent_path());
    write_file(file, analysis::to_csv(machine.digest));
    context.out << file.string() << '\n';
    return 0;
}

/// The machine of a file of an atlas or of a results folder, those of a folder with such files.
void read_into(std::vector<analysis::AtlasMachine>& machines, const fs::path& place)
{
    if (!fs::is_directory(place)) {
        machines.push_back(analysis::parse_atlas(place.stem(), read_file(place)));
    } else if (fs::exists(place / "measurements.csv")) {
        machines.push_back(analysis::for_atlas("here", read_results(place)));
    } else {
        std::vector<fs::path> files;
        for (const fs::directory_entry& entry : fs::directory_iterator(place))
            if (entry.path().extension() == ".csv") files.push_back(entry.path());
        if (files.empty()) throw InputError("atlas: there are no digests in '" + place.string() + "'");
        std::ranges::sort(files);
        for (const fs::path& file : files) read_into(machines, file);
    }
}

int atlas_of(const AtlasOptions& options, Context& context)
{
    if (!options.words.empty() && options.words.front() == "add") return add(options, context);
    std::vector<analysis::AtlasMachine> machines = built_in();
    for (const std::string& word : options.words) {
        const bool replaces = fs::is_directory(word) && !fs::exists(fs::path(word) / "measurements.csv");
        if (replaces) machines.clear();
        read_into(machines, word);
    }
    if (!options.out.empty()) write_chosen_file(options.out, analysis::atlas_page(machines));
    const analysis::DataTable table = analysis::atlas_table(machines);
    if (options.json)
        print_json(context.out, analysis::to_json(table));
    else
        context.out << analysis::to_text(table, context.terminal.width);
    return 0;
}

}  // namespace

Action atlas(OptionParser& parser)
{
    return [options = AtlasOptions{parser}](Context& context) { return atlas_of(options, context); };
}

}  // namespace roof
