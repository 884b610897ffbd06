// What was said before anything was measured, and what became of it: the plan's hypotheses, and the predicted times.
#include "analysis/html.hpp"
#include "analysis/panels/panels.hpp"
#include "analysis/words.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <cmath>

namespace roof::analysis {
namespace {

std::string answers_table(const std::vector<Answered>& answers)
{
    std::vector<std::vector<Cell>> rows;
    for (const Answered& one : answers)
        rows.push_back({Cell::text(one.hypothesis), Cell::text(name(one.answer)), Cell::text(one.numbers)});
    return html_table({"expected", "answer", "numbers"}, rows);
}

Cell error_cell(const PredictionError& error)
{
    if (error.measured.value <= 0) return Cell::value("-");
    return Cell::value(fmt::format("{}{}", error.error < 0 ? "-" : "+", percent(std::abs(error.error))));
}

std::string predictions_table(const PredictionErrors& errors)
{
    std::vector<std::vector<Cell>> rows;
    for (const PredictionError& e : errors.rows) {
        const bool ok = e.measured.value > 0;
        rows.push_back(
            {Cell::text(e.prediction.row), Cell::value(format_duration(e.prediction.predicted.value)),
             Cell::value(ok ? format_duration(e.measured.value) : std::string(name(e.status))), error_cell(e),
             Cell::text(std::string(e.prediction.fits ? "fits" : "out of memory") + (e.right ? "" : ", wrongly"))});
    }
    return html_table({"row", "predicted (analytic)", "measured", "error", "memory"}, rows);
}

}  // namespace

std::string expectations_panel(const Study& study, const std::string&)
{
    std::string html;
    if (!study.answers.empty()) html += answers_table(study.answers);
    if (study.predictions.rows.empty()) return html;
    html += predictions_table(study.predictions);
    return html +
           paragraph(fmt::format("Error of the predicted time: {} in the middle, {} at worst. Fingerprint of the "
                                 "predictions, printed before the first row was measured: {}.",
                                 percent(study.predictions.median), percent(study.predictions.worst),
                                 study.predictions_fingerprint));
}

}  // namespace roof::analysis
