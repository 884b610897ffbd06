#include "analysis/report/page_data.hpp"

#include "analysis/roofline/roofs.hpp"
#include "analysis/study/ceiling_tables.hpp"
#include "analysis/study/summary.hpp"
#include "analysis/table/html.hpp"
#include "analysis/table/rows.hpp"
#include "analysis/table/table.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <map>
#include <utility>

// Defined by the generated page_script.S, which includes the bundle's bytes.
extern "C" const char roof_page_script_begin[], roof_page_script_end[];
extern "C" const char roof_page_hash_begin[], roof_page_hash_end[];

namespace roof::analysis {

using nlohmann::json;

namespace {

/// Texts that many points share. Each is written once; points hold its index.
class SharedTexts {
  public:
    std::size_t operator()(const std::string& text)
    {
        const auto [at, is_new] = numbers_.try_emplace(text, list_.size());
        if (is_new) list_.push_back(json_text(text));
        return at->second;
    }
    const json& list() const { return list_; }

  private:
    std::map<std::string, std::size_t> numbers_;
    json list_ = json::array();
};

json roof_json(const Ceiling& roof, const Machine& machine)
{
    json object = to_json(Range::of(roof.rate));
    object[roof.kind == Role::bandwidth ? "name" : "precision"] = json_text(level_or_precision(roof));
    object["operation"] = json_text(roof.operation);
    object["isa"] = json_text(roof.isa);
    object["n"] = roof.rate.n;
    object["how"] = timed(roof.variant);
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
    int of(const Measurement& row) { return add(roofs_of(study_.ceilings, row.device, threads_of(row))); }
    const json& list() const { return list_; }

  private:
    int add(const Roofs& roofs)
    {
        if (roofs.empty()) return -1;
        const auto [at, is_new] = numbers_.try_emplace({roofs.device, roofs.threads}, static_cast<int>(list_.size()));
        if (is_new) list_.push_back(roofs_json(roofs, study_.calibration.machine));
        return at->second;
    }

    const Study& study_;
    std::map<std::pair<std::string, int>, int> numbers_;
    json list_ = json::array();
};

json row_json(const Study& study, const Measurement& row, int roofs)
{
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
            {"how", timed(row.description)},
            {"seconds", to_json(Range::of(row.seconds))},
            {"images", json_number(row.images_per_second())},
            {"memory", json_number(row.memory.value)},
            {"sentence", json_text(verdict_sentence(study, row))},
            {"roofs", roofs}};
}

/// The columns of the points and the texts they index.
class Points {
  public:
    void add(const Placement& p, std::size_t row)
    {
        column("row", row);
        column("scope", static_cast<int>(p.scope));
        column("phase", p.phase ? static_cast<int>(*p.phase) + 1 : 0);
        column("bound", static_cast<int>(p.bound()));
        column("name", names_(p.name));
        column("kind", kinds_(p.kind));
        column("note", notes_(p.note));
        column("median", json_number(p.seconds.median.value));
        column("low", json_number(p.seconds.low.value));
        column("high_seconds", json_number(p.seconds.high.value));
        column("flops", json_number(p.flops.value));
        column("executed", p.executed == p.flops ? json(0) : json_number(p.executed.value));
        column("compulsory", json_number(p.levels.empty() ? 0 : p.levels.front().low.value));
        column("high", bytes_of(p));
        column("moved", moved_in(p));
        column("attainable", json_number(p.attainable.value));
        column("at_most", p.is_at_most);
        column("served", served_by(p));
        column("bottlenecks", bottlenecks_of(p));
    }

    void write(json& study) const
    {
        study["points"] = columns_;
        study["names"] = names_.list();
        study["kinds"] = kinds_.list();
        study["notes"] = notes_.list();
        study["roofNames"] = roof_names_.list();
        study["scopes"] = {name(Scope::step), name(Scope::phase), name(Scope::layer)};
        study["phases"] = {"", roof::name(Phase::forward), roof::name(Phase::backward), roof::name(Phase::update)};
        study["bounds"] = json::array();
        for (const Bound bound : all_bounds) study["bounds"].push_back(name(bound));
    }

  private:
    void column(const char* name, json value) { columns_[name].push_back(std::move(value)); }

    static json bytes_of(const Placement& p)
    {
        json list = json::array();
        for (const LevelPlacement& level : p.levels) list.push_back(json_number(level.high.value));
        return list;
    }

    /// The number of the level, from 1; 0 for none.
    static std::size_t served_by(const Placement& p)
    {
        const auto level = std::ranges::find(p.levels, p.served_by, &LevelPlacement::level);
        return level == p.levels.end() ? 0 : static_cast<std::size_t>(level - p.levels.begin()) + 1;
    }

    /// [low, high, how it is known] of each level, in whole bytes; null if not known.
    static json moved_in(const Placement& p)
    {
        if (p.moved.empty()) return nullptr;
        json list = json::array();
        for (const LevelBytes& bytes : p.moved)
            list.push_back({std::llround(bytes.low.value), std::llround(bytes.high.value), roof::name(bytes.known)});
        return list;
    }

    json bottlenecks_of(const Placement& p)
    {
        json list = json::array();
        for (const Bottleneck& one : p.bottlenecks) list.push_back({roof_names_(one.roof), one.share});
        return list;
    }

    SharedTexts names_, kinds_, notes_, roof_names_;
    json columns_ = {{"row", json::array()}};
};

json study_data(const Study& study)
{
    json object{{"name", json_text(study.results.folder.filename().string())},
                {"known", study.placements.empty() ? "" : roof::name(study.placements.front().known)},
                {"rows", json::array()}};
    RoofSets sets(study);
    std::map<std::string, std::size_t> rows;
    for (const Measurement* row : step_rows(study.results.rows)) {
        if (row->status != Status::ok) continue;
        rows[row->id()] = rows.size();
        object["rows"].push_back(row_json(study, *row, sets.of(*row)));
    }
    Points points;
    for (const Placement& p : study.placements) points.add(p, rows.at(p.row));
    points.write(object);
    object["roofs"] = sets.list();
    return object;
}

}  // namespace

json page_json(std::span<const Study> studies)
{
    json list = json::array();
    for (const Study& study : studies) list.push_back(study_data(study));
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
