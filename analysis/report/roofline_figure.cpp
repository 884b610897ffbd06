// Rooflines as figures: the roofs of a device, and its training steps under them.
#include "analysis/report/figure.hpp"

#include "analysis/study/ceilings/ceiling_tables.hpp"
#include "analysis/study/compared/compare.hpp"
#include "analysis/study/steps/verdict.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/ranges.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

namespace roof::analysis {
namespace {

/// Room beside the ridge points, before whole decades: below for elementwise work, above for convolutions.
constexpr double below_ridge = 3, above_ridge = 15;

/// Decades beyond the frame that have ticks: a reader zooms out so far.
constexpr double reach = 1e4;

/// "DRAM, update: 58.0 GB/s": the figures of a data sheet have no operation.
std::string label_of(const Ceiling& roof)
{
    return fmt::format("{}{}{}: {}", level_or_precision(roof), roof.operation.empty() ? "" : ", ", roof.operation,
                       rate_text(roof));
}

std::string sentence(const Ceiling& roof, double spec)
{
    if (roof.rate.n == 0) return label_of(roof) + ", spec";
    const std::string_view how = name(roof.known);
    const std::string known = roof.devices > 1 ? roof.variant
                                               : fmt::format("{} {} {}", how, roof.device == "cpu" ? "with" : "on",
                                                             processors_text(roof.device, roof.threads));
    std::string text = fmt::format("{} roof, {}: {}, {}, {}{}{}", level_or_precision(roof), known,
                                   roof.steadiness == Steadiness::at_least ? rate_text(roof) + ", a lower bound"
                                                                           : with_interval(roof.rate, roof.unit()),
                                   how_many(static_cast<std::size_t>(roof.rate.n), "sample"), roof.operation,
                                   roof.isa.empty() ? "" : " on ", roof.isa);
    if (spec > 0)
        text += fmt::format("; {} of the {} that a guide specifies at that clock",
                            percent(roof.rate.median.value / spec), format_si(spec, roof.unit()));
    return text;
}

RoofLine line_of(const Ceiling& roof, const Machine* machine, bool extra)
{
    const std::optional<double> share = machine == nullptr ? std::nullopt : share_of_spec(roof, *machine);
    const double spec = share && *share > 0 ? roof.rate.median.value / *share : 0;
    const bool slanted = roof.kind == Role::bandwidth;
    return {slanted ? roof.level : roof.precision + " " + roof.operation,
            label_of(roof),
            sentence(roof, spec),
            slanted,
            roof.rate,
            spec,
            roof.rate.n == 0,
            extra};
}

Axis roofline_axis(const std::string& label, const Extent& frame, const std::function<std::string(double)>& text)
{
    return {label, frame, decade_ticks(frame.low / reach, frame.high * reach, text), false};
}

Mark mark_of(const Placement& p, Seconds step)
{
    Mark mark{.of = &p};
    mark.y = p.rate;
    if (!p.levels.empty() && p.flops.value > 0) {
        const LevelPlacement& farthest = p.levels.back();
        mark.x = {farthest.intensity_high.value, farthest.intensity_low.value, farthest.intensity_high.value};
    }
    if (p.scope == Scope::step) {
        mark.whisker = true;
        mark.look = "step s0";
        mark.radius = 6;
        mark.rank = 0;
        return mark;
    }
    const bool above = !p.levels.empty() && is_above(p.levels.back(), p.rate.median);
    mark.shape = shape_of(p);
    mark.look = p.phase_name() + (p.scope == Scope::phase ? " outline s0" : above ? " hollow s0" : " dot s0");
    mark.radius = radius_of(p, step);
    return mark;
}

}  // namespace

std::optional<Frame> frame_of(const Ceilings& ceilings)
{
    Extent bandwidth;
    Extent compute;
    for (const std::string& device : devices_of(ceilings)) {
        const Roofs roofs = roofs_of(ceilings, device);
        for (const Ceiling* roof : roofs.levels) bandwidth.add(roof->rate.median.value);
        for (const Ceiling* roof : roofs.compute) compute.add(roof->rate.median.value);
        for (const Ceiling* roof : roofs.mixes) compute.add(roof->rate.median.value);
    }
    if (bandwidth.empty() || compute.empty()) return std::nullopt;
    const Extent intensity{power_below(10, compute.low / bandwidth.high / below_ridge),
                           power_above(10, compute.high / bandwidth.low * above_ridge)};
    const double lowest = std::min(compute.low, 10 * bandwidth.low * intensity.low);
    return Frame{intensity, {power_below(10, lowest), power_above(10, compute.high * 1.25)}};
}

Figure roofs_figure(const std::string& title, const Roofs& roofs, const Frame& frame, const Machine* machine)
{
    Figure figure{.title = title};
    figure.x = roofline_axis("arithmetic intensity (FLOP/B), at the least bytes of " +
                                 (roofs.levels.empty() ? "memory" : roofs.levels.back()->level),
                             frame.intensity, [](double v) { return fmt::format("{:g}", v); });
    figure.y = roofline_axis("rate (FLOP/s)", frame.rate, [](double v) { return tick_text(v, "FLOP/s"); });
    for (const auto& group : {roofs.levels, roofs.compute})
        for (const Ceiling* roof : group) figure.roofs.push_back(line_of(*roof, machine, false));
    for (const Ceiling* roof : roofs.mixes) figure.roofs.push_back(line_of(*roof, machine, true));
    return figure;
}

std::string machine_line(const Study& study, const std::string& device, int threads)
{
    return fmt::format("{}, {}; roofs {} {}", owner_of(study.results.machine, device), device_text(device, threads),
                       name(study.ceilings.known()), calibration_date(study));
}

void add_other_roofs(Figure& figure, const Study& study, const Roofs& roofs)
{
    constexpr double shown = 1.03;
    const Roofs others = roofs_of(roofs.lasting() ? study.ceilings : study.lasting, roofs.device, roofs.threads);
    for (const auto group : {&Roofs::levels, &Roofs::compute})
        for (const Ceiling* const other : others.*group) {
            const std::string& name = level_or_precision(*other);
            const Ceiling* const own = other->kind == Role::bandwidth ? roofs.level(name) : roofs.precision(name);
            if (own == nullptr || own->lasting == other->lasting) continue;
            const double ratio = own->rate.median / other->rate.median;
            if (std::max(ratio, 1 / ratio) < shown) continue;
            RoofLine line = line_of(*other, nullptr, true);
            line.label += other->lasting ? ", lasting" : ", burst";
            if (!line.slanted) line.name += other->lasting ? ", lasting" : ", burst";
            figure.roofs.push_back(std::move(line));
        }
}

std::optional<RoofLine> own_roof(const Placement& step, const Roofs& roofs)
{
    if (step.levels.empty() || step.levels.back().access.empty()) return std::nullopt;
    const LevelPlacement& farthest = step.levels.back();
    const std::string accesses = accesses_text(farthest);
    if (accesses == roofs.levels.back()->operation) return std::nullopt;
    const std::string label =
        fmt::format("{} of this step, {}: {}", farthest.level, accesses, format_si(farthest.roof.value, "B/s"));
    const double rate = farthest.roof.value;
    return RoofLine{.name = farthest.level,
                    .label = label,
                    .title = label + ", for its own reads and writes: from the loops that were measured.",
                    .slanted = true,
                    .rate = {rate, rate, rate},
                    .extra = true};
}

void add_placements(Figure& figure, std::span<const Placement* const> placements, bool each_level)
{
    std::map<std::string, Seconds> step;  // by row
    std::map<std::string, std::vector<std::pair<long long, std::size_t>>> series;
    for (const Placement* p : placements)
        if (p->scope == Scope::step) step[p->row] = p->seconds.median;
    const std::map<const Placement*, int> numbers = numbers_of(placements);
    for (const Placement* const placement : placements) {
        const Placement& p = *placement;
        Mark mark = mark_of(p, step.contains(p.row) ? step[p.row] : p.seconds.median);
        if (const auto number = numbers.find(&p); number != numbers.end()) {
            mark.rank = number->second;
            mark.name = short_name(p);
        }
        if (p.scope == Scope::step && mark.x.median > 0)
            series[id_without(p.row, "batch")].emplace_back(p.batch, figure.marks.size());
        figure.marks.push_back(mark);
        for (std::size_t level = 0; each_level && level < p.moved.size() && p.flops.value > 0; ++level) {
            const LevelBytes& bytes = p.moved[level];
            if (!(bytes.low.value > 0)) continue;
            const double high = (p.flops / bytes.low).value;
            Mark at = mark;
            at.level = p.levels[level].level;
            at.x = {high, (p.flops / bytes.high).value, high};
            figure.marks.push_back(std::move(at));
        }
    }
    for (auto& [name, steps] : series) {
        std::ranges::stable_sort(steps, {}, &std::pair<long long, std::size_t>::first);
        Curve curve{"trajectory s0", {}};
        for (const auto& [batch, mark] : steps) curve.marks.push_back(mark);
        figure.curves.push_back(std::move(curve));
    }
}

std::map<const Placement*, int> numbers_of(std::span<const Placement* const> placements)
{
    std::map<std::string, std::vector<const Placement*>> layers;  // by row
    for (const Placement* p : placements)
        if (p->scope == Scope::layer) layers[p->row].push_back(p);
    std::map<const Placement*, int> numbers;
    for (auto& [row, list] : layers) {
        std::ranges::sort(list, {}, [](const Placement* p) { return std::pair(-p->headroom().value, p); });
        for (std::size_t i = 0; i < list.size(); ++i) numbers[list[i]] = static_cast<int>(i) + 1;
    }
    return numbers;
}

std::vector<std::string> cells_of(const Placement& p, Seconds step)
{
    const bool has_roofs = p.attainable.value > 0, has_flops = p.flops.value > 0;
    return {format_duration(p.seconds.median.value),
            percent(p.seconds.median / step),
            has_flops ? format_si(p.rate.median.value, "FLOP/s") : "no FLOPs",
            has_flops && !p.levels.empty() ? plain_number(p.levels.back().intensity_high.value, 2) : "-",
            has_roofs ? bottleneck_text(p) : "no roof",
            has_roofs ? share_text(p) : "-",
            has_roofs ? format_duration(p.headroom().value) : "-"};
}

std::size_t number_of_model(std::span<const Study> studies, const Measurement& row)
{
    std::vector<std::string> models;
    for (const Study& study : studies)
        for (const Measurement* one : measured_steps(study.results.rows)) add_once(models, model_of(*one));
    return static_cast<std::size_t>(std::ranges::find(models, model_of(row)) - models.begin());
}

void add_baseline(Figure& figure, const Study& study)
{
    for (Mark& mark : figure.marks) {
        const Placement* const then = mark.of && mark.level.empty() ? before(study, *mark.of) : nullptr;
        if (then == nullptr) continue;
        const Mark old = mark_of(*then, then->seconds.median);
        if (old.x.median > 0 && old.y.median > 0) mark.before = {old.x, old.y};
    }
}

Shape shape_of(const Placement& p)
{
    if (p.phase == Phase::backward) return Shape::square;
    return p.phase == Phase::update ? Shape::triangle : Shape::circle;
}

double radius_of(const Placement& p, Seconds step)
{
    constexpr double radius_of_whole_step = 26;
    const double share = step.value > 0 ? std::clamp(p.seconds.median / step, 0.0, 1.0) : 0;
    return std::max(2.5, radius_of_whole_step * std::sqrt(share));
}

std::string short_name(const Placement& p)
{
    constexpr std::size_t longest = 32;
    std::string first = split(p.name, '+').front();
    if (first.size() > longest)
        if (const std::size_t at = first.find('.', first.size() - longest); at != std::string::npos)
            first.replace(0, at + 1, "\u2026");
    if (!p.phase) return first;
    return first + (*p.phase == Phase::forward ? " fwd" : *p.phase == Phase::backward ? " bwd" : " update");
}

}  // namespace roof::analysis
