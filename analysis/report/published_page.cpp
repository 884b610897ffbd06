#include "analysis/report/pages.hpp"

#include "analysis/report/style.hpp"
#include "analysis/report/svg.hpp"
#include "analysis/study/tables.hpp"
#include "analysis/table/html.hpp"
#include "analysis/table/quantities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace roof::analysis {
namespace {

/// A published rate and the intensity published with it.
struct Point {
    const Assessment* rate = nullptr;
    double intensity = 0;
};

std::vector<Point> points_on(const Target& target, std::span<const Assessment> assessments)
{
    std::vector<Point> points;
    for (const Assessment& rate : assessments) {
        const PublishedNumber& of_rate = rate.published;
        if (of_rate.quantity != "flop_rate" || of_rate.machine != target.name) continue;
        const auto beside = std::ranges::find_if(assessments, [&](const Assessment& other) {
            return other.published.quantity == "intensity" && other.published.machine == of_rate.machine &&
                   other.published.of.model == of_rate.of.model && other.published.of.batch == of_rate.of.batch;
        });
        if (beside != assessments.end()) points.push_back({&rate, beside->published.si});
    }
    return points;
}

std::string picture(const Target& target, const std::vector<Point>& points)
{
    const Roofs roofs = roofs_of(target.ceilings, target.device);
    std::optional<Frame> frame = frame_of(target.ceilings);
    if (!frame || roofs.compute.empty()) return {};
    double lowest = frame->rate.low;
    for (const Point& point : points) lowest = std::min(lowest, point.rate->published.si / 2);
    frame->rate.low = power_below(10, lowest);
    const std::string title = fmt::format("{}: published points under the sheet's roofs", target.title);
    Figure figure = roofs_figure(title, roofs, *frame);
    figure.height = 516;
    for (const Point& point : points) {
        const PublishedNumber& number = point.rate->published;
        const std::string label = fmt::format("{} b{}", number.of.model, number.of.batch);
        figure.marks.push_back(
            {.key = label,
             .x = {point.intensity, point.intensity, point.intensity},
             .y = {number.si, number.si, number.si},
             .shape = Shape::square,
             .look = "backward dot",
             .radius = 5,
             .name = label,
             .rank = 0,
             .title = fmt::format("{}, published: {} {} at {} FLOP/B; {}: {}", label, number.value, number.unit,
                                  plain_number(point.intensity), name(point.rate->verdict), point.rate->remark)});
    }
    return roof::analysis::figure(title, draw(figure, "published-" + target.name).str());
}

std::string pictures(std::span<const Assessment> assessments, std::span<const Target> targets)
{
    std::string html;
    for (const Target& target : targets) {
        const std::vector<Point> points = points_on(target, assessments);
        if (!points.empty()) html += picture(target, points);
    }
    return html;
}

/// A warning for each number beyond a roof.
std::string warnings(std::span<const Assessment> assessments)
{
    std::string html;
    for (const Assessment& a : assessments) {
        if (a.verdict != Verdict::impossible) continue;
        html += paragraph(fmt::format("{} on {}: {} of {} is impossible: {}.", a.published.of.model,
                                      a.published.machine, a.published.quantity, published_text(a.published), a.remark),
                          "warning");
    }
    return html;
}

}  // namespace

std::string published_page(const std::string& study, std::span<const Assessment> assessments,
                           std::span<const Answered> answers, std::span<const Target> targets)
{
    const std::string body =
        html_section(
            "", "Published points",
            "Squares are published numbers; dashed roofs are from the vendor's sheet. Nothing here was measured.",
            pictures(assessments, targets)) +
        html_section("", "Published numbers", "Each beside the estimate from arithmetic and the sheet.",
                     html_table(published_table(assessments))) +
        html_section("", "Hypotheses", "The hypotheses of the study, answered by estimates and measured rows.",
                     html_table(hypotheses_table(answers)));
    return html_document(
        "published study " + escape(study),
        "<header><h1>Published study " + escape(study) + "</h1>\n" + warnings(assessments) + "</header>\n", body);
}

}  // namespace roof::analysis
