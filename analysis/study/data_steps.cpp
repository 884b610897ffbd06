// Training steps: the verdict, the batch trajectories, what their time is spent on, where time is to be won, and what if.
#include "analysis/study/breakdown.hpp"
#include "analysis/study/data_tables.hpp"
#include "analysis/study/verdict.hpp"
#include "analysis/study/whatif.hpp"
#include "analysis/table/rows.hpp"

namespace roof::analysis {

namespace {

/// A training step and its placement, null if it was not measured.
struct Step {
    const Measurement& row;
    const Placement* p;
    TimeShares shares;

    bool is_placed() const { return p != nullptr && !p->binds.empty(); }
};

std::vector<Step> steps_of(const Study& study)
{
    std::vector<Step> steps;
    for (const Measurement* row : step_rows(study.results.rows))
        steps.push_back({*row, step_placement(study.placements, *row), time_shares(study.placements, *row)});
    return steps;
}

const std::vector<DataColumn<Step>>& verdict_columns()
{
    static const std::vector<DataColumn<Step>> columns{
        {"row", [](const Step& s) { return text(s.row.id()); }},
        {"model", [](const Step& s) { return text(model_of(s.row)); }},
        {"batch_images", [](const Step& s) { return Value(batch_of(s.row)); }},
        {"precision", [](const Step& s) { return text(precision_of(s.row)); }},
        {"device", [](const Step& s) { return text(s.row.device); }},
        {"data", [](const Step& s) { return text(data_of(s.row)); }},
        {"status", [](const Step& s) { return text(name(s.row.status)); }},
        {"reason", [](const Step& s) { return text(s.row.reason); }},
        {"time_median_s", [](const Step& s) { return s.p ? number(s.p->seconds.median.value) : Value(); }},
        {"time_low_s", [](const Step& s) { return s.p ? number(s.p->seconds.low.value) : Value(); }},
        {"time_high_s", [](const Step& s) { return s.p ? number(s.p->seconds.high.value) : Value(); }},
        {"images_per_s",
         [](const Step& s) { return number_if(s.p && batch_of(s.row) > 0, s.row.images_per_second()); }},
        {"rate_median_flop_per_s", [](const Step& s) { return s.p ? number(s.p->rate.median.value) : Value(); }},
        {"compute_roof_flop_per_s",
         [](const Step& s) { return s.p ? number_if(s.p->compute_roof.value > 0, s.p->compute_roof.value) : Value(); }},
        {"binds", [](const Step& s) { return s.is_placed() ? text(s.p->binds) : Value(); }},
        {"attainable_s", [](const Step& s) { return s.is_placed() ? number(s.p->attainable.value) : Value(); }},
        {"fraction_reached", [](const Step& s) { return s.is_placed() ? number(s.p->fraction) : Value(); }},
        {"headroom_s", [](const Step& s) { return s.is_placed() ? number(s.p->headroom.value) : Value(); }},
        {"share_compute_bound", [](const Step& s) { return number_if(s.is_placed(), s.shares.compute); }},
        {"share_bandwidth_bound", [](const Step& s) { return number_if(s.is_placed(), s.shares.bandwidth); }},
        {"share_far_below", [](const Step& s) { return number_if(s.is_placed(), s.shares.unexplained); }},
        {"share_outside_layers", [](const Step& s) { return number_if(s.is_placed(), s.shares.rest); }},
    };
    return columns;
}

const std::vector<DataColumn<Step>>& trajectory_columns()
{
    static const std::vector<DataColumn<Step>> columns{
        {"model", [](const Step& s) { return text(s.p->model); }},
        {"device", [](const Step& s) { return text(s.p->device); }},
        {"precision", [](const Step& s) { return text(s.p->precision); }},
        {"threads", [](const Step& s) { return Value(s.p->threads); }},
        {"data", [](const Step& s) { return text(s.p->data); }},
        {"batch_images", [](const Step& s) { return Value(s.p->batch); }},
        {"images_per_s_median",
         [](const Step& s) { return number(static_cast<double>(s.p->batch) / s.p->seconds.median.value); }},
        {"images_per_s_low",
         [](const Step& s) { return number(static_cast<double>(s.p->batch) / s.p->seconds.high.value); }},
        {"images_per_s_high",
         [](const Step& s) { return number(static_cast<double>(s.p->batch) / s.p->seconds.low.value); }},
        {"share_of_compute_roof",
         [](const Step& s) {
             return number_if(s.p->compute_roof.value > 0, s.p->rate.median.value / s.p->compute_roof.value);
         }},
    };
    return columns;
}

/// A placed layer and its rank among its row's.
struct Won {
    const Measurement& row;
    const Placement& p;
    int rank;
};

const std::vector<DataColumn<Won>>& headroom_columns()
{
    static const std::vector<DataColumn<Won>> columns{
        {"row", [](const Won& w) { return text(w.p.row); }},
        {"rank", [](const Won& w) { return Value(w.rank); }},
        {"layer", [](const Won& w) { return text(w.p.name); }},
        {"kind", [](const Won& w) { return text(w.p.kind); }},
        {"phase", [](const Won& w) { return w.p.phase ? text(roof::name(*w.p.phase)) : Value(); }},
        {"time_median_s", [](const Won& w) { return number(w.p.seconds.median.value); }},
        {"share_of_step", [](const Won& w) { return number(w.p.seconds.median / w.row.seconds.median); }},
        {"rate_median_flop_per_s", [](const Won& w) { return number(w.p.rate.median.value); }},
        {"intensity_low_flop_per_byte", [](const Won& w) { return number(w.p.levels.back().intensity_low.value); }},
        {"intensity_high_flop_per_byte", [](const Won& w) { return number(w.p.levels.back().intensity_high.value); }},
        {"binds", [](const Won& w) { return text(w.p.binds); }},
        {"fraction_reached", [](const Won& w) { return number(w.p.fraction); }},
        {"headroom_s", [](const Won& w) { return number(w.p.headroom.value); }},
        {"implementation", [](const Won& w) { return text(w.p.implementation); }},
    };
    return columns;
}

struct Share {
    const Measurement& row;
    const char* of;  ///< what the segment is one of
    Segment segment;
};

const std::vector<DataColumn<Share>>& breakdown_columns()
{
    static const std::vector<DataColumn<Share>> columns{
        {"row", [](const Share& s) { return text(s.row.id()); }},
        {"by", [](const Share& s) { return text(s.of); }},
        {"name", [](const Share& s) { return text(s.segment.name); }},
        {"time_s", [](const Share& s) { return number(s.segment.seconds); }},
        {"share_of_step", [](const Share& s) { return number(s.segment.seconds / s.row.seconds.median.value); }},
    };
    return columns;
}

struct IfDoubled {
    const char* change;
    Predicted predicted;

