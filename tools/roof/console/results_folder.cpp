#include "tools/roof/console/results_folder.hpp"

#include "ert/base/text.hpp"
#include "tools/roof/console/output.hpp"

namespace roof {

namespace fs = std::filesystem;

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
                             context.terminal);
}

}  // namespace roof
