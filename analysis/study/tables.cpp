#include "analysis/study/tables.hpp"

#include "ert/base/error.hpp"
#include "ert/base/files.hpp"

#include <nlohmann/json.hpp>

#include <array>

namespace roof::analysis {

namespace {

/// The table over all studies, with the study's name as its first column.
DataTable over_all(const std::vector<Study>& studies, const PanelTable& panel)
{
    DataTable all;
    for (const Study& study : studies) {
        DataTable one = panel.make(study);
        one.columns.insert(one.columns.begin(), TableColumn{"", "study"});
        for (DataTable::Row& row : one.rows)
            row.cells.insert(row.cells.begin(), word(study.results.folder.filename().string()));
        append(all, std::move(one));
    }
    return all;
}

}  // namespace

std::span<const PanelTable> panel_tables()
{
    static constexpr std::array<PanelTable, 25> table{{
        {"verdict", "verdict", "", verdict_table},
        {"expectations", "hypotheses", "", [](const Study& s) { return hypotheses_table(s.answers); }},
        {"expectations", "predictions", "", [](const Study& s) { return predictions_table(s.predictions); }},
        {"roofline", "placements", "", placements_table},
        {"time", "time", "", time_table},
        {"headroom", "headroom", "", headroom_table},
        {"breakdown", "breakdown", "", breakdown_table},
        {"kernels", "kernels", "", kernels_table},
        {"counted", "counted", "", counted_bytes_table},
        {"counted", "counted_phases", "", phase_amounts_table},
        {"time_breakdown", "time_breakdown", "", time_breakdown_table},
        {"calls", "calls", "", calls_table},
        {"copies", "copies", "", copies_table},
        {"memory", "memory", "", memory_table},
        {"memory", "memory_over_time", "", memory_over_time_table},
        {"scaling", "scaling", "", scaling_table},
        {"trajectory", "trajectories", "", trajectories_table},
        {"whatif", "what_if", "", what_if_table},
        {"ceilings", "ceilings", "", ceilings_table},
        {"ceilings", "data_sheets", "", sheet_table},
        {"ceilings", "levels", "", [](const Study& s) { return levels_table(s.ceilings); }},
        {"curve", "bandwidth", "", bandwidth_table},
        {"ert", "ert", "", ert_table},
        {"absent", "", "it holds sentences and no numbers", nullptr},
        {"provenance", "not_measured", "", not_measured_table},
    }};
    return table;
}

void write_tables(const std::vector<Study>& studies, const std::filesystem::path& folder)
{
    std::error_code failure;
    std::filesystem::create_directories(folder, failure);
    if (failure) throw InputError("cannot make folder '" + folder.string() + "': " + failure.message());
    for (const PanelTable& panel : panel_tables()) {
        if (panel.make == nullptr) continue;
        const DataTable table = over_all(studies, panel);
        write_file(folder / (std::string(panel.name) + ".csv"), to_csv(table));
        write_file(folder / (std::string(panel.name) + ".json"), to_json(table).dump(1) + "\n");
    }
}

}  // namespace roof::analysis
