// The panels in the order of the page, and those that need no picture.
#include "analysis/report/report.hpp"
#include "analysis/study/ceilings/ceiling_tables.hpp"
#include "analysis/study/compared/compare.hpp"
#include "analysis/study/steps/answer.hpp"
#include "analysis/study/steps/verdict.hpp"
#include "analysis/study/tables.hpp"
#include "analysis/table/html.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/ranges.hpp"

#include <fmt/format.h>

namespace roof::analysis {
namespace {

std::string under_title(const DataTable& table)
{
    return table.empty() ? "" : subheading(table.title) + html_table(table);
}

Content verdict_panel(const Study& study, const std::string&)
{
    if (step_rows(study.results.rows).empty()) return {};
    const std::string above = above_text(study);
    std::vector<std::string> busy;
    for (const Measurement* row : step_rows(study.results.rows))
        if (const std::string text = busy_text(*row); !text.empty()) busy.push_back(row->id() + ": " + text);
    return {text_list("", summary({&study, 1})) + (above.empty() ? above : paragraph(above, "warning")) +
            html_table(verdict_table(study)) + text_list("Not measured", reasons_not_measured(study)) +
            text_list("Measured on a busy machine", busy) +
            "<p class=\"legend\"><i class=\"compute\"></i>compute roof <i class=\"bandwidth\"></i>bandwidth roof "
            "<i class=\"unexplained\"></i>below half of its roof "
            "<i class=\"rest\"></i>outside the layers</p>\n"};
}

Content baseline_panel(const Study& study, const std::string&)
{
    if (study.baseline == nullptr) return {};
    std::vector<std::string> answers;
    for (const Placement& now : study.placements) {
        const Placement* const then = now.scope == Scope::step ? before(study, now) : nullptr;
        if (then == nullptr) continue;
        const auto headline = [](const Study& s, const Placement& p) {
            const Measurement* const row = find_in(s.results.rows, p.row, &Measurement::id);
            return row ? answer_of(s, *row).headline : "";
        };
        const std::string old = headline(*study.baseline, *then), own = headline(study, now);
        answers.push_back(now.row + ": " + (old == own ? "still " + own : old + " \u2192 " + own));
    }
    return {paragraph("Baseline: " + study.baseline->results.folder.filename().string()) + text_list("", answers) +
            html_table(baseline_table(study))};
}

Content predictions_panel(const Study& study, const std::string&)
{
    if (study.predictions.rows.empty()) return {};
    return {html_table(predictions_table(study.predictions)) +
            paragraph(fmt::format("Error of the predicted time: {}. Fingerprint of the predictions, printed before the "
                                  "first row was measured: {}.",
                                  summary(study.predictions), study.predictions_fingerprint))};
}

Content headroom_panel(const Study& study, const std::string&)
{
    constexpr int layers_shown = 10;
    std::string html;
    for (const Measurement* row : largest_batches(study.results.rows))
        if (!study.without_layers.contains(row->id())) html += under_title(headroom_table(study, *row, layers_shown));
    return {html};
}

Content ceilings_panel(const Study& study, const std::string&)
{
    if (study.ceilings.all.empty()) return {};
    const Machine& machine = study.calibration.machine;
    std::string html;
    if (const std::string moved = moved_processors(study.ceilings); !moved.empty()) html += paragraph(moved, "warning");
    for (const DataTable& table : ceiling_tables(study.ceilings, machine)) html += under_title(table);
    html += paragraph(spec_footnote(study.ceilings, machine), "legend");
    if (const DataTable sheets = sheet_table(study); !sheets.empty())
        html += under_title(sheets) + paragraph(sheet_footnote(study), "legend");
    return {html};
}

}  // namespace

std::span<const Panel> panels()
{
    static constexpr std::array<Panel, 23> table{{
        {"roofline",
         "Roofline",
         "Roofs and their 95% bands are measured. A point is a layer, its area its time.",
         {{{"placements", placements_table}}},
         roofline_panel},
        {"verdict",
         "Verdict",
         "Each step beside the best rates of this machine. Headroom: the time that reaching the roof would save.",
         {{{"verdict", verdict_table}}},
         verdict_panel},
        {"baseline",
         "Since the baseline",
         "Steps and layers that both runs have, and the ceilings that moved. Intervals combine those of both sides.",
         {{{"baseline", baseline_table}}},
         baseline_panel},
        {"predictions",
         "Predictions",
         "The times that the ceilings predicted before the measurement.",
         {{{"predictions", [](const Study& s) { return predictions_table(s.predictions); }}}},
         predictions_panel},
        {"time",
         "Time under the roofs",
         "The seconds that each roof allows a layer alone. Above the diagonal compute binds, below it memory.",
         {{{"time", time_table}}},
         time_roofline_panel},
        {"traffic",
         "Memory traffic",
         "Bar: what a level's roof moves in the step's time. Dark: moved at least; light: at most.",
         {{{"traffic", traffic_table}}}},
        {"headroom",
         "Headroom",
         "The layers that would save the most time at their roofs.",
         {{{"headroom", headroom_table}}},
         headroom_panel},
        {"breakdown",
         "Breakdown of the step time",
         "Bars: blue forward, orange backward, green update.",
         {{{"breakdown", breakdown_table}}},
         breakdown_panel,
         true},
        {"kernels",
         "Kernels",
         "Kernels launched on a device, by category (measured). Unclassified kernels come first.",
         {{{"kernels", kernels_table}, {"", kernel_categories_table}}}},
        {"counted",
         "Kernels and functions, counted",
         "A ring is a memory level nearer to the core, the disc the farthest one counted; its area is the time.",
         {{{"counted", counted_kernels_table}, {"counted_phases", phase_counts_table}}},
         counted_panel,
         true},
        {"time_breakdown",
         "Time breakdown of each device",
         "The wall time of a recorded step (measured). Every instant counts once: as kernels if one runs, else as "
         "unclassified, collectives, copies or idle. Hidden: while a kernel ran.",
         {{{"time_breakdown", time_breakdown_table}}}},
        {"calls",
         "Calls of the host",
         "Time inside the runtime and the driver, by call (measured). In a wait the host waits for a device; that is "
         "not overhead of the call.",
         {{{"calls", calls_table}}}},
        {"copies",
         "Copies",
         "Bytes and time of copies and fills (measured), beside the best measured rate of the link.",
         {{{"copies", copies_table}}}},
        {"memory",
         "Memory over time",
         "Memory allocated and released during the recording (measured), without what was allocated before.",
         {{{"memory", memory_table}, {"memory_over_time", memory_over_time_table}}},
         memory_panel,
         true},
        {"trajectory",
         "Batch trajectories",
         "Nothing was measured between two batches. Bars: 95% intervals.",
         {{{"trajectories", trajectories_table}}},
         [](const Study& study, const std::string& key) {
             return trajectories({&study, 1}, key);
         },
         true},
        {"scaling",
         "Several ranks",
         "Beside one rank with its part of the machine. Efficiency: speedup over ranks. Exposed communication stops "
         "the step; hidden runs beside the backward pass. Bus bandwidth: what each link carries each way, as in a "
         "ring.",
         {{{"scaling", scaling_table}}}},
        {"whatif",
         "What-if",
         "Step times under other roofs and at another batch (analytic).",
         {{{"what_if", what_if_table}}}},
        {"energy",
         "What lasts, and joules",
         "Launches repeated for seconds. Energy roof: the joules that the work needs at least, at the most FLOPs and "
         "bytes per joule that probes reached.",
         {{{"energy", energy_table}, {"sustained", sustained_table}}}},
        {"ceilings",
         "Ceilings",
         "Every ceiling with its interval.",
         {{{"ceilings", ceilings_table},
           {"data_sheets", sheet_table},
           {"levels", [](const Study& s) { return levels_table(s.ceilings); }}}},
         ceilings_panel},
        {"curve",
         "Bandwidth over working set",
         "With the most threads. Solid: the measured end of a level; dashed: its reported capacity.",
         {{{"bandwidth", bandwidth_table}}},
         bandwidth_curve_panel,
         true},
        {"ert",
         "Empirical Roofline curves",
         "A loop of loads and multiply-adds under the separately measured roofs; a colour is a memory level. If the "
         "roofs are right, each knee is where they cross.",
         {{{"ert", ert_table}}},
         ert_curve_panel,
         true},
        {"absent", "Not measured here", "With the command that adds it.", {}, absent_panel},
        {"provenance",
         "Method and provenance",
         "The source of each number, what ran, and what did not.",
         {{{"not_measured", not_measured_table}}},
         provenance_panel},
    }};
    return table;
}

Content content_of(const Panel& panel, const Study& study, const std::string& key)
{
    if (panel.render != nullptr) return panel.render(study, key);
    Content content;
    for (const PanelTable& table : panel.tables)
        if (table.make != nullptr) content.emplace_back(html_table(table.make(study)));
    return content;
}

std::string numbers_of(const Panel& panel, const Study& study)
{
    std::string html;
    for (const PanelTable& table : panel.tables)
        if (table.make != nullptr) html += html_table(for_reading(table.make(study)));
    return html.empty() ? html : "<details class=\"numbers\"><summary>Table</summary>" + html + "</details>\n";
}

void add_picture(Content& content, const std::string& key, Figure figure, const std::string& whose,
                 const std::string& caption)
{
    if (!whose.empty()) figure.heading = {figure.title, whose};
    content.emplace_back(Picture{caption, draw(figure, fmt::format("{}-{}", key, content.size()))});
}

std::string html_of(const Content& content)
{
    std::string html;
    for (const auto& part : content) {
        const auto* const picture = std::get_if<Picture>(&part);
        html += picture == nullptr ? std::get<std::string>(part) : figure(picture->caption, picture->svg.str());
    }
    return html;
}

}  // namespace roof::analysis
