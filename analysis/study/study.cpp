#include "analysis/study/study.hpp"

#include "analysis/roofline/group_roofs.hpp"
#include "ert/base/files.hpp"

namespace roof::analysis {

namespace {

void read_predictions(Study& study)
{
    const std::filesystem::path file = study.results.folder / predictions_file;
    if (!std::filesystem::exists(file)) return;
    const std::string text = read_file(file);
    study.predictions = errors_of(parse_predictions(text, file.string()), study.results.rows);
    study.predictions_fingerprint = fingerprint(text);
}

}  // namespace

Study make_study(Results results, Results calibration)
{
    Study study;
    study.results = std::move(results);
    study.calibration = std::move(calibration);
    study.ceilings = with_groups(fit_ceilings(study.calibration.rows, study.calibration.machine), study.results.rows);
    for (const Measurement& row : study.results.rows)
        for (Placement& placement : place(row, study.ceilings, study.calibration.machine))
            study.placements.push_back(std::move(placement));
    read_predictions(study);
    return study;
}

Study open_study(const std::filesystem::path& folder, const std::filesystem::path& calibration)
{
    Results results = read_results(folder);
    if (!calibration.empty()) return make_study(std::move(results), read_results(calibration));
    const std::filesystem::path found = find_calibration(folder);
    if (found.empty()) return make_study(std::move(results), {});
    if (std::filesystem::equivalent(found, folder)) return make_study(results, results);
    return make_study(std::move(results), read_results(found));
}

std::string calibration_warning(const Study& study)
{
    if (study.ceilings.all.empty())
        return "No ceilings: no calibration of this machine was found, so nothing can be placed on a roofline. "
               "`roof calibrate` measures them.";
    const std::string& here = study.results.machine.name;
    const std::string& there = study.calibration.machine.name;
    if (here == there) return {};
    return "The ceilings are those of another machine, '" + there + "'; the rows are of '" + here + "'.";
}

}  // namespace roof::analysis
