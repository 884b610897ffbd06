// The data of the page as JSON, with a column for each number of the points.
#include "analysis/report/report.hpp"
#include "analysis/roofline/roofs.hpp"
#include "analysis/study/ceilings/ceiling_tables.hpp"
#include "analysis/study/steps/answer.hpp"
#include "analysis/study/steps/verdict.hpp"
#include "analysis/table/html.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/rows.hpp"
#include "analysis/table/table.hpp"
#include "ert/base/text.hpp"

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

json json_texts(const std::vector<std::string>& texts)
{
    json list = json::array();
    for (const std::string& text : texts) list.push_back(json_text(text));
    return list;
}

json roof_json(const Ceiling& roof, const Machine& machine)
{
    json object = to_json(Range::of(roof.rate));
    object[roof.kind == Role::bandwidth ? "name" : "precision"] = json_text(level_or_precision(roof));
    object["operation"] = json_text(roof.operation);
    object["isa"] = json_text(roof.isa);
    object["n"] = roof.rate.n;
    object["how"] = fmt::format("{}{}", name(roof.known), roof.devices > 1 ? ", added" : "");
    const std::optional<double> share = share_of_spec(roof, machine);
    object["spec"] = share && *share > 0 ? json_number(roof.rate.median.value / *share) : json(nullptr);
    return object;
}

json roofs_json(const Roofs& roofs, const Machine& machine)
{
    json levels = json::array();
    json compute = json::array();
    for (const Ceiling* roof : roofs.levels) levels.push_back(roof_json(*roof, machine));
    for (const Ceiling* roof : roofs.compute) compute.push_back(roof_json(*roof, machine));
    json mixes = json::array();
    for (const Ceiling* roof : roofs.mixes) mixes.push_back(roof_json(*roof, machine));
    return {{"device", json_text(roofs.device)}, {"owner", json_text(owner_of(machine, roofs.device))},
            {"threads", roofs.threads},          {"levels", std::move(levels)},
            {"compute", std::move(compute)},     {"mixes", std::move(mixes)}};
}

/// The roofs of each device and thread count, once each. The most threads of every device are always included.
class RoofSets {
  public:
    explicit RoofSets(const Study& study) : study_(study)
    {
        for (const std::string& device : devices_of(study.ceilings)) add(roofs_of(study.ceilings, device));
    }

    /// Index of the row's roofs; -1 without roofs.
    int of(const Measurement& row) { return add(roofs_of(ceilings_over(study_, row), row.device, threads_of(row))); }
    const json& list() const { return list_; }
    const std::vector<Roofs>& all() const { return all_; }

  private:
    int add(const Roofs& roofs)
    {
        if (roofs.empty()) return -1;
        const auto [at, is_new] =
            numbers_.try_emplace({roofs.device, roofs.threads, roofs.lasting()}, static_cast<int>(list_.size()));
        if (is_new) {
            list_.push_back(roofs_json(roofs, study_.calibration.machine));
            all_.push_back(roofs);
        }
        return at->second;
    }

    const Study& study_;
    std::map<std::tuple<std::string, int, bool>, int> numbers_;
    std::vector<Roofs> all_;
    json list_ = json::array();
};

json row_json(const Study& study, const Measurement& row, int roofs)
{
    const Placement* const step = step_placement(study.placements, row);
    const std::optional<RoofLine> line =
        step == nullptr ? std::nullopt
                        : own_roof(*step, roofs_of(ceilings_over(study, row), row.device, threads_of(row)));
    return {{"id", json_text(row.id())},
            {"model", json_text(model_of(row))},
            {"batch", batch_of(row)},
            {"precision", json_text(precision_of(row))},
            {"device", json_text(row.device)},
            {"title", json_text(step_title(row, study.results.rows))},
            {"where", json_text(where_text(row, study.results.rows))},
            {"step_images", row.images()},
            {"ranks", row.ranks()},
            {"scaling", scaling_name(row)},
            {"data", json_text(data_of(row))},
            {"threads", threads_of(row)},
            {"how", name(row.time_known)},
            {"seconds", to_json(Range::of(row.seconds))},
            {"images", json_number(row.images_per_second())},
            {"memory", json_number(row.memory.value)},
            {"sentence", json_text(answer_sentence(study, row))},
            {"own_roof", line ? to_json(*line) : json(nullptr)},
            {"roofs", roofs}};
}

std::string range_text(const LevelBytes& bytes)
{
    return fmt::format("{} ({})", bytes_text(bytes), roof::name(bytes.known));
}

/// The arithmetic, then the bytes of the levels, and why.
std::string explanation_of(const Placement& p)
{
    std::string text = explain(p), before;
    if (!p.note.empty())
        text += fmt::format(" {}{}.", static_cast<char>(std::toupper(p.note.front())), p.note.substr(1));
    for (std::size_t i = 0; i < p.moved.size(); ++i) {
        const std::string bytes = range_text(p.moved[i]);
        text += fmt::format("{}{}{}",
                            i == 0            ? " Bytes: "
                            : bytes == before ? " and "
                                              : ", ",
                            p.levels[i].level,
                            i + 1 < p.moved.size() && range_text(p.moved[i + 1]) == bytes ? "" : " " + bytes);
        before = bytes;
    }
    if (!p.moved.empty()) text += ".";
    return text + remarks_on(p);
}

