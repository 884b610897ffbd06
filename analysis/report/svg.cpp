#include "analysis/report/svg.hpp"

#include "analysis/table/html.hpp"

#include <fmt/format.h>

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
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" {}>\n<style>{}</style>\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{}</svg>\n",
        head_, style_sheet, text_);
}

void Svg::end(std::string_view tag, std::string_view title)
{
    text_ += title.empty() ? "/>\n" : fmt::format("><title>{}</title></{}>\n", escape(title), tag);
}

void Svg::line(Spot from, Spot to, std::string_view css_class)
{
    text_ += fmt::format("<path class=\"{}\" d=\"M{} {}L{} {}\"/>\n", css_class, coordinate(from.x), coordinate(from.y),
                         coordinate(to.x), coordinate(to.y));
}

void Svg::polyline(const std::vector<Spot>& spots, std::string_view css_class, std::string_view title)
{
    text_ += fmt::format("<polyline class=\"{}\" points=\"{}\"", css_class, coordinates(spots));
    end("polyline", title);
}

void Svg::polygon(const std::vector<Spot>& spots, std::string_view css_class, std::string_view title)
{
    text_ += fmt::format("<polygon class=\"{}\" points=\"{}\"", css_class, coordinates(spots));
    end("polygon", title);
}

void Svg::rectangle(Spot corner, double width, double height, std::string_view css_class, std::string_view title)
{
    text_ += fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", css_class,
                         coordinate(corner.x), coordinate(corner.y), coordinate(width), coordinate(height));
    end("rect", title);
}

void Svg::text(Spot at, std::string_view text, std::string_view css_class, Anchor anchor, double turn)
{
    const std::string_view where = anchor == Anchor::start ? "" : anchor == Anchor::middle ? " middle" : " end";
    const std::string x = coordinate(at.x);
    const std::string y = coordinate(at.y);
    text_ += fmt::format("<text class=\"{}{}\" x=\"{}\" y=\"{}\"", css_class, where, x, y);
    if (turn != 0) text_ += fmt::format(" transform=\"rotate({} {} {})\"", coordinate(turn), x, y);
    text_ += fmt::format(">{}</text>\n", escape(text));
}

void Svg::shape(Shape shape, Spot at, double radius, std::string_view css_class)
{
    const double half = radius * 0.89;
    const double third = radius * 1.35;
    const double arm = radius * 1.2, thick = radius * 0.4;
    switch (shape) {
        case Shape::circle:
            text_ += fmt::format("<circle class=\"{}\" cx=\"{}\" cy=\"{}\" r=\"{}\"", css_class, coordinate(at.x),
                                 coordinate(at.y), coordinate(radius));
            return end("circle", "");
        case Shape::square:
            return rectangle({at.x - half, at.y - half}, 2 * half, 2 * half, css_class);
        case Shape::triangle:
            return polygon({{at.x, at.y - third},
                            {at.x + third * 0.87, at.y + third / 2},
                            {at.x - third * 0.87, at.y + third / 2}},
                           css_class);
        case Shape::diamond:
            return polygon({{at.x, at.y - third}, {at.x + third, at.y}, {at.x, at.y + third}, {at.x - third, at.y}},
                           css_class);
        case Shape::cross:
            return polygon({{at.x - arm, at.y - thick},
                            {at.x - thick, at.y - thick},
                            {at.x - thick, at.y - arm},
                            {at.x + thick, at.y - arm},
                            {at.x + thick, at.y - thick},
                            {at.x + arm, at.y - thick},
                            {at.x + arm, at.y + thick},
                            {at.x + thick, at.y + thick},
                            {at.x + thick, at.y + arm},
                            {at.x - thick, at.y + arm},
                            {at.x - thick, at.y + thick},
                            {at.x - arm, at.y + thick}},
                           css_class);
    }
}

void Svg::open(std::string_view css_class, std::string_view title, std::string_view attributes)
{
    text_ += fmt::format("<g class=\"{}\"{}>", css_class, attributes);
    if (!title.empty()) text_ += fmt::format("<title>{}</title>", escape(title));
}

void Svg::close()
{
    text_ += "</g>\n";
}

void Svg::open_clip(std::string_view name, Spot corner, double width, double height)
{
    text_ += fmt::format("<clipPath id=\"{}\">", escape(name));
    rectangle(corner, width, height, "");
    text_ += fmt::format("</clipPath><g clip-path=\"url(#{})\">\n", escape(name));
}

}  // namespace roof::analysis
