// Draws a figure as SVG. page/figure.js draws the same where readers zoom, with the same rules: what is outside the
// frame is an arrow at its edge, outlines lie below points, and no text covers another.
#include "analysis/report/boxes.hpp"
#include "analysis/table/fitted_text.hpp"
#include "analysis/table/html.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <map>
#include <numbers>
#include <tuple>

namespace roof::analysis {
namespace {

constexpr double left = 96, right_margin = 28, bottom_margin = 56;
constexpr double heading_line = 20, table_line = 17, legend_line = 18, swatch = 11;

class Drawing {
  public:
    Drawing(const Figure& figure, const std::vector<std::string>& heading, Svg& svg)
        : top(40 + heading_line * static_cast<double>(heading.size())), figure_(figure), svg_(svg)
    {
        for (std::size_t i = 0; i < heading.size(); ++i)
            svg_.text({8, 14 + heading_line * static_cast<double>(i)}, heading[i], i == 0 ? "name" : "label");
    }

    const double top;

    double right() const { return figure_.width - right_margin; }
    double bottom() const { return figure_.height - bottom_margin + top - 40; }

    double x(double value) const { return figure_.x.along(value, left, right()); }
    double y(double value) const { return figure_.y.along(value, bottom(), top); }

    void axes()
    {
        for (const Tick& tick : figure_.x.ticks_in(figure_.x.frame.low, figure_.x.frame.high)) {
            svg_.line({x(tick.at), top}, {x(tick.at), bottom()}, "grid");
            svg_.text({x(tick.at), bottom() + 18}, tick.text, "tick", Anchor::middle);
        }
        for (const Tick& tick : figure_.y.ticks_in(figure_.y.frame.low, figure_.y.frame.high)) {
            svg_.line({left, y(tick.at)}, {right(), y(tick.at)}, "grid");
            svg_.text({left - 8, y(tick.at) + 4}, tick.text, "tick", Anchor::end);
        }
        svg_.polyline({{left, top}, {left, bottom()}, {right(), bottom()}}, "axis");
        svg_.text({(left + right()) / 2, bottom() + 40}, figure_.x.label, "label", Anchor::middle);
        svg_.text({left, top - 12}, figure_.y.label, "label");
    }

    void rules()
    {
        for (const Rule& rule : figure_.rules) {
            svg_.open("level", rule.title);
            if (!rule.css.empty()) svg_.line({x(rule.x), top}, {x(rule.x), bottom()}, rule.css);
            if (!rule.text.empty())
                svg_.text({std::min(x(rule.text_at), right() - 24), top + 14}, rule.text, "name", Anchor::middle);
            svg_.close();
        }
    }

    void roofs()
    {
        for (const RoofLine& roof : figure_.roofs) {
            const auto [low_a, low_b] = line(roof, roof.rate.low);
            const auto [high_a, high_b] = line(roof, roof.rate.high);
            const auto [from, to] = line(roof, roof.rate.median);
            svg_.open(roof.dashed || roof.extra ? "roof mix" : "roof", roof.title);
            svg_.polygon({low_a, low_b, high_b, high_a}, "band");
            svg_.line(from, to, "edge");
            svg_.close();
            cover(lines_, from, to, 0.004);
        }
        for (const Ridge& ridge : figure_.ridges()) {
            const Spot at{x(ridge.x), y(ridge.y)};
            if (!is_inside(at)) continue;
            svg_.open("ridge", ridge.title);
            svg_.shape(Shape::circle, at, 3);
            svg_.close();
            taken_.push_back({at.x - 4, at.y - 4, 8, 8});
        }
    }

    void curves()
    {
        for (const Curve& curve : figure_.curves) {
            std::vector<Spot> path;
            for (const std::size_t index : curve.marks)
                path.push_back({x(figure_.marks[index].x.median), y(figure_.marks[index].y.median)});
            if (path.size() < 2) continue;
            svg_.polyline(path, "curve " + curve.css);
            for (std::size_t i = 1; i < path.size(); ++i) cover(lines_, path[i - 1], path[i], 0.025);
            if (!curve.css.starts_with("trajectory")) continue;
            svg_.open("mark " + curve.css);  // towards the larger batch
            for (std::size_t i = 1; i < path.size(); ++i) {
                const Spot middle{(path[i - 1].x + path[i].x) / 2, (path[i - 1].y + path[i].y) / 2};
                if (std::hypot(path[i].x - path[i - 1].x, path[i].y - path[i - 1].y) > 30)
                    svg_.arrow_head(path[i - 1], path[i], middle, 8, 3);
            }
            svg_.close();
        }
    }

