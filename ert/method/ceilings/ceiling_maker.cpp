#include "ert/method/ceilings/ceiling_points.hpp"

#include "ert/base/text.hpp"
#include "ert/method/bench/level.hpp"

namespace roof {
namespace {

bool scales_with_clock(std::string_view level)
{
    const LevelKind kind = level_traits(level).kind;
    return kind == LevelKind::core || kind == LevelKind::cache;
}

/// Sets rate, steadiness, clock and the rate per clock and thread.
void set_rate(const PointSummary& point, const RunClock& run, Ceiling& ceiling)
{
    const bool is_of_cpu = !point.best.device.starts_with("gpu:");
    const bool scales = is_of_cpu && scales_with_clock(ceiling.level);
    ceiling.clock = scales ? run.under(point) : point.best.clock;
    const bool divides = scales && run.varies(point.best.device);
    const Estimate<Hertz> divisor = divides ? ceiling.clock : Estimate<Hertz>{};
    const SustainedRate sustained =
        point.samples.empty() ? point.sustained : sustained_rate(point.samples, tolerance_of(ceiling.level), divisor);
    ceiling.rate = sustained.rate;
    ceiling.steadiness = sustained.steadiness;
    ceiling.rounds = sustained.rounds;
    ceiling.per_clock = sustained.per_clock;
    const double clock = ceiling.clock.median.value;
    if (ceiling.per_clock.n == 0 && clock > 0)
        ceiling.per_clock = {{ceiling.rate.median.value / clock},
                             {ceiling.rate.low.value / clock},
                             {ceiling.rate.high.value / clock},
                             ceiling.rate.n,
                             0};
    for (auto* const end : {&ceiling.per_clock.median, &ceiling.per_clock.low, &ceiling.per_clock.high})
        end->value /= ceiling.threads;
}

}  // namespace

std::string text_or(const Point& point, std::string_view axis, std::string_view otherwise)
{
    return std::string(point.has(axis) ? std::string_view(point.text(axis)) : otherwise);
}

int threads_of(const Point& point)
{
    return point.has("threads") ? static_cast<int>(point.integer("threads")) : 1;
}

std::string condition_of(const Point& point)
{
    std::vector<std::string> conditions;
    if (text_or(point, "placement", "cores") != "cores") conditions.push_back(point.text("placement"));
    if (text_or(point, "pages", "huge") != "huge") conditions.push_back(point.text("pages") + " pages");
    if (point.has("path")) conditions.push_back(point.text("path"));
    if (point.has("cpu_node") && point.has("memory_node"))
        conditions.push_back("node " + point.text("cpu_node") + " from node " + point.text("memory_node"));
    return join(conditions, ", ");
}

Ceiling make_ceiling(const PointSummary& point, const std::string& level, const RunClock& clock)
{
    const Measurement& row = point.best;
    Ceiling ceiling;
    ceiling.device = row.device;
    ceiling.kind = row.role;
    ceiling.level = level;
    ceiling.operation = text_or(row.point, "operation", row.bench);
    ceiling.precision = text_or(row.point, "precision", "");
    ceiling.isa = text_or(row.point, "isa", "");
    ceiling.condition = condition_of(row.point);
    ceiling.threads = threads_of(row.point);
    ceiling.packs_cores = text_or(row.point, "placement", "cores") == "siblings";
    ceiling.variant = row.variant;
    ceiling.typical = point.typical;
    ceiling.point = row.id();
    if (row.point.has("working_set")) ceiling.working_set = Bytes{row.point.number("working_set")};
    set_rate(point, clock, ceiling);
    return ceiling;
}

}  // namespace roof
