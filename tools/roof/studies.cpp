#include "tools/roof/studies.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"
#include "tools/roof/embedded.hpp"

#include <algorithm>

namespace roof {
namespace {

constexpr std::string_view folder = "configs/studies/";
constexpr std::string_view table_ending = ".csv";
constexpr std::string_view expectation_ending = ".expect";

const EmbeddedText* text_at(const std::string& path)
{
    const auto found = std::ranges::find(embedded_texts(), path, &EmbeddedText::path);
    return found == embedded_texts().end() ? nullptr : &*found;
}

/// A hypothesis a line; what follows # is for people.
std::vector<std::string> lines_of(std::string_view text)
{
    std::vector<std::string> lines;
    for (const std::string& line : split(text, '\n')) {
        const std::string said(trim(line.substr(0, line.find('#'))));
        if (!said.empty()) lines.push_back(said);
    }
    return lines;
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
    if (const EmbeddedText* const text = text_at(std::string(folder) + study.name + std::string(expectation_ending)))
        study.hypotheses = lines_of(text->text);
    return study;
}

}  // namespace roof