/// The columns of the points and the texts they index.
class Points {
  public:
    void add(const Placement& p, std::size_t row, Seconds step)
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
        json rates = json::array();
        for (const LevelPlacement& level : p.levels) rates.push_back(json_number(level.roof.value));
        column("rates", rates_(rates));
        column("attainable", json_number(p.attainable.value));
        column("text", json_text(explanation_of(p)));
        column("cells", p.scope == Scope::phase ? json(nullptr) : json_texts(cells_of(p, step)));
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

/// A step in words, and beside its mark.
struct StepTexts {
    std::string title, name;
};

/// By study and row. No two names are the same, unless the names of their studies are.
std::vector<std::map<std::string, StepTexts>> texts_of_steps(std::span<const Study> studies)
{
    std::vector<const Measurement*> all;
    for (const Study& study : studies) std::ranges::copy(measured_steps(study.results.rows), std::back_inserter(all));
    std::map<std::string, int> uses;
    std::vector<std::map<std::string, StepTexts>> texts;
    for (const Study& study : studies) {
        texts.emplace_back();
        for (const Measurement* row : measured_steps(study.results.rows)) {
            const std::string name = step_name(*row, all);
            ++uses[name];
            texts.back()[row->id()] = {step_title(*row, study.results.rows), name};
        }
    }
    for (std::size_t i = 0; i < studies.size(); ++i)
        for (auto& [row, text] : texts[i])
            if (uses[text.name] > 1) text.name += ", " + studies[i].results.folder.filename().string();
    return texts;
}

/// The roofline and the times of every step under one set of roofs.
json figures_json(const Study& study, const Roofs& roofs, const std::map<std::string, int>& roofs_of_row,
                  const std::map<std::string, StepTexts>& texts, std::size_t index, std::size_t number)
{
    std::vector<const Placement*> placements, layers;
    std::map<std::string, Seconds> steps;
    for (const Placement& p : study.placements) {
        if (roofs_of_row.at(p.row) != static_cast<int>(index)) continue;
        placements.push_back(&p);
        if (p.scope == Scope::step) steps[p.row] = p.seconds.median;
        if (p.scope == Scope::layer && !p.levels.empty() && !p.binds.empty()) layers.push_back(&p);
    }
    Figure times = time_figure("all steps", layers, steps);
    const Frame frame = frame_of(study.ceilings).value_or(Frame{{0.01, 1e4}, {1e6, 1e15}});
    Figure roofline = roofs_figure("Roofline", roofs, frame, &study.calibration.machine);
    add_other_roofs(roofline, study, roofs);
    add_placements(roofline, placements, true);
    add_baseline(roofline, study);
    for (Mark& mark : times.marks) mark.name.clear();  // as in the roofline
    for (Figure* figure : {&roofline, &times})
        for (Mark& mark : figure->marks) {
            mark.key = fmt::format("{}:{}", number, mark.of - study.placements.data());
            // The page has the name, the time and the rate in the point's cells.
            if (mark.of->scope == Scope::layer) mark.title.erase(0, std::min(mark.title.find("; "), mark.title.size()));
            if (mark.of->scope != Scope::step) continue;
            mark.title = texts.at(mark.of->row).title + ": " + mark.title;
            mark.name = texts.at(mark.of->row).name;
        }
    return {{"roofline", to_json(roofline)}, {"time", to_json(times)}};
}

json study_data(const Study& study, const std::map<std::string, StepTexts>& texts, std::size_t number)
{
    json object{{"name", json_text(study.results.folder.filename().string())},
                {"calibrated", json_text(fmt::format("{} {}", name(study.ceilings.known()), calibration_date(study)))},
                {"rows", json::array()}};
    RoofSets sets(study);
    std::map<std::string, std::size_t> rows;
    std::map<std::string, Seconds> steps;
    std::map<std::string, int> roofs_of_row;
    for (const Measurement* row : measured_steps(study.results.rows)) {
        rows[row->id()] = rows.size();
        steps[row->id()] = row->seconds.median;
        roofs_of_row[row->id()] = sets.of(*row);
        object["rows"].push_back(row_json(study, *row, roofs_of_row[row->id()]));
    }
    Points points;
    for (const Placement& p : study.placements) points.add(p, rows.at(p.row), steps.at(p.row));
    points.write(object);
    object["roofs"] = sets.list();
    object["figures"] = json::array();
    for (std::size_t i = 0; i < sets.all().size(); ++i)
        object["figures"].push_back(figures_json(study, sets.all()[i], roofs_of_row, texts, i, number));
    return object;
}

}  // namespace

json page_json(std::span<const Study> studies)
{
    json list = json::array();
    const std::vector<std::map<std::string, StepTexts>> texts = texts_of_steps(studies);
    for (const Study& study : studies) list.push_back(study_data(study, texts[list.size()], list.size()));
    json trajectories = json::array();
    for (const Figure& figure : trajectory_figures(studies)) trajectories.push_back(to_json(figure));
    return {{"studies", std::move(list)}, {"trajectories", std::move(trajectories)}};
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
