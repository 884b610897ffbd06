// The data of the page as JSON, with a column for each number of the points.
#include "analysis/report/report.hpp"
#include "analysis/roofline/roofs.hpp"
#include "analysis/study/steps/answer.hpp"
#include "analysis/study/steps/verdict.hpp"
#include "analysis/table/html.hpp"
#include "analysis/table/rows.hpp"
#include "analysis/table/table.hpp"
#include "ert/base/ranges.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

// Defined by the generated page_script.S, which includes the bundle's bytes.
extern "C" const char roof_page_script_begin[], roof_page_script_end[];
extern "C" const char roof_page_hash_begin[], roof_page_hash_end[];

namespace roof::analysis {

using nlohmann::json;

namespace {

/// Values that many points share. Each is written once; points hold its index.
class Shared {
  public:
    std::size_t operator()(const json& value)
    {
        const auto [at, is_new] = numbers_.try_emplace(value, list_.size());
        if (is_new) list_.push_back(value);
        return at->second;
    }
    const json& list() const { return list_; }

  private:
    std::map<json, std::size_t> numbers_;
    json list_ = json::array();
};

json roof_json(const Ceiling* roof)
{
    json object = to_json(roof->rate);
    object[roof->kind == Role::bandwidth ? "name" : "precision"] = json_text(level_or_precision(*roof));
    return object;
}

json roofs_json(const Roofs& roofs, const Machine& machine)
{
    return {{"device", json_text(roofs.device)},
            {"owner", json_text(owner_of(machine, roofs.device))},
            {"threads", roofs.threads},
            {"levels", mapped(roofs.levels, roof_json)},
            {"compute", mapped(roofs.compute, roof_json)}};
}

Roofs roofs_under(const Study& study, const Measurement& row)
{
    return roofs_of(ceilings_over(study, row), row.device, threads_of(row));
}

/// Their index in `all`, which has those of each device and thread count once; -1 without roofs.
int index_in(std::vector<Roofs>& all, const Roofs& roofs)
{
    if (roofs.empty()) return -1;
    const auto key = [](const Roofs& of) { return std::tuple(of.device, of.threads, of.lasting()); };
    const auto found = std::ranges::find(all, key(roofs), key);
    const auto index = found - all.begin();
    if (found == all.end()) all.push_back(roofs);
    return static_cast<int>(index);
}

json row_json(const Study& study, const Measurement& row, int roofs)
{
    const Placement* const step = step_placement(study.placements, row);
    const std::optional<RoofLine> line = step ? own_roof(*step, roofs_under(study, row)) : std::nullopt;
    return {{"id", json_text(row.id())},
            {"model", json_text(model_of(row))},
            {"batch", batch_of(row)},
            {"precision", json_text(precision_of(row))},
            {"title", json_text(step_title(row, study.results.rows))},
            {"where", json_text(where_text(row, study.results.rows))},
            {"step_images", row.images()},
            {"data", json_text(data_of(row))},
            {"threads", threads_of(row)},
            {"how", name(row.time_known)},
            {"seconds", to_json(row.seconds)},
            {"sentence", json_text(answer_sentence(study, row))},
            {"bound", json_text(bound_of(study, row))},
            {"own_roof", line ? to_json(*line) : json(nullptr)},
            {"roofs", roofs}};
}

/// The arithmetic, then the bytes of the levels, and why.
std::string explanation_of(const Placement& p)
{
    std::string text = explain(p);
    if (!p.note.empty())
        text += fmt::format(" {}{}.", static_cast<char>(std::toupper(p.note.front())), p.note.substr(1));
    for (std::size_t i = 0; i < p.moved.size(); ++i) {
        const LevelBytes& bytes = p.moved[i];
        text += fmt::format("{}{} {}", i == 0 ? " Bytes: " : ", ", p.levels[i].level, bytes_text(bytes));
        if (i + 1 == p.moved.size() || p.moved[i + 1].known != bytes.known)
            text += fmt::format(" ({})", roof::name(bytes.known));
    }
    return text + (p.moved.empty() ? "" : ".") + remarks_on(p);
}

/// A point in the figures: its marks in the roofline, at its least bytes and at each level, and in the times.
struct Places {
    std::size_t number;  ///< of the point
    std::vector<Mark> roofline;
    std::optional<Mark> time;
};

/// With seven digits: less than a pixel at any zoom. [drawn, low, high], without what is the same.
json position(const Spread& range)
{
    const auto rounded = [](double value) { return json_number(std::stod(fmt::format("{:.7g}", value))); };
    json ends = json::array({rounded(range.median)});
    if (range.low != range.median || range.high != range.median) ends.push_back(rounded(range.low));
    if (range.high != range.median) ends.push_back(rounded(range.high));
    return ends;
}

class Points {
  public:
    void add(const Placement& p, std::size_t row, Seconds step, const Places& places)
    {
        column("row", row);
        column("scope", static_cast<int>(p.scope));
        column("phase", p.phase ? static_cast<int>(*p.phase) + 1 : 0);
        column("name", names_(json_text(p.name)));
        column("kind", kinds_(json_text(p.kind)));
        column("median", json_number(p.seconds.median.value));
        column("low", json_number(p.seconds.low.value));
        column("high_seconds", json_number(p.seconds.high.value));
        column("flops", json_number(p.flops.value));
        column("executed", p.executed == p.flops ? json(0) : json_number(p.executed.value));
        column("compulsory", p.levels.empty() ? json(nullptr) : json_number(p.levels.front().low.value));
        json at = json::array();
        column("rates", rates_(mapped(p.levels, [](const auto& level) { return json_number(level.roof.value); })));
        column("attainable", json_number(p.attainable.value));
        column("text", json_text(explanation_of(p)));
        column("cells", json_texts(cells_of(p, step)));
        for (const Mark& mark : places.roofline) {
            at.push_back(position(mark.x));
            at.back().insert(at.back().begin(), json_text(mark.level));
        }
        column("at", std::move(at));
        column("time", places.time ? json{position(places.time->x), position(places.time->y)} : json(nullptr));
        const Mark mark = places.roofline.empty() ? Mark{} : places.roofline.front();
        column("label", names_(json_text(mark.name)));
        column("rank", mark.rank);
        column("radius", std::round(100 * mark.radius) / 100);
        column("hollow", mark.look.find("hollow") != std::string::npos ? 1 : 0);
        column("before", mark.before ? json{position(mark.before->first), position(mark.before->second)} : json(0));
    }

