#include "analysis/study/steps/whatif.hpp"

#include "analysis/roofline/roofs.hpp"
#include "analysis/study/steps/verdict.hpp"
#include "analysis/table/fitted_text.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/error.hpp"
#include "ert/base/ranges.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

namespace roof::analysis {
namespace {

constexpr long long most_images = 1 << 20;

struct Amounts {
    double flops;
    double bytes;
};

using Layers = std::vector<const Placement*>;

Layers placed_layers(const Study& study, const Measurement& row)
{
    Layers layers = layers_of(study.placements, row);
    std::erase_if(layers, [](const Placement* p) { return p->binds.empty(); });
    return layers;
}

Amounts amounts_of(const Placement& layer)
{
    return {layer.done().value, layer.levels.empty() ? 0 : layer.levels.front().low.value};
}

/// How many times a roof the change makes it.
double times_of(double rate, const std::string& name, const WhatIf& change)
{
    if (const auto other = change.rates.find(name); other != change.rates.end()) return other->second / rate;
    const auto factor = change.factors.find(name);
    return factor == change.factors.end() ? 1 : factor->second;
}

struct Limit {
    double time = 0;
    std::string roof;
};

/// `work` with the reads and writes of the layer. A level set to a rate is a level whose loops all change as its
/// fastest does.
Limit limit_of(const Amounts& work, const Placement& layer, const Roofs& roofs, const WhatIf& change)
{
    Limit limit;
    const auto offer = [&](double time, const std::string& roof) {
        if (time > limit.time) limit = {time, roof};
    };
    for (const LevelPlacement& level : layer.levels) {
        const double fastest = roofs.level(level.level)->rate.median.value;
        offer(work.bytes / (level.roof.value * times_of(fastest, level.level, change)), level.level);
    }
    if (const double rate = layer.compute_roof.value; rate > 0)
        offer(work.flops / (rate * times_of(rate, layer.precision, change)), layer.precision);
    return limit;
}

/// The roof with most of the time.
std::string binding(const std::map<std::string, double>& times)
{
    const auto most = std::ranges::max_element(times, {}, [](const auto& roof) { return roof.second; });
    return most == times.end() ? "" : most->first;
}

/// Another batch of the same series with as many layers, nearest by ratio; empty if there is none.
Layers second_batch(const Study& study, const Measurement& row, std::size_t count, long long& batch)
{
    std::vector<const Measurement*> others;
    for (const Measurement& other : study.results.rows)
        if (other.status == Status::ok && other.role == Role::step && batch_of(other) > 0 &&
            batch_of(other) != batch_of(row) && other.bench == row.bench && other.device == row.device &&
            other.point.without("batch") == row.point.without("batch"))
            others.push_back(&other);
    const auto apart = [&](const Measurement* other) {
        return std::abs(std::log(static_cast<double>(batch_of(*other)) / static_cast<double>(batch_of(row))));
    };
    std::stable_sort(others.begin(), others.end(), [&](auto* a, auto* b) { return apart(a) < apart(b); });
    for (const Measurement* other : others) {
        Layers layers = placed_layers(study, *other);
        batch = batch_of(*other);
        if (layers.size() == count) return layers;
    }
    return {};
}

Amounts at_batch(const Placement& layer, const Placement& other, double share)
{
    const Amounts a = amounts_of(layer);
    const Amounts b = amounts_of(other);
    const auto between = [share](double from, double to) { return std::max(0.0, from + (to - from) * share); };
    return {between(a.flops, b.flops), between(a.bytes, b.bytes)};
}

}  // namespace

Predicted what_if(const Study& study, const Measurement& row, const WhatIf& change)
{
    Predicted answer{.row = &row, .batch = change.batch > 0 ? change.batch : batch_of(row)};
    const Layers layers = placed_layers(study, row);
    const Placement* const step = step_placement(study.placements, row);
    if (step != nullptr && !step->levels.empty() && !(step->compute_roof.value > 0)) {
        answer.reason = "no compute roof of its precision was measured";
        return answer;
    }
    if (layers.empty()) {
        answer.reason = "its layers were not measured, or there are no ceilings";
        return answer;
    }
    long long second = 0;
    const bool moved = answer.batch != batch_of(row);
    const Layers others = moved ? second_batch(study, row, layers.size(), second) : Layers{};
    if (moved && others.empty()) {
        answer.reason =
            "another batch needs a second measured batch of the same model, precision, device and data: sweep over "
            "both";
        return answer;
    }
    const double share =
        moved ? static_cast<double>(answer.batch - batch_of(row)) / static_cast<double>(second - batch_of(row)) : 0;
    const Roofs roofs = roofs_of(ceilings_over(study, row), row.device, threads_of(row));
    answer.seconds = row.seconds.median;
    std::map<std::string, double> bound_before, bound_after;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const Amounts now = amounts_of(*layers[i]);
        const Amounts then = moved ? at_batch(*layers[i], *others[i], share) : now;
        const Limit before = limit_of(now, *layers[i], roofs, {});
        const Limit after = limit_of(then, *layers[i], roofs, change);
        const double taken = layers[i]->seconds.median.value;
        // A layer above its roof adds its own time, as in place().
        const double credited = taken > 0 && before.time > taken ? taken / before.time : 1;
        bound_before[before.roof] += before.time * credited;
        bound_after[after.roof] += after.time * credited;
        answer.least += Seconds{after.time * credited};
        if (before.time > 0) answer.seconds += Seconds{taken * (after.time / before.time - 1)};
    }
    answer.binds_before = binding(bound_before);
    answer.binds = binding(bound_after);
    return answer;
}

