// The report as one page, and the panels as files: pictures in the light theme, tables as CSV and JSON.
#include "analysis/report/report.hpp"

#include "analysis/roofline/roofs.hpp"
#include "analysis/study/steps/verdict.hpp"
#include "analysis/study/tables.hpp"
#include "analysis/table/html.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/files.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <utility>

namespace roof::analysis {
namespace {

std::string name_of(const Study& study)
{
    const std::vector<std::string> devices = devices_of(study.ceilings);
    const std::string machine = owner_of(study.results.machine, devices.size() == 1 ? devices.front() : "cpu");
    const std::string folder = study.results.folder.filename().string();
    return machine.empty() ? folder : machine + " / " + folder;
}

std::string contents(const std::vector<std::pair<std::string_view, std::string_view>>& shown)
{
    std::string html = "<nav aria-label=\"Sections\"><details open><summary>Sections</summary>";
    for (const auto& [id, heading] : shown) html += fmt::format("<a href=\"#{}\">{}</a>", id, escape(heading));
    return html + "</details></nav>\n";
}

/// What a pointer shows is left to the script, which draws these pictures anew.
std::string without_titles(std::string html)
{
    constexpr std::string_view end = "</title>";
    for (std::size_t at = html.find("<title>"); at != std::string::npos; at = html.find("<title>", at))
        html.erase(at, html.find(end, at) + end.size() - at);
    return html;
}

/// The panel over all studies, whose batches share a picture; empty if no study has content.
std::string section(const Panel& panel, const std::vector<Study>& studies)
{
    const bool is_joint = panel.id == "trajectory" && studies.size() > 1;
    std::string body = is_joint ? html_of(trajectories(studies, "trajectory")) : "";
    for (std::size_t i = 0; i < studies.size(); ++i) {
        std::string part = html_of(content_of(panel, studies[i], fmt::format("{}-{}", panel.id, i)));
        if (part.empty()) continue;
        if (is_joint) part.clear();
        if (panel.id == "roofline" || panel.id == "time") part = without_titles(std::move(part));
        if (studies.size() > 1) body += fmt::format("<h3>{}</h3>\n", escape(name_of(studies[i])));
        body += part;
        if (panel.has_numbers) body += numbers_of(panel, studies[i]);
    }
    return html_section(panel.id, panel.heading, panel.sentence, body);
}

/// The one section that is over all studies together; empty if every step ran on one device.
std::string winners(const std::vector<Study>& studies)
{
    return html_section("winners", "Devices side by side",
                        "The fastest at each batch comes first. Slower: the interval of the ratio excludes 1.",
                        html_table(winners_table(studies)));
}

std::string head(const std::vector<Study>& studies)
{
    const bool has_steps =
        std::ranges::any_of(studies, [](const Study& study) { return !step_rows(study.results.rows).empty(); });
    std::string html =
        fmt::format("<header><h1>{}</h1>\n", has_steps ? "Training steps under measured roofs" : "Measured roofs");
    std::set<std::string> told;
    for (const Study& study : studies) {
        html += paragraph(name_of(study), "subject");
        for (const auto& [text, look] : {std::pair{study.left_out, "warning"},
                                         {calibration_warning(study), "warning"},
                                         {calibration_line(study), "legend"}})
            if (!text.empty() && told.insert(text).second) html += paragraph(text, look);
    }
    return html + "</header>\n";
}

std::string scripts(const std::vector<Study>& studies)
{
    return fmt::format("<script type=\"application/json\" id=\"roof-data\">{}</script>\n<script>{}</script>\n",
                       script_text(page_json(studies)), page_script());
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

void write_table(const std::filesystem::path& folder, std::string_view name, const DataTable& table)
{
    if (table.rows.empty()) return;
    write_file(folder / (std::string(name) + ".csv"), to_csv(table));
    write_file(folder / (std::string(name) + ".json"), json_document(to_json(table), 1) + "\n");
}

}  // namespace

std::string report_html(const std::vector<Study>& studies)
{
    std::string body;
    std::vector<std::pair<std::string_view, std::string_view>> shown;
    const auto add = [&](std::string_view id, std::string_view heading, const std::string& part) {
        if (part.empty()) return;
        shown.emplace_back(id, heading);
        body += part;
    };
    for (const Panel& panel : panels()) {
        add(panel.id, panel.heading, section(panel, studies));
        if (panel.id == "verdict") add("winners", "Devices side by side", winners(studies));
    }
    // Nothing is fetched, and only the script with this hash runs.
    const std::string policy = fmt::format("; img-src data: blob:; script-src 'sha256-{}'", page_script_hash());
    return html_document("roof report", head(studies), body, contents(shown) + scripts(studies), policy);
}

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
