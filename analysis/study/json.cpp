#include "analysis/study/json.hpp"

#include "analysis/study/ceiling_tables.hpp"
#include "analysis/study/scaling.hpp"
#include "analysis/study/spec_rate.hpp"
#include "analysis/study/verdict.hpp"
#include "analysis/table/rows.hpp"
#include "analysis/table/table.hpp"
#include "analysis/table/timed.hpp"

#include <nlohmann/json.hpp>

#include <map>
#include <optional>

namespace roof::analysis {

using nlohmann::json;

namespace {

json text_or_null(const std::string& text)
{
    return text.empty() ? json(nullptr) : json(json_text(text));
}
json positive_or_null(double value)
{
    return value > 0 ? json_number(value) : json(nullptr);
}

json texts(const std::vector<std::string>& words)
{
    json list = json::array();
    for (const std::string& word : words) list.push_back(json_text(word));
    return list;
}

json facts(const std::map<std::string, std::string>& map)
{
    json object = json::object();
    for (const auto& [key, value] : map) object[json_text(key)] = json_text(value);
    return object;
}

json spec_json(const std::vector<SpecRate>& rates)
{
    json list = json::array();
    for (const SpecRate& spec : rates)
        list.push_back({{"kind", json_text(spec.kind)},
                        {"level", json_text(spec.level)},
                        {"operation", json_text(spec.operation)},
                        {"isa", text_or_null(spec.isa)},
                        {"precision", text_or_null(spec.precision)},
                        {"per_clock", json_number(spec.per_clock)},
                        {"source", json_text(spec.source)}});
    return list;
}

json device_json(const Device& device)
{
    json levels = json::array();
    for (const MemoryLevel& level : device.levels)
        levels.push_back({{"name", json_text(level.name)},
                          {"capacity_bytes", positive_or_null(level.capacity.value)},
                          {"instances", level.instances},
                          {"shared_by", level.shared_by}});
    return {{"name", json_text(device.name)},
            {"kind", json_text(device.kind)},
            {"model", text_or_null(device.model)},
            {"memory_bytes", positive_or_null(device.memory.value)},
            {"memory_available_bytes", positive_or_null(device.memory_available.value)},
            {"levels", levels},
            {"spec_rates", spec_json(device.spec_rates)},
            {"facts", facts(device.facts)}};
}

json clock_json(const Estimate<Hertz>& clock)
{
    if (clock.median.value <= 0) return nullptr;
    return {{"median", json_number(clock.median.value)},
            {"low", json_number(clock.low.value)},
            {"high", json_number(clock.high.value)}};
}

json ceiling_json(const Ceiling& c, const Machine& machine)
{
    const SpecRate* const spec = spec_rate_of(c, machine);
    const std::optional<double> share = share_of_spec(c, machine);
    return {{"device", json_text(c.device)},
            {"kind", name(c.kind)},
            {"level", text_or_null(c.level)},
            {"operation", text_or_null(c.operation)},
            {"precision", text_or_null(c.precision)},
            {"isa", text_or_null(c.isa)},
            {"condition", text_or_null(c.condition)},
            {"threads", c.threads},
            {"median", json_number(c.rate.median.value)},
            {"low", json_number(c.rate.low.value)},
            {"high", c.steadiness == Steadiness::at_least ? json(nullptr) : json_number(c.rate.high.value)},
            {"n", c.rate.n},
            {"unit", c.unit()},
            {"working_set_bytes", positive_or_null(c.working_set.value)},
            {"known", timed(c.variant)},
            {"variant", text_or_null(c.variant)},
            {"clock_hertz", clock_json(c.clock)},
            {"per_clock_and_core", positive_or_null(per_clock_and_core(c, machine))},
            {"spec_per_clock_and_core", spec ? json_number(spec->per_clock) : json(nullptr)},
            {"share_of_spec", share ? json_number(*share) : json(nullptr)},
            {"steadiness", name(c.steadiness)},
            {"rounds", c.rounds},
            {"seconds_per_access", c.kind == Role::latency ? json_number(c.per_access().value) : json(nullptr)},
            {"point", text_or_null(c.point)}};
}

json levels_json(const std::vector<MeasuredLevel>& levels)
{
    json list = json::array();
    for (const MeasuredLevel& level : levels)
        list.push_back({{"device", json_text(level.device)},
                        {"name", json_text(level.name)},
                        {"threads", level.threads},
                        {"from_bytes", json_number(level.from.value)},
                        {"to_bytes", json_number(level.to.value)},
                        {"beyond_bytes", positive_or_null(level.beyond.value)},
                        {"reported_bytes", positive_or_null(level.reported.value)},
                        {"sharing", name(level.sharing)},
                        {"contradiction", level.contradiction}});
    return list;
}

/// The communication of a step of several ranks.
json ranks_json(const Measurement& row)
{
    json fields = {{"count", row.ranks()}};
    if (row.status != Status::ok) return fields;
    fields["exposed_seconds"] = json_number(row.exposed.median.value);
    fields["hidden_seconds"] = json_number(row.hidden.median.value);
    fields["message_bytes"] = json_number(row.messages.value);
    fields["bus_bytes_per_second"] = json_number(bus_bandwidth(row).value);
    fields["variant"] = text_or_null(row.variant);
    return fields;
}

json row_json(const Measurement& row)
{
    const bool ok = row.status == Status::ok;
    const auto seconds = [](const Estimate<Seconds>& e) { return positive_or_null(e.median.value); };
    json losses = json::array();
    for (const double loss : row.losses()) losses.push_back(json_number(loss));
    json step = nullptr;
    if (ok)
        step = {{"median", json_number(row.seconds.median.value)},
                {"low", json_number(row.seconds.low.value)},
                {"high", json_number(row.seconds.high.value)},
                {"n", row.seconds.n}};
    json fields = {
        {"model", json_text(model_of(row))},
        {"batch", batch_of(row) > 0 ? json(batch_of(row)) : json(nullptr)},
        {"precision", text_or_null(precision_of(row))},
        {"device", json_text(row.device)},
        {"data", row.point.has("data") ? text_or_null(row.point.text("data")) : json(nullptr)},
        {"status", name(row.status)},
        {"known", timed(row.description)},
        {"reason", text_or_null(row.reason)},
        {"unstable", is_unstable(row)},
        {"remarks", text_or_null(row.remarks)},
        {"step_seconds", step},
        {"phase_seconds",
         {{"forward", seconds(row.forward)}, {"backward", seconds(row.backward)}, {"update", seconds(row.update)}}},
        {"data_seconds", ok ? json_number(row.data.median.value) : json(nullptr)},
        {"images_per_second", ok ? positive_or_null(row.images_per_second()) : json(nullptr)},
        {"images_per_second_median_step",
         ok ? positive_or_null(row.images_per_second_of_median_step()) : json(nullptr)},
        {"losses", losses},
        {"flops_per_second", ok ? json_number(row.flop_rate().value) : json(nullptr)},
        {"peak_memory_bytes", positive_or_null(row.memory.value)}};
    if (row.ranks() > 1) fields["ranks"] = ranks_json(row);
    return fields;
}

}  // namespace

json machine_json(const Machine& machine)
{
    json devices = json::array();
    for (const Device& device : machine.devices) devices.push_back(device_json(device));
    json capabilities = json::array();
    for (const Capability& capability : machine.capabilities)
        capabilities.push_back({{"name", json_text(capability.name)},
                                {"present", capability.present},
                                {"reason", text_or_null(capability.reason)},
                                {"remedy", text_or_null(capability.remedy)}});
    return {{"name", json_text(machine.name)},
            {"cpu_model", text_or_null(machine.cpu_model)},
            {"vendor", text_or_null(machine.vendor)},
            {"family", machine.family},
            {"model", machine.model},
            {"stepping", machine.stepping},
            {"sockets", machine.sockets},
            {"cores", machine.cores},
            {"threads", machine.threads},
            {"threads_per_core", machine.smt},
            {"numa_nodes", machine.numa_nodes},
            {"isa", texts(machine.isa)},
            {"features", texts(machine.features)},
            {"hypervisor", text_or_null(machine.hypervisor)},
            {"governor", text_or_null(machine.governor)},
            {"huge_pages", text_or_null(machine.huge_pages)},
            {"clock_reported_hertz", positive_or_null(machine.clock_reported.value)},
            {"devices", devices},
            {"capabilities", capabilities},
            {"inconsistencies", texts(machine.inconsistencies)},
            {"versions", facts(machine.versions)}};
}

json ceilings_json(const Ceilings& ceilings, const Machine& machine)
{
    json all = json::array();
    for (const Ceiling& ceiling : ceilings.all) all.push_back(ceiling_json(ceiling, machine));
    return {{"machine", machine_json(machine)},
            {"ceilings", all},
            {"levels", levels_json(ceilings.levels)},
            {"levels_by_threads", levels_json(ceilings.levels_by_threads)},
            {"impossible", texts(impossible_ceilings(ceilings, machine))}};
}

json samples_json(std::span<const Measurement> rows)
{
    int taken = 0;
    std::map<std::string, int> disturbed;
    for (const Measurement& row : rows) {
        for (const Sample& sample : row.samples) {
            if (!sample.disturbance.empty()) ++disturbed[json_text(sample.disturbance)];
            if (sample.used || !sample.disturbance.empty()) ++taken;
        }
    }
    return {{"taken", taken}, {"disturbed", disturbed}};
}

json rows_json(std::span<const Measurement> rows)
{
    json list = json::array();
    for (const Measurement& row : rows)
        if (row.role == Role::step) list.push_back(row_json(row));
    return {{"rows", list}};
}

json study_json(const Study& study)
{
    json document = rows_json(study.results.rows);
    std::size_t at = 0;
    for (const Measurement& row : study.results.rows) {
        if (row.role != Role::step) continue;
        json& fields = document["rows"][at++];
        const Placement* const p = step_placement(study.placements, row);
        const bool is_placed = p != nullptr && !p->binds.empty();
        fields["share_of_attainable"] = is_placed ? json_number(p->fraction) : json(nullptr);
        fields["share_is_upper_bound"] = is_placed ? json(p->is_at_most) : json(nullptr);
        fields["share_of_peak"] = p != nullptr ? positive_or_null(p->share_of_peak()) : json(nullptr);
    }
    document["calibration"] = nullptr;
    if (!study.calibration.folder.empty())
        document["calibration"] = {{"folder", json_text(study.calibration.folder.string())},
                                   {"date", text_or_null(calibration_date(study))}};
    document["damage"] = texts(study.results.damage);
    document["points_above_a_roof"] = above_their_roof(study).size();
    return document;
}

}  // namespace roof::analysis