    /// Arrows from a baseline's points, with their intervals.
    void changes()
    {
        for (const Mark& mark : figure_.marks) {
            if (!mark.before || !(mark.x.median > 0) || !(mark.y.median > 0)) continue;
            const auto& [old_x, old_y] = *mark.before;
            const Spot from{x(old_x.median), y(old_y.median)}, to{x(mark.x.median), y(mark.y.median)};
            svg_.open("change", "",
                      fmt::format(" data-from=\"{}\" data-x=\"{}\" data-y=\"{}\"", escape(mark.key), old_x.median,
                                  old_y.median));
            svg_.line({from.x, y(old_y.low)}, {from.x, y(old_y.high)}, "interval");
            svg_.line(from, to, "change-line");
            if (std::hypot(to.x - from.x, to.y - from.y) > 8) svg_.arrow_head(from, to, to, 8, 3);
            svg_.close();
        }
    }

    /// Outlines and steps first, then the large and the small: nothing hides a point.
    void marks()
    {
        std::vector<const Mark*> order;
        for (const Mark& mark : figure_.marks) order.push_back(&mark);
        const auto below = [](const Mark* m) {
            return m->look.find("outline") != std::string::npos ? 2 : m->look.find("step") != std::string::npos ? 1 : 0;
        };
        std::ranges::stable_sort(order, [&](const Mark* a, const Mark* b) {
            return std::tuple{-below(a), -a->radius} < std::tuple{-below(b), -b->radius};
        });
        for (const Mark* mark : order) draw_mark(*mark);
        for (const auto& [place, count] : arrows_) {
            if (count < 2) continue;
            const Spot at{std::clamp(place.first, left + 14, right() - 24),
                          std::clamp(place.second, top + 14, bottom() - 12)};
            svg_.text(at, std::to_string(count), "tick");
            take({{at.x - 1, at.y - 11, 9.0 * static_cast<double>(std::to_string(count).size()), 14}});
        }
    }

    void names()
    {
        for (const Mark& mark : figure_.marks)
            if (!(mark.x.median > 0) && mark.y.median > 0)
                name_along({{left, y(mark.y.median)}, {right(), y(mark.y.median)}}, {mark.name + ": bytes unknown"},
                           "halo", false);
        for (const RoofLine& roof : figure_.roofs)
            if (!roof.label.empty())
                name_along(line(roof, roof.rate.median),
                           {roof.label, roof.label.substr(0, roof.label.rfind(": ")),
                            roof.extra || !roof.owner.empty() ? roof.label : roof.name},
                           "name", !roof.slanted);
        for (const Ridge& ridge : figure_.ridges())
            if (const Spot at{x(ridge.x), y(ridge.y)}; !ridge.text.empty() && is_inside(at))
                name_around({nullptr, at, 3}, ridge.text, false);
        std::vector<Disc> named = discs_;
        std::erase_if(named, [](const Disc& disc) { return disc.mark->rank < 0 || disc.mark->name.empty(); });
        std::ranges::stable_sort(named, {}, [](const Disc& disc) { return disc.mark->rank; });
        int layers = 0;
        for (const Disc& disc : named) {
            const Mark* const mark = disc.mark;
            const std::string number = mark->rank > 0 ? std::to_string(mark->rank) : "";
            const bool is_whole = number.empty() || ++layers <= most_named;
            const bool is_told =
                std::ranges::any_of(figure_.table, [&](const auto& row) { return row.front() == number; });
            if (!number.empty() && (figure_.table.empty() ? layers > most_numbered : !is_told)) continue;
            const std::string whole = number.empty() ? mark->name : number + " " + mark->name;
            if (!(is_whole && name_around(disc, whole, true)) && !number.empty()) name_around(disc, number, false);
        }
    }

  private:
    static constexpr int most_named = 5, most_numbered = 10;
    using Line = std::pair<Spot, Spot>;

    Line line(const RoofLine& roof, double rate) const
    {
        auto [from, to] = figure_.line_of(roof, rate, figure_.x.frame);
        if (const double low = figure_.y.frame.low; roof.slanted && from.second < low) from = {low / rate, low};
        return {{x(from.first), y(from.second)}, {x(to.first), y(to.second)}};
    }

    bool is_inside(Spot at) const { return at.x > left && at.x < right() && at.y > top && at.y < bottom(); }

    void draw_mark(const Mark& mark)
    {
        if (!(mark.y.median > 0) && !figure_.y.linear) return;
        if (!(mark.x.median > 0)) {
            svg_.open("mark unknown", mark.title);
            svg_.line({left, y(mark.y.median)}, {right(), y(mark.y.median)}, "edge");
            return svg_.close();
        }
        const Spot at{x(mark.x.median), y(mark.y.median)};
        const Spot inside{std::clamp(at.x, left, right()), std::clamp(at.y, top, bottom())};
        const bool is_out = std::hypot(at.x - inside.x, at.y - inside.y) > 0.5;
        svg_.open(fmt::format("mark {}{}", mark.look, is_out ? " outside" : ""), mark.title,
                  fmt::format(" data-key=\"{}\" data-level=\"{}\" data-x=\"{}\" data-y=\"{}\"", key_of(mark),
                              escape(mark.level), mark.x.median, mark.y.median));
        if (is_out) {
            arrow(at, inside);
        } else {
            if (mark.whisker) whiskers(mark, at);
            svg_.shape(mark.shape, at, mark.radius);
            const Disc disc = disc_of(mark, at);
            taken_.push_back({disc.at.x - disc.radius, disc.at.y - disc.radius, 2 * disc.radius, 2 * disc.radius});
            discs_.push_back(disc);
        }
        svg_.close();
    }