    void write(json& study) const
    {
        study["points"] = columns_;
        study["names"] = names_.list();
        study["kinds"] = kinds_.list();
        study["rates"] = rates_.list();
        study["scopes"] = {name(Scope::step), name(Scope::phase), name(Scope::layer)};
        study["phases"] = {"", roof::name(Phase::forward), roof::name(Phase::backward), roof::name(Phase::update)};
    }

  private:
    void column(const char* name, json value) { columns_[name].push_back(std::move(value)); }

    Shared names_, kinds_, rates_;
    json columns_ = {{"row", json::array()}};
};

/// The names beside the marks of steps, by study and row. No two are the same, unless the names of their studies are.
std::vector<std::map<std::string, std::string>> names_of_steps(std::span<const Study> studies)
{
    std::vector<const Measurement*> all;
    for (const Study& study : studies) std::ranges::copy(measured_steps(study.results.rows), std::back_inserter(all));
    std::map<std::string, int> uses;
    std::vector<std::map<std::string, std::string>> names(studies.size());
    for (std::size_t i = 0; i < studies.size(); ++i)
        for (const Measurement* row : measured_steps(studies[i].results.rows))
            ++uses[names[i][row->id()] = step_name(*row, all)];
    for (std::size_t i = 0; i < studies.size(); ++i)
        for (auto& [row, name] : names[i])
            if (uses[name] > 1) name += ", " + studies[i].results.folder.filename().string();
    return names;
}

/// The axes, the roofs and the series of steps under one set of roofs, and the places of their points.
json figures_json(const Study& study, const Roofs& roofs, const std::vector<const Placement*>& placements,
                  const std::map<std::string, std::string>& names, std::map<const Placement*, Places>& places)
{
    std::vector<const Placement*> layers;
    std::map<std::string, Seconds> steps;
    for (const Placement* p : placements) {
        if (p->scope == Scope::step) steps[p->row] = p->seconds.median;
        if (p->scope == Scope::layer && !p->levels.empty() && !p->binds.empty()) layers.push_back(p);
    }
    const Figure times = time_figure("all steps", layers, steps);
    Figure roofline =
        roofs_figure("Roofline", roofs, frame_of(study.ceilings).value_or(whole_frame), &study.calibration.machine);
    add_other_roofs(roofline, study, roofs);
    add_placements(roofline, placements, true);
    add_baseline(roofline, study);
    for (Mark& mark : roofline.marks) {
        if (mark.of->scope == Scope::step) mark.name = names.at(mark.of->row);
        places[mark.of].roofline.push_back(mark);
    }
    for (const Mark& mark : times.marks) places[mark.of].time = mark;
    const auto numbers = [&](const Curve& curve) {
        return mapped(curve.marks, [&](std::size_t mark) { return places.at(roofline.marks[mark].of).number; });
    };
    return {{"roofline", to_json(roofline)}, {"time", to_json(times)}, {"series", mapped(roofline.curves, numbers)}};
}

json study_data(const Study& study, const std::map<std::string, std::string>& names)
{
    json object{{"name", json_text(study.results.folder.filename().string())},
                {"sentence", json_text(steps_sentence(study, measured_steps(study.results.rows)))},
                {"calibrated", json_text(fmt::format("{} {}", name(study.ceilings.known()), calibration_date(study)))},
                {"rows", json::array()},
                {"roofs", json::array()},
                {"figures", json::array()}};
    std::vector<Roofs> sets;  // those of the most threads of every device, then those of the rows
    for (const std::string& device : devices_of(study.ceilings)) index_in(sets, roofs_of(study.ceilings, device));
    std::map<std::string, std::pair<std::size_t, const Measurement*>> rows;
    std::map<std::string, int> roofs_of_row;
    for (const Measurement* row : measured_steps(study.results.rows)) {
        rows[row->id()] = {rows.size(), row};
        roofs_of_row[row->id()] = index_in(sets, roofs_under(study, *row));
        object["rows"].push_back(row_json(study, *row, roofs_of_row[row->id()]));
    }
    std::vector<const Placement*> shown;
    std::map<const Placement*, Places> places;
    for (const Placement& p : study.placements) {
        if (p.scope == Scope::layer && study.without_layers.contains(p.row)) continue;
        places[&p].number = shown.size();
        shown.push_back(&p);
    }
    for (std::size_t i = 0; i < sets.size(); ++i) {
        std::vector<const Placement*> under;
        std::ranges::copy_if(shown, std::back_inserter(under),
                             [&](const Placement* p) { return roofs_of_row.at(p->row) == static_cast<int>(i); });
        object["roofs"].push_back(roofs_json(sets[i], study.calibration.machine));
        object["figures"].push_back(figures_json(study, sets[i], under, names, places));
    }
    Points points;
    for (const Placement* p : shown) {
        const auto& [number, row] = rows.at(p->row);
        points.add(*p, number, row->seconds.median, places.at(p));
    }
    points.write(object);
    return object;
}

}  // namespace

json page_json(std::span<const Study> studies)
{
    json list = json::array();
    const std::vector<std::map<std::string, std::string>> names = names_of_steps(studies);
    for (const Study& study : studies) list.push_back(study_data(study, names[list.size()]));
    return {{"studies", std::move(list)}};
}

std::string script_text(const json& document)
{
    return with_replaced(json_document(document, -1), {{'<', "\\u003c"}, {'>', "\\u003e"}, {'&', "\\u0026"}});
}

std::string_view page_script()
{
    return {roof_page_script_begin, roof_page_script_end};
}

std::string_view page_script_hash()
{
    return {roof_page_hash_begin, roof_page_hash_end};
}

}  // namespace roof::analysis