    bool is_known() const { return predicted.reason.empty(); }
};

const std::vector<DataColumn<IfDoubled>>& what_if_columns()
{
    static const std::vector<DataColumn<IfDoubled>> columns{
        {"row", [](const IfDoubled& i) { return text(i.predicted.row->id()); }},
        {"change", [](const IfDoubled& i) { return text(i.change); }},
        {"measured_s", [](const IfDoubled& i) { return number(i.predicted.row->seconds.median.value); }},
        {"predicted_s", [](const IfDoubled& i) { return number_if(i.is_known(), i.predicted.seconds.value); }},
        {"least_s", [](const IfDoubled& i) { return number_if(i.is_known(), i.predicted.least.value); }},
        {"reason", [](const IfDoubled& i) { return text(i.predicted.reason); }},
        {"known", [](const IfDoubled&) { return text(name(Known::analytic)); }},
    };
    return columns;
}

}  // namespace

DataTable verdict_table_of(const Study& study)
{
    return table_of(verdict_columns(), steps_of(study));
}

DataTable trajectories_table(const Study& study)
{
    std::vector<Step> steps;
    for (const Step& step : steps_of(study))
        if (step.p != nullptr && step.p->batch > 0) steps.push_back(step);
    return table_of(trajectory_columns(), steps);
}

DataTable headroom_table(const Study& study)
{
    std::vector<Won> layers;
    for (const Measurement* row : step_rows(study.results.rows)) {
        int rank = 0;
        for (const Placement* p : most_headroom(study.placements, *row, static_cast<int>(row->parts.size())))
            if (!p->levels.empty()) layers.push_back({*row, *p, ++rank});
    }
    return table_of(headroom_columns(), layers);
}

DataTable breakdown_table(const Study& study)
{
    std::vector<Share> shares;
    for (const Measurement* row : step_rows(study.results.rows)) {
        if (row->status != Status::ok) continue;
        for (Segment& segment : phases_of(*row)) shares.push_back({*row, "phase", std::move(segment)});
        for (Segment& segment : kinds_of(*row)) shares.push_back({*row, "kind", std::move(segment)});
    }
    return table_of(breakdown_columns(), shares);
}

DataTable what_if_table(const Study& study)
{
    std::vector<IfDoubled> answers;
    if (!study.ceilings.all.empty()) {
        for (Predicted& f : what_if(study, all_doubled(study, Role::bandwidth)))
            answers.push_back({"all memory twice as fast", std::move(f)});
        for (Predicted& f : what_if(study, all_doubled(study, Role::compute)))
            answers.push_back({"arithmetic twice as fast", std::move(f)});
    }
    return table_of(what_if_columns(), answers);
}

}  // namespace roof::analysis