    void whiskers(const Mark& mark, Spot at)
    {
        const auto inside = [](double value, double low, double high) { return std::clamp(value, low, high); };
        if (mark.x.low < mark.x.high) {
            const double from = inside(x(mark.x.low), left, right());
            const double to = inside(x(mark.x.high), left, right());
            svg_.line({from, at.y}, {to, at.y}, "interval");
            cover(lines_, {from, at.y}, {to, at.y}, 0.01);
            svg_.line({from, at.y - 4}, {from, at.y + 4}, "interval");
        }
        if (mark.y.low < mark.y.high)
            svg_.line({at.x, inside(y(mark.y.low), top, bottom())}, {at.x, inside(y(mark.y.high), top, bottom())},
                      "interval");
    }

    std::string key_of(const Mark& mark) const
    {
        return mark.key.empty() ? std::to_string(&mark - figure_.marks.data()) : escape(mark.key);
    }

    /// At the edge, towards the place outside; arrows at one place are counted.
    void arrow(Spot at, Spot edge)
    {
        svg_.arrow_head(edge, at, edge, 9, 5);
        ++arrows_[{std::round(edge.x / 12) * 12, std::round(edge.y / 12) * 12}];
        taken_.push_back({edge.x - 12, edge.y - 12, 24, 24});
    }

    bool is_free(const Box& box, bool of_lines) const
    {
        return box.x > left && box.x + box.w < right() && box.y > top - 14 && box.y + box.h < bottom() &&
               !meets_any(box, taken_) && !(of_lines && meets_any(box, lines_));
    }

    /// Along a line, above or below it, the first of these texts where it covers nothing, or at least no text and mark.
    void name_along(const Line& along, std::initializer_list<std::string> texts, std::string_view css, bool is_at_end)
    {
        constexpr double letter = 7.7, cell = 11;
        const auto [from, to] = along;
        const double length = std::hypot(to.x - from.x, to.y - from.y);
        if (length < 40) return;
        const Spot across{(to.x - from.x) / length, (to.y - from.y) / length};
        const auto at = [&](double forward, double aside) {
            return Spot{from.x + forward * across.x - aside * across.y, from.y + forward * across.y + aside * across.x};
        };
        for (const bool of_lines : {true, false})
            for (const std::string& text : texts) {
                const double wide = letter * static_cast<double>(text.size()) + 8;  // capitals are wider
                for (double start = 6; start + wide < length; start += 12)
                    for (const double shift : {-5.0, 14.0, -20.0}) {
                        if (!is_at_end && shift < -5) continue;
                        const double begin = is_at_end ? length - start - wide : start;
                        std::vector<Box> cells;
                        for (double i = 0; i < wide; i += cell) {
                            const Spot middle = at(begin + i + cell / 2, shift - 4);
                            cells.push_back({middle.x - cell / 2, middle.y - cell / 2, cell, cell});
                        }
                        if (!std::ranges::all_of(cells, [&](const Box& box) { return is_free(box, of_lines); }))
                            continue;
                        svg_.text(at(begin, shift), text, css, Anchor::start,
                                  std::atan2(across.y, across.x) * 180 / std::numbers::pi);
                        return take(cells);
                    }
            }
    }

    void take(const std::vector<Box>& boxes)
    {
        for (std::vector<Box>* covered : {&taken_, &texts_})
            covered->insert(covered->end(), boxes.begin(), boxes.end());
    }

