// What was said before the measuring and what became of it, and what was not measured and why.
#include "analysis/study/data_tables.hpp"

namespace roof::analysis {

DataTable hypotheses_table(const Study& study)
{
    static const std::vector<DataColumn<Answered>> columns{
        {"hypothesis", [](const Answered& a) { return text(a.hypothesis); }},
        {"answer", [](const Answered& a) { return text(name(a.answer)); }},
        {"numbers", [](const Answered& a) { return text(a.numbers); }},
    };
    return table_of(columns, study.answers);
}

DataTable predictions_table(const Study& study)
{
    static const std::vector<DataColumn<PredictionError>> columns{
        {"row", [](const PredictionError& e) { return text(e.prediction.row); }},
        {"least_s", [](const PredictionError& e) { return number(e.prediction.least.value); }},
        {"predicted_s", [](const PredictionError& e) { return number(e.prediction.predicted.value); }},
        {"memory_bytes", [](const PredictionError& e) { return number(e.prediction.memory.value); }},
        {"predicted_to_fit", [](const PredictionError& e) { return Value(e.prediction.fits); }},
        {"status", [](const PredictionError& e) { return text(name(e.status)); }},
        {"measured_s", [](const PredictionError& e) { return number_if(e.status == Status::ok, e.measured.value); }},
        {"error_share", [](const PredictionError& e) { return number_if(e.status == Status::ok, e.error); }},
        {"right_about_fitting", [](const PredictionError& e) { return Value(e.right); }},
    };
    return table_of(columns, study.predictions.rows);
}

DataTable not_measured_table(const Study& study)
{
    static const std::vector<DataColumn<Measurement>> columns{
        {"row", [](const Measurement& m) { return text(m.id()); }},
        {"status", [](const Measurement& m) { return text(name(m.status)); }},
        {"reason", [](const Measurement& m) { return text(m.reason); }},
    };
    std::vector<Measurement> rows = study.results.rows;
    if (study.calibration.folder != study.results.folder)
        rows.insert(rows.end(), study.calibration.rows.begin(), study.calibration.rows.end());
    std::erase_if(rows, [](const Measurement& m) { return m.status == Status::ok; });
    return table_of(columns, rows);
}

}  // namespace roof::analysis
