#include "analysis/report/svg.hpp"

#include "analysis/table/html.hpp"

#include <fmt/format.h>

#include <algorithm>
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

constexpr double swatch = 11;
constexpr double legend_line = 18;

/// Where the entries of a legend begin, from left to right in lines of this width; letters of class "tick" are about
/// seven units wide.
std::vector<Spot> legend_spots(const std::vector<LegendEntry>& entries, double width)
{
    std::vector<Spot> spots;
    Spot next;
    for (const LegendEntry& entry : entries) {
        const double step = swatch + 24 + 6.9 * static_cast<double>(entry.text.size());
        if (next.x > 0 && next.x + step > width) next = {0, next.y + legend_line};
        spots.push_back(next);
        next.x += step;
    }
    return spots;
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

void Svg::shape(Shape shape, Spot at, double radius, std::string_view css_class)
{
    if (shape == Shape::circle) {
        text_ += fmt::format("<circle class=\"{}\" cx=\"{}\" cy=\"{}\" r=\"{}\"", css_class, coordinate(at.x),
                             coordinate(at.y), coordinate(radius));
        return end("circle", "");
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
    polygon(spots, css_class);
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

double legend_height(const std::vector<LegendEntry>& entries, double width)
{
    return entries.empty() ? 0 : legend_spots(entries, width).back().y + legend_line;
}

void draw_legend(Svg& svg, const std::vector<LegendEntry>& entries, Spot corner, double width)
{
    const std::vector<Spot> spots = legend_spots(entries, width);
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const Spot at{corner.x + spots[i].x, corner.y + spots[i].y};
        svg.open("mark " + entries[i].look);
        svg.shape(entries[i].shape, {at.x + swatch / 2, at.y + swatch / 2}, entries[i].radius);
        svg.close();
        svg.text({at.x + swatch + 6, at.y + swatch - 1}, entries[i].text, "tick");
    }
}

void draw_table(Svg& svg, const std::vector<std::vector<std::string>>& rows, Spot corner)
{
    for (std::size_t column = 0; !rows.empty() && column < rows.front().size(); ++column) {
        std::size_t longest = 0;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            svg.text({corner.x, corner.y + table_line * static_cast<double>(i)}, rows[i][column],
                     i == 0 ? "label" : "cell");
            longest = std::max(longest, rows[i][column].size());
        }
        corner.x += 7 * static_cast<double>(longest) + 14;
    }
}

}  // namespace roof::analysis
