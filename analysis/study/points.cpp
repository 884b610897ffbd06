#include "analysis/study/points.hpp"

#include "analysis/roofline/roofs.hpp"
#include "analysis/table/quantities.hpp"
#include "ert/base/csv_lines.hpp"
#include "ert/base/error.hpp"
#include "ert/base/precision.hpp"
#include "ert/base/ranges.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/machine.hpp"
#include "ert/method/results/look_file.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>

namespace roof::analysis {
namespace {

using P = const Placement&;

/// The farthest level; null if the bytes are unknown.
const LevelPlacement* memory_of(P p)
{
    return p.levels.empty() ? nullptr : &p.levels.back();
}

/// The share of attainable; above the roof how many times it, "6,085 times": a slip in a number of one's own is told
/// from it.
std::string reached_text(P p)
{
    if (p.fraction() < shown_as_above) return share_text(p);
    std::string times = plain_number(p.fraction());
    for (std::size_t at = times.find('.') == std::string::npos ? times.size() : 0; at > 3; at -= 3)
        times.insert(at - 3, ",");
    return times + " times";
}

Cell if_placed(P p, Cell cell)
{
    return only_if(!p.binds.empty(), std::move(cell));
}

/// Under a roof that is a lower bound its consequences are bounds too.
Cell bound(P p, const char* sign, Cell cell)
{
    if (p.is_at_most()) cell.text = sign + cell.text;
    return cell;
}

/// `usual`: the device of points that name none.
Study under(const std::vector<GivenPoint>& points, Ceilings ceilings, Results calibration, const std::string& usual)
{
    Study study;
    study.ceilings = std::move(ceilings);
    const std::vector<std::string> devices = devices_of(study.ceilings);
    study.results.machine = calibration.machine;
    for (GivenPoint point : points) {
        if (point.device.empty()) point.device = usual;
        if (!is_in(point.device, devices)) throw InputError(unknown_word("device", point.device, devices));
        study.results.rows.push_back(row_of(point));
        for (Placement& placement : place(study.results.rows.back(), study.ceilings, calibration.machine))
            study.placements.push_back(std::move(placement));
    }
    study.calibration = std::move(calibration);
    return study;
}

}  // namespace

Measurement row_of(const GivenPoint& point)
{
    parse_precision(point.precision);
    Measurement row;
    row.bench = "point";
    row.device = point.device.empty() ? "cpu" : point.device;
    row.point.set("model", point.name);
    row.point.set("precision", point.precision);
    if (!point.threads.empty()) row.point.set("threads", point.threads);
    row.seconds = {.median = point.seconds, .low = point.seconds, .high = point.seconds, .n = 1};
    row.work = {.flops = point.flops, .compulsory = point.bytes, .no_reuse = point.bytes};
    return row;
}

double positive_number(const std::string& text, const std::string& where, std::string_view unit)
{
    auto value = parse_number<double>(text);
    if (!value) value = parse_si(text, unit);
    constexpr std::array<std::pair<std::string_view, double>, 3> parts{{{"ms", 1e3}, {"us", 1e6}, {"ns", 1e9}}};
    for (const auto& [name, in_a_second] : parts)
        if (unit == "s" && !value && text.ends_with(name))
            if (const auto count = parse_si(text, name)) value = *count / in_a_second;
    if (value && *value > 0 && std::isfinite(*value)) return *value;
    throw InputError(fmt::format("{}: '{}' is not a number above 0, such as {}", where, printable(text),
                                 unit == "s" ? "0.002, 20ms or 5s" : fmt::format("2e12 or 2T{}", unit)));
}

std::vector<GivenPoint> parse_points(std::string_view text, const std::string& file, const GivenPoint& usual)
{
    const CsvTable table = parse_csv(std::string(text), file);
    const std::vector<std::string> known{"name", "flops", "bytes", "seconds", "precision", "device", "threads"};
    const bool has_regions = table.has("calls");
    for (const std::string& column : table.header)
        if (!has_regions && !is_in(column, known))
            throw InputError(file + ": " + unknown_word("column", column, known));
    std::vector<GivenPoint> points;
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
        const auto cell = [&](const char* column, const std::string& otherwise) {
            if (!table.has(column)) return otherwise;
            const std::string& value = table.rows[i][table.column(column)];
            return value.empty() ? otherwise : value;
        };
        const auto number = [&](const char* column, const std::string& value, const char* unit) {
            return positive_number(value, fmt::format("{}: row {}, column {}", file, i + 2, column), unit);
        };
        if (has_regions && cell("flops", "").empty()) continue;
        const std::string bytes = cell("bytes", "");
        points.push_back({.name = cell("name", fmt::format("{} {}", usual.name, i + 1)),
                          .flops = {number("flops", table.rows[i][table.column("flops")], "FLOP")},
                          .bytes = {bytes.empty() ? 0 : number("bytes", bytes, "B")},
                          .seconds = {number("seconds", table.rows[i][table.column("seconds")], "s")},
                          .precision = cell("precision", usual.precision),
                          .device = cell("device", usual.device),
                          .threads = cell("threads", usual.threads)});
    }
    if (points.empty() && has_regions)
        throw InputError(file + ": none of its regions declared FLOPs; roof_work() of roof.h, and region(flops=…), do");
    if (points.empty()) throw InputError(file + ": there are no points in it");
    return points;
}

