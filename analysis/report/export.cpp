// The panels as files: pictures in the light theme, tables as CSV and JSON.
#include "analysis/report/report.hpp"
#include "analysis/report/style.hpp"
#include "analysis/study/tables.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace roof::analysis {

namespace {

void make_folder(const std::filesystem::path& folder)
{
    std::error_code failure;
    std::filesystem::create_directories(folder, failure);
    if (failure) throw InputError("cannot make folder '" + folder.string() + "': " + failure.message());
}

/// The table over all studies, with the study's name as its first column.
DataTable over_all(std::span<const Study> studies, const PanelTable& table)
{
    DataTable all;
    for (const Study& study : studies) {
        DataTable one = table.make(study);
        one.columns.insert(one.columns.begin(), TableColumn{"", "study"});
        for (DataTable::Row& row : one.rows)
            row.cells.insert(row.cells.begin(), word(study.results.folder.filename().string()));
        append(all, std::move(one));
    }
    return all;
}

/// Nothing for a table without rows.
void write_table(const std::filesystem::path& folder, std::string_view name, const DataTable& table)
{
    if (table.rows.empty()) return;
    write_file(folder / (std::string(name) + ".csv"), to_csv(table));
    write_file(folder / (std::string(name) + ".json"), json_document(to_json(table), 1) + "\n");
}

}  // namespace

std::vector<std::filesystem::path> write_pictures(std::span<const Study> studies, const std::filesystem::path& folder)
{
    make_folder(folder);
    const std::string style = picture_style_sheet();
    std::vector<std::filesystem::path> files;
    for (const Panel& panel : panels()) {
        int number = 0;
        for (const Study& study : studies)
            for (const auto& part : content_of(panel, study, std::string(panel.id))) {
                const auto* const picture = std::get_if<Picture>(&part);
                if (picture == nullptr) continue;
                files.push_back(folder / fmt::format("{}-{}.svg", panel.id, ++number));
                write_file(files.back(), picture->svg.file(style));
            }
    }
    return files;
}

void write_tables(std::span<const Study> studies, const std::filesystem::path& folder)
{
    make_folder(folder);
    for (const Panel& panel : panels())
        for (const PanelTable& table : panel.tables) {
            if (table.name.empty()) continue;
            write_table(folder, table.name, over_all(studies, table));
        }
    write_table(folder, "winners", winners_table(studies));
}

}  // namespace roof::analysis