namespace {

std::vector<std::string> names_of_roofs(const Study& study)
{
    std::set<std::string> names{"batch"};
    for (const Ceiling& ceiling : study.ceilings.all) {
        if (ceiling.kind == Role::bandwidth) names.insert(ceiling.level);
        if (ceiling.kind == Role::compute) names.insert(ceiling.precision);
    }
    return {names.begin(), names.end()};
}

std::string unit_of(const Study& study, const std::string& roof)
{
    const bool computes = std::ranges::any_of(study.ceilings.all, [&](const Ceiling& ceiling) {
        return ceiling.kind == Role::compute && ceiling.precision == roof;
    });
    return computes ? "FLOP/s" : "B/s";
}

void set_roof(WhatIf& change, const std::string& name, const std::string& text, const std::string& unit)
{
    const bool is_factor = text.ends_with('x');
    const auto read = is_factor ? parse_number<double>(text.substr(0, text.size() - 1)) : parse_si(text, unit);
    const double value = read.value_or(0);
    if (!(value > 0) || !std::isfinite(value))
        throw InputError(
            fmt::format("--set: '{}={}' is neither a factor nor a rate; write for example {}=1.5x or {}=100G{}", name,
                        printable(text), name, name, unit));
    change.factors.erase(name);
    change.rates.erase(name);
    (is_factor ? change.factors : change.rates)[name] = value;
}

}  // namespace

WhatIf parse_what_if(const std::vector<std::string>& words, const Study& study)
{
    const std::vector<std::string> legal = names_of_roofs(study);
    WhatIf change;
    for (const std::string& word : words) {
        const std::size_t equals = word.find('=');
        if (equals == std::string::npos)
            throw InputError("--set: '" + printable(word) +
                             "' is not of the form DRAM=1.5x, DRAM=100GB/s or batch=512");
        const std::string name = word.substr(0, equals);
        const std::string value = word.substr(equals + 1);
        if (!is_in(name, legal)) throw InputError(unknown_word("roof", name, legal));
        if (name != "batch") {
            set_roof(change, name, value, unit_of(study, name));
            continue;
        }
        change.batch = parse_number<long long>(value).value_or(0);
        if (change.batch < 1 || change.batch > most_images)
            throw InputError(
                fmt::format("--set: batch='{}' is not a whole number from 1 to {}", printable(value), most_images));
    }
    return change;
}

WhatIf all_doubled(const Study& study, Role kind)
{
    constexpr double doubled = 2;
    WhatIf change;
    for (const Ceiling& ceiling : study.ceilings.all)
        if (ceiling.kind == kind) change.factors[level_or_precision(ceiling)] = doubled;
    return change;
}

std::vector<Predicted> what_if(const Study& study, const WhatIf& change)
{
    std::vector<Predicted> answers;
    for (const Measurement& row : study.results.rows)
        if (row.role == Role::step && row.status == Status::ok) answers.push_back(what_if(study, row, change));
    return answers;
}

DataTable what_if_table(const std::vector<Predicted>& answers, const std::string& change)
{
    using A = const Predicted&;
    const auto if_known = [](A a, Cell cell) { return only_if(a.reason.empty(), std::move(cell)); };
    const auto times_as_fast = [](A a) {
        const long long before = batch_of(*a.row);
        const double images = before > 0 ? static_cast<double>(a.batch) / static_cast<double>(before) : 1;
        return images * (a.row->seconds.median / a.seconds);
    };
    const std::vector<ColumnOf<Predicted>> columns{
        {"change", "change", [&](A) { return word(change); }, Shown::page},
        {"measured", "measured_s", [](A a) { return seconds(a.row->seconds.median); }},
        {"batch then", "batch_then_images", [](A a) { return count(a.batch); }},
        {"predicted", "predicted_s", [&](A a) { return if_known(a, seconds(a.seconds)); }},
        {"times as fast", "", [&](A a) { return if_known(a, plain(times_as_fast(a))); }},
        {"least", "least_s", [&](A a) { return if_known(a, seconds(a.least)); }},
        {"bound by", "binds",
         [&](A a) {
             const auto& [before, after] = std::tie(a.binds_before, a.binds);
             return if_known(a, word(before == after ? after : before + ", then " + after, after));
         }},
        {"", "reason", [](A a) { return name_cell(a.reason); }},
        {"", "known", [](A) { return word(name(Known::analytic)); }},
    };
    DataTable table = table_of_steps([](A a) -> auto& { return *a.row; }, columns, answers,
                                     {.expendable = {"precision", "device", "data", "least", "batch then"}});
    for (std::size_t i = 0; i < answers.size(); ++i) table.rows[i].is_for_programs_only = !answers[i].reason.empty();
    drop_empty_columns(table);
    return table;
}

std::string to_text(const std::vector<Predicted>& answers, int columns)
{
    if (answers.empty())
        return fitted_lines(
            "No training step was measured in this folder, so there is no time to predict. `roof run` and "
            "`roof sweep` measure steps; `roof estimate` needs none.\n",
            columns);
    std::vector<std::string> reasons, busy;
    for (const Predicted& answer : answers) {
        if (!answer.reason.empty()) reasons.push_back(answer.row->id() + ": " + answer.reason);
        if (const std::string uses = busy_text(*answer.row); !uses.empty())
            busy.push_back(answer.row->id() + ": " + uses);
    }
    return to_text(what_if_table(answers, ""), columns) +
           fitted_lines(
               listed("\nNo answer:", reasons) + listed("\nPredicted for a machine as busy as it was:", busy) +
                   "\nPredicted (analytic): each layer keeps the share of its roof that it reached, and time that no "
                   "layer accounts for stays.\nBound by: the roof with most of the time that the roofs allow, before "
                   "and after the change.\nTimes as fast is by images. Least is what the changed roofs allow.\n",
               columns);
}

}  // namespace roof::analysis