Study place_points(const std::vector<GivenPoint>& points, Results calibration)
{
    Ceilings ceilings =
        fit_ceilings(calibration.rows, calibration.machine, looks_at(calibration.folder, calibration.machine).seen);
    if (ceilings.all.empty()) throw InputError(calibration.folder.string() + ": there are no ceilings in it");
    return under(points, std::move(ceilings), std::move(calibration), "cpu");
}

Study place_points(std::vector<GivenPoint> points, const Target& target)
{
    for (GivenPoint& point : points)  // a data sheet is of any of its kind
        if (target.known == Known::spec && kind_of_device(point.device) == target.device) point.device = target.device;
    return under(points, target.ceilings, Results{.folder = {}, .machine = target.machine, .plan = {}, .rows = {}},
                 target.device);
}

DataTable points_table(const Study& study)
{
    static const std::vector<ColumnOf<Placement>> columns{
        {"point", "name", [](P p) { return word(p.name); }},
        {"device", "device", [](P p) { return word(p.device); }},
        {"precision", "precision", [](P p) { return word(p.precision); }},
        {"", "roof_threads", [](P p) { return count(p.roof_threads); }},
        {"FLOPs", "flops",
         [](P p) { return number(p.flops.value, rate_text(p.flops.value, "FLOP", p.is_lower_bound)); }},
        {"bytes", "bytes", [](P p) { return memory_of(p) ? amount(memory_of(p)->low.value, "B") : absent(); }},
        {"time", "time_s", [](P p) { return seconds(p.seconds.median); }},
        {"rate", "rate_flop_per_s",
         [](P p) { return number(p.rate.median.value, rate_text(p.rate.median.value, "FLOP/s", p.is_lower_bound)); }},
        {"", "rate_byte_per_s",
         [](P p) { return memory_of(p) ? number((memory_of(p)->low / p.seconds.median).value) : absent(); }},
        {"FLOP/B", "intensity_flop_per_byte",
         [](P p) { return memory_of(p) ? plain(memory_of(p)->intensity_high.value) : absent(); }},
        {"ridge", "ridge_flop_per_byte",
         [](P p) {
             const bool is_known = memory_of(p) && p.compute_roof.value > 0;
             return is_known ? plain((p.compute_roof / memory_of(p)->roof).value) : absent();
         }},
        {"bound by", "binds", [](P p) { return if_placed(p, word(bottleneck_text(p), p.binds)); }},
        {"", "nearer_level_may_bind", [](P p) { return if_placed(p, truth(p.nearer_may_bind)); }},
        {"reached", "share_of_attainable", [](P p) { return if_placed(p, number(p.fraction(), reached_text(p))); }},
        {"", "share_is_upper_bound", [](P p) { return if_placed(p, truth(p.is_at_most())); }},
        {"least time", "attainable_s", [](P p) { return if_placed(p, bound(p, "\u2264 ", seconds(p.attainable))); }},
        {"headroom", "headroom_s", [](P p) { return if_placed(p, bound(p, "\u2265 ", seconds(p.headroom()))); }},
        {"times as fast", "times_as_fast",
         [](P p) {
             return only_if(!p.binds.empty() && p.fraction() > 0 && !p.above(),
                            bound(p, "\u2265 ", number(1 / p.fraction(), plain_number(1 / p.fraction()) + "x")));
         }},
        {"note", "note", [](P p) { return name_cell(p.note); }},
    };
    DataTable table =
        table_of(columns, study.placements,
                 {.expendable = {"note", "ridge", "device", "precision", "bytes", "FLOPs", "times as fast", "FLOP/B"},
                  .identifying = {"point", "device", "precision"}});
    drop_empty_columns(table);
    return table;
}

std::string roofs_over_points(const Study& study)
{
    std::map<std::pair<std::string, int>, std::string> texts;
    for (const Placement& p : study.placements) {
        std::string& text = texts[{p.device, p.roof_threads}];
        if (!text.empty()) continue;
        std::vector<std::string> items;
        const Roofs roofs = roofs_of(study.ceilings, p.device, p.roof_threads);
        for (const auto& group : {roofs.levels, roofs.compute})
            for (const Ceiling* roof : group)
                items.push_back(fmt::format("{}{} {}", level_or_precision(*roof),
                                            roof->kind == Role::bandwidth ? " (" + roof->operation + ")" : "",
                                            roof->steadiness == Steadiness::at_least || roof->rate.n == 0
                                                ? rate_text(*roof)
                                                : with_interval(roof->rate, roof->unit())));
        text = fmt::format("{}: {}\n", device_text(p.device, p.roof_threads), join(items, ", "));
    }
    std::string all;
    for (const auto& [where, text] : texts) all += text;
    return all;
}

}  // namespace roof::analysis
