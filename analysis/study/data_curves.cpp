// The sweeps: bandwidth over the working set, and the Empirical Roofline's rate over intensity and working set.
#include "analysis/study/data_tables.hpp"
#include "analysis/study/ert_curves.hpp"
#include "analysis/table/rows.hpp"
#include "ert/method/ceilings/point_summary.hpp"

namespace roof::analysis {

namespace {

Value axis(const PointSummary& s, const char* name)
{
    return s.best.point.has(name) ? text(s.best.point.text(name)) : Value();
}

bool is_of_sweep(const PointSummary& s)
{
    const Point& point = s.best.point;
    return s.best.role == Role::bandwidth && s.rounds > 0 && point.has("working_set") &&
           point.number("working_set") > 0;
}

const std::vector<DataColumn<PointSummary>>& bandwidth_columns()
{
    static const std::vector<DataColumn<PointSummary>> columns{
        {"device", [](const PointSummary& s) { return text(s.best.device); }},
        {"bench", [](const PointSummary& s) { return text(s.best.bench); }},
        {"operation", [](const PointSummary& s) { return axis(s, "operation"); }},
        {"isa", [](const PointSummary& s) { return axis(s, "isa"); }},
        {"threads", [](const PointSummary& s) { return Value(threads_of(s.best)); }},
        {"placement", [](const PointSummary& s) { return axis(s, "placement"); }},
        {"pages", [](const PointSummary& s) { return axis(s, "pages"); }},
        {"path", [](const PointSummary& s) { return axis(s, "path"); }},
        {"working_set_bytes", [](const PointSummary& s) { return number(s.best.point.number("working_set")); }},
        {"rate_median_byte_per_s", [](const PointSummary& s) { return number(s.rate.median.value); }},
        {"rate_low_byte_per_s", [](const PointSummary& s) { return number(s.rate.low.value); }},
        {"rate_high_byte_per_s", [](const PointSummary& s) { return number(s.rate.high.value); }},
        {"samples", [](const PointSummary& s) { return Value(s.rate.n); }},
        {"rounds", [](const PointSummary& s) { return Value(s.rounds); }},
        {"known", [](const PointSummary&) { return text(name(Known::measured)); }},
    };
    return columns;
}

/// A dot of a curve, under its roofs.
struct CurvePoint {
    CurveKey key;
    double bytes;
    Dot dot;
    std::string level;  ///< empty without ceilings
    double allowed;     ///< 0 without ceilings
};

const std::vector<DataColumn<CurvePoint>>& ert_columns()
{
    static const std::vector<DataColumn<CurvePoint>> columns{
        {"device", [](const CurvePoint& p) { return text(std::get<0>(p.key)); }},
        {"precision", [](const CurvePoint& p) { return text(std::get<1>(p.key)); }},
        {"threads", [](const CurvePoint& p) { return Value(std::get<2>(p.key)); }},
        {"working_set_bytes", [](const CurvePoint& p) { return number(p.bytes); }},
        {"intensity_flop_per_byte", [](const CurvePoint& p) { return number(p.dot.intensity); }},
        {"rate_median_flop_per_s", [](const CurvePoint& p) { return number(p.dot.rate.median.value); }},
        {"rate_low_flop_per_s", [](const CurvePoint& p) { return number(p.dot.rate.low.value); }},
        {"rate_high_flop_per_s", [](const CurvePoint& p) { return number(p.dot.rate.high.value); }},
        {"samples", [](const CurvePoint& p) { return Value(p.dot.rate.n); }},
        {"level", [](const CurvePoint& p) { return p.level.empty() ? Value() : text(p.level); }},
        {"roofs_allow_flop_per_s", [](const CurvePoint& p) { return number_if(p.allowed > 0, p.allowed); }},
        {"known", [](const CurvePoint&) { return text(name(Known::measured)); }},
    };
    return columns;
}

}  // namespace

DataTable bandwidth_table(const Study& study)
{
    std::vector<PointSummary> points = summarize_points(study.calibration.rows);
    std::erase_if(points, [](const PointSummary& s) { return !is_of_sweep(s); });
    return table_of(bandwidth_columns(), points);
}

DataTable ert_table(const Study& study)
{
    std::vector<CurvePoint> points;
    for (const auto& [key, curves] : curves_of(study)) {
        const Roofs roofs = roofs_over(study.ceilings, key);
        for (const auto& [bytes, dots] : curves) {
            const std::size_t level = level_of(bytes, roofs, study.ceilings);
            const std::string name = roofs.levels.empty() ? "" : roofs.levels[level]->level;
            for (const Dot& dot : dots) points.push_back({key, bytes, dot, name, allowed(roofs, level, dot.intensity)});
        }
    }
    return table_of(ert_columns(), points);
}

}  // namespace roof::analysis
