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

constexpr double swatch = 11;
constexpr double legend_line = 18;

/// Distance between entries of a legend; letters of class "tick" are about six units wide.
double legend_step(const std::vector<LegendEntry>& entries)
{
    std::size_t longest = 0;
    for (const LegendEntry& entry : entries) longest = std::max(longest, entry.text.size());
    return swatch + 24 + 6.2 * static_cast<double>(longest);
}

double legend_columns(const std::vector<LegendEntry>& entries, double width)
{
    return std::max(1.0, std::floor(width / legend_step(entries)));
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

void Svg::mark(Shape shape, Spot at, double radius, std::string_view css_class, std::string_view title)
{
    const double half = radius * 0.89;   // a square of the circle's area
    const double third = radius * 1.35;  // and a triangle
    switch (shape) {
        case Shape::circle:
        case Shape::ring:
            text_ += fmt::format("<circle class=\"{}\" cx=\"{}\" cy=\"{}\" r=\"{}\"", css_class, coordinate(at.x),
                                 coordinate(at.y), coordinate(radius));
            return end("circle", title);
        case Shape::square:
            return rectangle({at.x - half, at.y - half}, 2 * half, 2 * half, css_class, title);
        case Shape::triangle:
            return polygon({{at.x, at.y - third},
                            {at.x + third * 0.87, at.y + third / 2},
                            {at.x - third * 0.87, at.y + third / 2}},
                           css_class, title);
    }
}

void Svg::open(std::string_view css_class, std::string_view title)
{
    text_ += fmt::format("<g class=\"{}\">", css_class);
    if (!title.empty()) text_ += fmt::format("<title>{}</title>", escape(title));
}

void Svg::close()
{
    text_ += "</g>\n";
}

void Svg::open_clip(std::string_view name, const LogPlot& plot)
{
    text_ += fmt::format("<clipPath id=\"{}\">", escape(name));
    rectangle({plot.left() - 10, plot.top() - 10}, plot.right() - plot.left() + 20, plot.bottom() - plot.top() + 20,
              "");
    text_ += fmt::format("</clipPath><g clip-path=\"url(#{})\">\n", escape(name));
}

void draw_axes(Svg& svg, const LogPlot& plot, const std::vector<double>& x_ticks, const TickText& x_text,
               const std::vector<double>& y_ticks, const TickText& y_text)
{
    for (const double tick : x_ticks) {
        const double at = plot.x(tick);
        svg.line({at, plot.top()}, {at, plot.bottom()}, "grid");
        svg.text({at, plot.bottom() + 18}, x_text(tick), "tick", Anchor::middle);
    }
    for (const double tick : y_ticks) {
        const double at = plot.y(tick);
        svg.line({plot.left(), at}, {plot.right(), at}, "grid");
        svg.text({plot.left() - 8, at + 4}, y_text(tick), "tick", Anchor::end);
    }
    svg.polyline({{plot.left(), plot.top()}, {plot.left(), plot.bottom()}, {plot.right(), plot.bottom()}}, "axis");
    svg.text({(plot.left() + plot.right()) / 2, plot.bottom() + 40}, plot.x_label, "label", Anchor::middle);
    svg.text({plot.left(), plot.top() - 12}, plot.y_label, "label");
}

double legend_height(const std::vector<LegendEntry>& entries, double width)
{
    return legend_line * std::ceil(static_cast<double>(entries.size()) / legend_columns(entries, width));
}

void draw_legend(Svg& svg, const std::vector<LegendEntry>& entries, Spot corner, double width)
{
    const double step = legend_step(entries);
    const auto columns = static_cast<std::size_t>(legend_columns(entries, width));
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const Spot at{corner.x + step * static_cast<double>(i % columns),
                      corner.y + legend_line * static_cast<double>(i / columns)};
        svg.open(entries[i].css_class);
        svg.rectangle(at, swatch, swatch, entries[i].mark);
        svg.close();
        svg.text({at.x + swatch + 6, at.y + swatch - 1}, entries[i].text, "tick");
    }
}

void draw_series(Svg& svg, const LogPlot& plot, std::size_t index, const std::vector<SeriesPoint>& points,
                 double radius)
{
    svg.open(series_entry(index, "").css_class);
    std::vector<Spot> path;
    for (const SeriesPoint& p : points) {
        const Spot spot = plot(p.x, p.median);
        if (!path.empty()) {
            const double middle = (path.back().x + spot.x) / 2;
            path.push_back({middle, path.back().y});
            path.push_back({middle, spot.y});
        }
        path.push_back(spot);
    }
    svg.polyline(path, "curve");
    for (const SeriesPoint& p : points) {
        svg.line(plot(p.x, p.low), plot(p.x, p.high), "curve");
        svg.mark(Shape::circle, plot(p.x, p.median), radius, "dot", p.title);
    }
    svg.close();
}

LegendEntry series_entry(std::size_t index, const std::string& text)
{
    constexpr std::size_t colours = 8;
    return {fmt::format("series s{}", index % colours), "dot swatch", text};
}

std::vector<double> ticks(double low, double high, double factor)
{
    constexpr double most = 60;
    if (!(low > 0) || !std::isfinite(high) || factor <= 1) return {};
    const double count = std::log(high / low) / std::log(factor);
    if (count > most) factor = std::pow(factor, std::ceil(count / most));
    std::vector<double> at;
    for (double tick = low; tick <= high * 1.0001; tick *= factor) at.push_back(tick);
    return at;
}

}  // namespace roof::analysis
