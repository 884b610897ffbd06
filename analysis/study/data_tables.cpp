#include "analysis/study/data_tables.hpp"

#include "ert/base/error.hpp"
#include "ert/method/bench/files.hpp"

#include <array>

namespace roof::analysis {

namespace {

std::string name_of(const Study& study)
{
    return study.results.folder.filename().string();
}

DataTable over_all(const std::vector<Study>& studies, const PanelTable& panel)
{
    DataTable all;
    for (const Study& study : studies) {
        DataTable one = panel.make(study);
        all.columns = std::move(one.columns);
        for (std::vector<Value>& row : one.rows) {
            row.insert(row.begin(), text(name_of(study)));
            all.rows.push_back(std::move(row));
        }
    }
    all.columns.insert(all.columns.begin(), "study");
    return all;
}

}  // namespace

std::span<const PanelTable> panel_tables()
{
    static constexpr std::array<PanelTable, 25> table{{
        {"verdict", "verdict", "", verdict_table_of},
        {"expectations", "hypotheses", "", hypotheses_table},
        {"expectations", "predictions", "", predictions_table},
        {"roofline", "placements", "", placements_table},
        {"time", "time", "", time_table},
        {"headroom", "headroom", "", headroom_table},
        {"breakdown", "breakdown", "", breakdown_table},
        {"kernels", "kernels", "", kernels_table},
        {"counted", "counted", "", counted_table_of},
        {"counted", "counted_phases", "", phase_counts_table_of},
        {"time_breakdown", "time_breakdown", "", time_breakdown_table_of},
        {"calls", "calls", "", calls_table_of},
        {"copies", "copies", "", copies_table_of},
        {"memory", "memory", "", memory_table_of},
        {"memory", "memory_over_time", "", memory_over_time_table},
        {"scaling", "scaling", "", scaling_table_of},
        {"trajectory", "trajectories", "", trajectories_table},
        {"whatif", "what_if", "", what_if_table},
        {"ceilings", "ceilings", "", ceilings_table_of},
        {"ceilings", "data_sheets", "", sheet_table_of},
        {"ceilings", "levels", "", levels_table},
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
