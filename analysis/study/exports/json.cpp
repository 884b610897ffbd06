#include "analysis/study/exports/export.hpp"

#include "analysis/roofline/roofs.hpp"
#include "analysis/study/ceilings/ceiling_tables.hpp"
#include "analysis/study/steps/answer.hpp"
#include "analysis/study/steps/verdict.hpp"
#include "analysis/study/tables.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/rows.hpp"
#include "analysis/table/table.hpp"
#include "ert/base/ranges.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/machine_fields.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

namespace roof::analysis {

using nlohmann::json;

namespace {

json positive_or_null(double value)
{
    return value > 0 ? json_number(value) : json(nullptr);
}

/// Writes the fields of a machine as its file has them. An empty text and an amount that is not known are null.
struct Fields {
    json object = json::object();

    void operator()(const char* key, const std::string& text) { object[key] = text_or_null(text); }
    void operator()(const char* key, int value) { object[key] = value; }
    void operator()(const char* key, bool value) { object[key] = value; }
    void operator()(const char* key, double value) { object[key] = json_number(value); }
    template <int F, int B, int T>
    void operator()(const char* key, Quantity<F, B, T> value)
    {
        object[key] = positive_or_null(value.value);
    }
    void operator()(const char* key, const std::vector<std::string>& words) { object[key] = json_texts(words); }
    void operator()(const char* key, const std::map<std::string, std::string>& facts)
    {
        object[key] = json::object();
        for (const auto& [name, value] : facts) object[key][json_text(name)] = json_text(value);
    }
    template <class Struct>
    void operator()(const char* key, const std::vector<Struct>& list)
    {
        object[key] = json::array();
        for (const Struct& entry : list) {
            Fields inner;
            list_fields(inner, entry);
            object[key].push_back(std::move(inner.object));
        }
    }
};

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
            {"known", name(c.known)},
            {"variant", text_or_null(c.variant)},
            {"clock_hertz", c.clock.median.value > 0 ? to_json(c.clock) : json(nullptr)},
            {"per_clock_and_core", positive_or_null(per_clock_and_core(c, machine))},
            {"spec_per_clock_and_core", spec ? json_number(spec->per_clock) : json(nullptr)},
            {"share_of_spec", share ? json_number(*share) : json(nullptr)},
            {"steadiness", name(c.steadiness)},
            {"rounds", c.rounds},
            {"looks", c.times > 0 ? json(c.times) : json(nullptr)},
            {"looks_over_seconds", c.times > 0 ? json_number(c.over.value) : json(nullptr)},
            {"seconds_per_access", c.kind == Role::latency ? json_number(c.per_access().value) : json(nullptr)},
            {"nearer_share", positive_or_null(c.nearer_share)},
            {"stands_in", text_or_null(c.stands_in)},
            {"point", text_or_null(c.point)}};
}

json levels_json(const std::vector<MeasuredLevel>& levels)
{
    return mapped(levels, [](const MeasuredLevel& level) -> json {
        return {{"device", json_text(level.device)},
                {"name", json_text(level.name)},
                {"threads", level.threads},
                {"from_bytes", json_number(level.from.value)},
                {"to_bytes", json_number(level.to.value)},
                {"beyond_bytes", positive_or_null(level.beyond.value)},
                {"reported_bytes", positive_or_null(level.reported.value)},
                {"sharing", name(level.sharing)},
                {"contradiction", level.contradiction}};
    });
}

json answer_json(const StepAnswer& answer)
{
    if (answer.headline.empty()) return nullptr;
    const auto action = [](const Action& one) -> json {
        return {{"action", json_text(one.what)},
                {"seconds", json_number(one.seconds.value)},
                {"sense", trim(one.sense)},
                {"known", one.known}};
    };
    return {{"headline", json_text(answer.headline)},
            {"roofs", text_or_null(answer.roofs)},
            {"actions", mapped(answer.actions, action)}};
}

}  // namespace

json machine_json(const Machine& machine)
{
    Fields fields;
    list_fields(fields, machine);
    for (const char* const count : {"family", "sockets", "cores", "threads", "smt", "numa_nodes"})
        if (fields.object[count] == 0) fields.object[count] = nullptr;
    return fields.object;
}

json roofs_json(const Ceilings& ceilings, const Machine& machine)
{
    json all = json::array();
    for (const std::string& device : devices_of(ceilings)) {
        const Roofs roofs = roofs_of(ceilings, device);
        for (const auto* const list : {&roofs.levels, &roofs.compute})
            for (const Ceiling* const roof : *list) all.push_back(ceiling_json(*roof, machine));
    }
    return all;
}

