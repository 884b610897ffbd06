#include "tools/roof/console/output.hpp"

#include "analysis/table/fitted_text.hpp"
#include "analysis/table/table.hpp"
#include "ert/base/process.hpp"
#include "ert/base/text.hpp"

namespace roof {

namespace fs = std::filesystem;

void print_json(std::ostream& out, const nlohmann::json& document)
{
    out << analysis::json_document(document, 2) << '\n';
}

std::string in_window(std::string_view text, const Terminal& terminal)
{
    return terminal.width > 0 ? analysis::fitted_lines(text, terminal.width) : std::string(text);
}

fs::path results_folder(const std::function<std::string(const char*)>& variable, const fs::path& here)
{
    if (const std::string chosen = variable("ROOF_RESULTS"); !chosen.empty()) return chosen;
    std::error_code none;
    if (fs::is_directory(here / "results", none)) return "results";
    // The specification has relative paths ignored.
    if (const fs::path data = variable("XDG_DATA_HOME"); data.is_absolute()) return data / "roof";
    const fs::path home = variable("HOME");
    return home.is_absolute() ? home / ".local/share/roof" : fs::path("results");
}

void say_where_results_are(const Context& context)
{
    std::error_code none;
    if (fs::exists(context.results, none)) return;
    context.err << in_window("results are kept in " + printable(context.results.string()) +
                                 "; to keep them elsewhere, set ROOF_RESULTS or make a folder 'results' here\n",
                             context.messages);
}

void say_lacks(const fs::path& folder, const Context& context)
{
    if (const std::string lacks = lacks_of_file_system(folder); !lacks.empty())
        context.err << in_window("roof: " + printable(lacks) + "\n", context.messages) << std::flush;
}

}  // namespace roof