    /// In a large mark, above, below or beside it, where no other is as near; a whole name also farther away, with a
    /// leader that crosses no text. False without room.
    bool name_around(const Disc& disc, const std::string& text, bool is_whole)
    {
        const double w = 7 * static_cast<double>(text.size()) + 2, h = 14;
        const auto& [mark, at, radius] = disc;
        const auto write = [&](const Box& box, double dx, bool is_far) {
            const Anchor anchor = dx > 0.5 ? Anchor::start : dx < -0.5 ? Anchor::end : Anchor::middle;
            const double begin = dx > 0.5 ? 1 : dx < -0.5 ? w - 1 : w / 2;
            if (mark != nullptr)
                svg_.open("of", "", fmt::format(" data-of=\"{}\"{}", key_of(*mark), is_far ? " data-leader=\"\"" : ""));
            svg_.text({box.x + begin, box.y + 11}, text, is_whole || mark == nullptr ? "halo" : "halo number", anchor);
            if (mark != nullptr) svg_.close();
            take({box});
            return true;
        };
        if (const Box inside{at.x - w / 2, at.y - h / 2, w, h};
            !is_whole && radius > w / 2 && !meets_any(inside, texts_) && !is_near_another(discs_, inside, mark, 0))
            return write(inside, 0, false);
        const std::vector<Disc> passed = passed_by(discs_, at);
        for (const bool of_lines : {true, false})
            for (double away = radius + 2; away < radius + (is_whole ? 110 : 12); away += 11)
                for (const int side : sides) {
                    const double dx = std::round(100 * std::cos(side * std::numbers::pi / 16)) / 100;
                    const double dy = -std::round(100 * std::sin(side * std::numbers::pi / 16)) / 100;
                    const Box box{at.x + dx * (away + w / 2) - w / 2, at.y + dy * (away + h / 2) - h / 2, w, h};
                    if (!is_free(box, of_lines)) continue;
                    const bool is_far = away > radius + 12;
                    if (!is_far && is_near_another(discs_, box, mark, distance(disc, box) + 3 + 0.2 * radius, 0.2))
                        continue;
                    const Spot near{std::clamp(at.x, box.x, box.x + box.w), std::clamp(at.y, box.y, box.y + box.h)};
                    bool crosses = false;
                    std::vector<Box> leader;
                    for (double share = 0; is_far && !crosses && share <= 1; share += 0.02) {
                        const Box spot = box_on(at, near, share);
                        if (distance(disc, spot) > 0) leader.push_back(spot);
                        crosses = meets_any(spot, texts_) ||
                                  (distance(disc, spot) > 4 && is_near_another(passed, spot, mark, 2));
                    }
                    if (crosses) continue;
                    if (is_far) svg_.line(at, near, "leader");
                    take(leader);
                    return write(box, dx, is_far);
                }
        return false;
    }

    const Figure& figure_;
    Svg& svg_;
    std::vector<Box> taken_, texts_;  ///< by marks and texts, and by texts
    std::vector<Box> lines_;          ///< by roofs, intervals and curves
    std::vector<Disc> discs_;
    std::map<std::pair<double, double>, int> arrows_;
};

}  // namespace

Svg draw(const Figure& figure, std::string_view clip)
{
    const double width = figure.width - left - right_margin;
    std::vector<std::string> heading;
    for (const std::string& words : figure.heading)
        for (const std::string& line : split(fitted_lines(words, static_cast<int>(figure.width / 7.3)), '\n'))
            if (!line.empty()) heading.emplace_back(trim(line));
    std::vector<Spot> legend;
    Spot next;
    for (const LegendEntry& entry : figure.legend) {
        const double step = swatch + 24 + 6.9 * static_cast<double>(entry.text.size());
        if (next.x > 0 && next.x + step > width) next = {0, next.y + legend_line};
        legend.push_back(next);
        next.x += step;
    }
    const double down = heading_line * static_cast<double>(heading.size()),
                 below = legend.empty() ? 0 : next.y + legend_line,
                 table = figure.table.empty() ? 0 : table_line * static_cast<double>(figure.table.size()) + 20;
    Svg svg(figure.width, figure.height + below + down + table, figure.title);
    Drawing drawing(figure, heading, svg);
    drawing.axes();
    svg.open_clip(clip, {left - 10, drawing.top - 10}, width + 20, drawing.bottom() - drawing.top + 20);
    drawing.rules();
    drawing.roofs();
    drawing.curves();
    drawing.changes();
    drawing.marks();
    drawing.names();
    svg.close();
    for (std::size_t i = 0; i < legend.size(); ++i) {
        const auto& [shape, look, text, radius] = figure.legend[i];
        const Spot at{left + legend[i].x, figure.height + down - 4 + legend[i].y};
        svg.open("mark " + look);
        svg.shape(shape, {at.x + swatch / 2, at.y + swatch / 2}, radius);
        svg.close();
        svg.text({at.x + swatch + 6, at.y + swatch - 1}, text, "tick");
    }
    Spot corner{8, figure.height + down + below + 20};  // of a column as wide as its longest text
    for (std::size_t column = 0; !figure.table.empty() && column < figure.table.front().size(); ++column) {
        std::size_t longest = 0;
        for (std::size_t i = 0; i < figure.table.size(); ++i) {
            const std::string& text = figure.table[i][column];
            svg.text({corner.x, corner.y + table_line * static_cast<double>(i)}, text, i == 0 ? "label" : "cell");
            longest = std::max(longest, text.size());
        }
        corner.x += 7 * static_cast<double>(longest) + 14;
    }
    return svg;
}

}  // namespace roof::analysis
