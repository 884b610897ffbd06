#include "tools/roof/reading/studies.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"
#include "ert/method/plan/plan.hpp"
#include "tools/roof/binary/embedded.hpp"

#include <algorithm>

namespace roof {
namespace {

constexpr std::string_view folder = "configs/studies/";
constexpr std::string_view table_ending = ".csv";
constexpr std::string_view plan_ending = ".yaml";

const EmbeddedText* text_at(const std::string& path)
{
    const auto found = std::ranges::find(embedded_texts(), path, &EmbeddedText::path);
    return found == embedded_texts().end() ? nullptr : &*found;
}

}  // namespace

std::vector<std::string> study_names()
{
    const std::string tables = std::string(folder) + "published/";
    std::vector<std::string> names;
    for (const EmbeddedText& file : embedded_texts()) {
        if (!file.path.starts_with(tables) || !file.path.ends_with(table_ending)) continue;
        const std::size_t length = file.path.size() - tables.size() - table_ending.size();
        names.emplace_back(file.path.substr(tables.size(), length));
    }
    return names;
}

PublishedStudy find_study(const std::string& name)
{
    PublishedStudy study;
    study.name = name.substr(name.starts_with("studies/") ? 8 : 0);
    const std::string table = std::string(folder) + "published/" + study.name + std::string(table_ending);
    const EmbeddedText* const numbers = text_at(table);
    if (numbers == nullptr) throw InputError("--study: " + unknown_word("study", name, study_names()));
    study.numbers = analysis::parse_published(numbers->text, table);
    const std::string plan = std::string(folder) + study.name + std::string(plan_ending);
    if (const EmbeddedText* const text = text_at(plan))
        study.hypotheses = parse_plan(std::string(text->text), plan).expect;
    return study;
}

}  // namespace roof
