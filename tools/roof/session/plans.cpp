#include "tools/roof/session/plans.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"
#include "tools/roof/binary/embedded.hpp"

#include <fmt/format.h>

namespace roof {
namespace {

constexpr std::string_view folder = "configs/";
constexpr std::string_view machines = "configs/machines/";  ///< spec sheets, not plans
constexpr std::string_view ending = ".yaml";

bool is_plan(const EmbeddedText& file)
{
    return file.path.starts_with(folder) && !file.path.starts_with(machines) && file.path.ends_with(ending);
}

std::string name_of(const EmbeddedText& file)
{
    return std::string(file.path.substr(folder.size(), file.path.size() - folder.size() - ending.size()));
}

}  // namespace

std::vector<std::string> built_in_plans()
{
    std::vector<std::string> names;
    for (const EmbeddedText& file : embedded_texts()) {
        if (is_plan(file)) names.push_back(name_of(file));
    }
    return names;
}

Plan find_plan(const std::string& file_or_name)
{
    if (std::filesystem::exists(file_or_name)) return load_plan(file_or_name);
    for (const EmbeddedText& file : embedded_texts()) {
        if (is_plan(file) && name_of(file) == file_or_name) {
            return parse_plan(std::string(file.text), std::string(file.path));
        }
    }
    throw InputError(fmt::format("there is no file '{}'; {}", file_or_name,
                                 unknown_word("built-in plan", file_or_name, built_in_plans())));
}

}  // namespace roof