json ceilings_json(const Ceilings& ceilings, const Machine& machine)
{
    const auto of_machine = [&](const Ceiling& ceiling) { return ceiling_json(ceiling, machine); };
    return {{"machine", machine_json(machine)},
            {"ceilings", mapped(ceilings.all, of_machine)},
            {"roofs", roofs_json(ceilings, machine)},
            {"levels", levels_json(ceilings.levels)},
            {"levels_by_threads", levels_json(ceilings.levels_by_threads)},
            {"above_spec", json_texts(above_spec(ceilings, machine))}};
}

json samples_json(std::span<const Measurement> rows)
{
    const Disturbed found = disturbed_of(rows);
    json reasons = json::object();
    for (const auto& [reason, number] : found.reasons) reasons[json_text(reason)] = number;
    return {{"taken", found.taken}, {"disturbed", reasons}};
}

json study_json(const Study& study)
{
    json document = {{"version", json_version}, {"rows", to_json(verdict_table(study))}};
    const std::vector<const Measurement*> steps = step_rows(study.results.rows);
    for (std::size_t i = 0; i < steps.size(); ++i) {
        json& fields = document["rows"][i];
        for (json& value : fields)
            if (value == "") value = nullptr;
        fields["losses"] = mapped(steps[i]->losses(), json_number);
        fields["answer"] = answer_json(answer_of(study, *steps[i]));
    }
    document["calibration"] = nullptr;
    if (!study.calibration.folder.empty())
        document["calibration"] = {
            {"folder", json_text(study.calibration.folder.string())},
            {"date", text_or_null(calibration_date(study))},
            {"quality", json_text(calibration_quality(study.ceilings, calibration_rows(study)))},
            {"missing_roofs", json_texts(missing_roofs(study.ceilings, calibration_rows(study)))}};
    document["damage"] = json_texts(all_damage(study));
    document["points_above_a_roof"] = above_their_roof(study).size();
    return document;
}

namespace {

enum Track { process_itself, step_track, phase_track, layer_track };

/// Times in whole nanoseconds add up exactly, so slices do not overlap.
long long nanoseconds(double seconds)
{
    return std::llround(std::max(0.0, seconds) * 1e9);
}

json event(const char* kind, Track track, const std::string& name, json arguments)
{
    return {{"ph", kind}, {"name", json_text(name)}, {"pid", 1}, {"tid", track}, {"args", std::move(arguments)}};
}

json slice(Track track, const std::string& name, long long from, long long length, json arguments)
{
    json made = event("X", track, printable(name), std::move(arguments));
    made["ts"] = static_cast<double>(from) / 1000;
    made["dur"] = static_cast<double>(length) / 1000;
    return made;
}

json arguments_of(const Placement& p)
{
    return {{"kind", json_text(p.kind)},
            {"phase", p.phase_name()},
            {"implementation", json_text(p.implementation)},
            {"flops", json_number(p.flops.value)},
            {"time", with_interval(p.seconds, "s")},
            {"bound", json_text(bottleneck_text(p))},
            {"reached", p.binds.empty() ? "-" : share_text(p)}};
}

}  // namespace

json trace_of(const Study& study, const Measurement& row)
{
    const std::array<std::pair<Phase, const Estimate<Seconds>*>, 3> phases{
        {{Phase::forward, &row.forward}, {Phase::backward, &row.backward}, {Phase::update, &row.update}}};
    const std::string id = row.id();
    json events = json::array({event("M", process_itself, "process_name", {{"name", json_text(row.device)}})});
    for (const auto& [track, name] :
         {std::pair{step_track, "step"}, {phase_track, "phases"}, {layer_track, "layers, end to end"}})
        events.push_back(event("M", track, "thread_name", {{"name", name}}));
    long long now = 0;
    for (const auto& [phase, seconds] : phases) {
        const long long begin = now;
        for (const Placement* p : layers_of(study.placements, row)) {
            if (p->phase != phase) continue;
            const long long length = nanoseconds(p->seconds.median.value);
            events.push_back(slice(layer_track, p->name, now, length, arguments_of(*p)));
            now += length;
        }
        now = std::max(now, begin + nanoseconds(seconds->median.value));
        if (now > begin)
            events.push_back(slice(phase_track, std::string(roof::name(phase)), begin, now - begin, json::object()));
    }
    const long long length = std::max(now, nanoseconds(row.seconds.median.value));
    events.push_back(slice(step_track, id, 0, length, {{"time", with_interval(row.seconds, "s")}}));
    return {
        {"traceEvents", std::move(events)},
        {"displayTimeUnit", "ms"},
        {"otherData",
         {{"row", json_text(id)},
          {"note",
           "medians over all launches, laid end to end in the order the layers run; not a recording of one step"}}}};
}

}  // namespace roof::analysis
