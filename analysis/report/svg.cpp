#include "analysis/report/svg.hpp"

#include "analysis/table/html.hpp"

#include <fmt/format.h>

#include <cmath>

namespace roof::analysis {
namespace {

/// The coordinate to a tenth of a pixel, without trailing zeros.
std::string coordinate(double value)
{
    std::string text = fmt::format("{:.1f}", value);
    if (text.ends_with(".0")) text.resize(text.size() - 2);
    return text;
}

std::string coordinates(const std::vector<Spot>& spots)
{
    std::string text;
    for (const Spot& spot : spots) text += (text.empty() ? "" : " ") + coordinate(spot.x) + "," + coordinate(spot.y);
    return text;
}

}  // namespace

Svg::Svg(double width, double height, std::string_view label)
    : head_(fmt::format("viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" aria-label=\"{2}\"", width,
                        height, escape(label)))
{
}

std::string Svg::file(std::string_view style_sheet) const
{
    constexpr std::string_view tag = "<text class=\"";
    std::string text;
    std::size_t from = 0;
    for (const auto& [begin, end] : over_lines_) {
        text += text_.substr(from, begin - from);
        text += fmt::format("{}under {}", tag, text_.substr(begin + tag.size(), end - begin - tag.size()));
        from = begin;
    }
    text += text_.substr(from);
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" {}>\n<style>{}</style>\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{}</svg>\n",
        head_, style_sheet, text);
}

void Svg::line(Spot from, Spot to, std::string_view css_class)
{
    text_ += fmt::format("<path class=\"{}\" d=\"M{} {}L{} {}\"/>\n", css_class, coordinate(from.x), coordinate(from.y),
                         coordinate(to.x), coordinate(to.y));
}

void Svg::polyline(const std::vector<Spot>& spots, std::string_view css_class)
{
    text_ += fmt::format("<polyline class=\"{}\" points=\"{}\"/>\n", css_class, coordinates(spots));
}

void Svg::polygon(const std::vector<Spot>& spots, std::string_view css_class)
{
    text_ += fmt::format("<polygon class=\"{}\" points=\"{}\"/>\n", css_class, coordinates(spots));
}

void Svg::text(Spot at, std::string_view text, std::string_view css_class, Anchor anchor, double turn)
{
    const std::string_view where = anchor == Anchor::start ? "" : anchor == Anchor::middle ? " middle" : " end";
    const std::string x = coordinate(at.x);
    const std::string y = coordinate(at.y);
    const std::size_t begin = text_.size();
    text_ += fmt::format("<text class=\"{}{}\" x=\"{}\" y=\"{}\"", css_class, where, x, y);
    if (turn != 0) text_ += fmt::format(" transform=\"rotate({} {} {})\"", coordinate(turn), x, y);
    text_ += fmt::format(">{}</text>\n", escape(text));
    if (css_class != "tick" && css_class != "label" && css_class != "cell")
        over_lines_.emplace_back(begin, text_.size());
}

void Svg::arrow_head(Spot from, Spot to, Spot tip, double length, double half_width)
{
    const double turn = std::atan2(to.y - from.y, to.x - from.x);
    const auto corner = [&](double aside) {
        return Spot{tip.x - length * std::cos(turn) - aside * std::sin(turn),
                    tip.y - length * std::sin(turn) + aside * std::cos(turn)};
    };
    polygon({tip, corner(half_width), corner(-half_width)}, "arrow");
}

void Svg::shape(Shape shape, Spot at, double radius)
{
    if (shape == Shape::circle) {
        text_ += fmt::format("<circle class=\"shape\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>\n", coordinate(at.x),
                             coordinate(at.y), coordinate(radius));
        return;
    }
    std::vector<Spot> part{{-0.89, -0.89}}, spots;  // a quarter of its corners
    if (shape == Shape::triangle) part = {{0, -1.35}, {1.1745, 0.675}, {-1.1745, 0.675}};
    if (shape == Shape::diamond) part = {{0, -1.35}};
    if (shape == Shape::cross) part = {{-1.2, -0.4}, {-0.4, -0.4}, {-0.4, -1.2}};
    for (int turn = 0; turn < (shape == Shape::triangle ? 1 : 4); ++turn)
        for (Spot& spot : part) {
            spots.push_back({at.x + radius * spot.x, at.y + radius * spot.y});
            spot = {-spot.y, spot.x};
        }
    polygon(spots, "shape");
}

void Svg::open(std::string_view css_class, std::string_view title, std::string_view attributes)
{
    text_ += fmt::format("<g class=\"{}\"{}>", css_class, attributes);
    if (!title.empty()) text_ += fmt::format("<title>{}</title>", escape(title));
}

void Svg::open_clip(std::string_view name, Spot corner, double width, double height)
{
    text_ += fmt::format(
        "<clipPath id=\"{0}\"><rect x=\"{1}\" y=\"{2}\" width=\"{3}\" height=\"{4}\"/></clipPath>"
        "<g clip-path=\"url(#{0})\">\n",
        escape(name), coordinate(corner.x), coordinate(corner.y), coordinate(width), coordinate(height));
}

}  // namespace roof::analysis
