#include "analysis/study/steps/answer.hpp"

#include "analysis/roofline/roofs.hpp"
#include "analysis/study/compared/compare.hpp"
#include "analysis/study/steps/verdict.hpp"
#include "analysis/study/steps/whatif.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/precision.hpp"
#include "ert/base/ranges.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/chip.hpp"
#include "ert/method/bench/machine.hpp"
#include "ert/method/bench/process_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <tuple>

namespace roof::analysis {
namespace {

constexpr double alone = 0.6;        ///< the share of the time from which one bound is named alone
constexpr double named = 0.1;        ///< the share from which it is named among others
constexpr double worthwhile = 0.01;  ///< the least share of the step that an action saves
constexpr double busy = 0.1;         ///< the share of disturbed samples from which the machine is called busy

std::string headline_of(const StepTimes& times, const Measurement& row, bool no_roof_binds)
{
    const auto share = [&](double seconds) { return seconds / times.all(); };
    if (no_roof_binds)
        return fmt::format("bound by neither roof: {} unexplained{}", percent(share(times.unexplained)),
                           share(times.outside()) < named
                               ? ""
                               : fmt::format(" and {} outside the layers", percent(share(times.outside()))));
    if (share(times.data) >= alone) return fmt::format("waiting for data: {} of the time", percent(share(times.data)));
    if (share(times.communication) >= alone)
        return fmt::format("communication-bound: {} of the time is exposed communication",
                           percent(share(times.communication)));
    if (share(times.compute) >= alone)
        return fmt::format("compute-bound: {} of the time under the {} roof", percent(share(times.compute)),
                           precision_of(row));
    std::vector<std::pair<double, std::string>> parts{{times.compute, "compute"},
                                                      {times.communication, "communication"},
                                                      {times.data, "waiting for data"},
                                                      {times.unexplained, "unexplained"},
                                                      {times.outside(), std::string(outside_layers)},
                                                      {times.waited, std::string(waiting_for_processor)}};
    for (const auto& [level, seconds] : times.levels) {
        const auto of_nearer = times.of_nearer.find(level);
        const bool is_open = of_nearer != times.of_nearer.end() && of_nearer->second * 2 > seconds;
        const std::string named_level = level + (is_open ? " or a nearer level" : "");
        if (share(seconds) >= alone)
            return fmt::format("memory-bound ({}): {} of the time under the {} roof", named_level,
                               percent(share(seconds)), level);
        parts.emplace_back(seconds, named_level);
    }
    std::ranges::stable_sort(parts, std::greater{}, [](const auto& part) { return part.first; });
    std::vector<std::string> words;
    for (const auto& [seconds, name] : parts)
        if (share(seconds) >= named) words.push_back(percent(share(seconds)) + " " + name);
    return "mixed: " + join(words, ", ");
}

/// The time above what the roofs allow, by kind of layer and phase, and the time outside the layers.
void add_losses(std::vector<Action>& actions, const Study& study, const Measurement& row)
{
    struct Loss {
        Seconds seconds;
        bool roof_may_be_higher = false;
        bool bytes_may_be_more = false;
    };
    std::map<std::string, Loss> by_kind;
    for (const Placement* p : layers_of(study.placements, row)) {
        if (p->binds.empty()) continue;
        const std::string phase = p->phase_name();
        Loss& loss = by_kind[p->kind == phase ? phase : p->kind + " " + phase];
        loss.seconds += p->headroom();
        loss.roof_may_be_higher = loss.roof_may_be_higher || p->roof_may_be_higher;
        loss.bytes_may_be_more = loss.bytes_may_be_more || p->bytes_may_be_more;
    }
    for (const auto& [what, loss] : by_kind)
        actions.push_back({what + " at its roofs", loss.seconds,
                           headroom_sense(loss.roof_may_be_higher, loss.bytes_may_be_more), "analytic"});
    if (!row.parts.empty())
        actions.push_back(
            {"less time outside the layers", {step_times(study.placements, row).outside()}, "up to ", "measured"});
}

/// The axis in which alone two points differ; none if they differ in another way.
const std::string* only_difference(const Point& a, const Point& b)
{
    const auto& left = a.values();
    const auto& right = b.values();
    const std::string* found = nullptr;
    if (left.size() != right.size()) return nullptr;
    for (std::size_t i = 0; i < left.size(); ++i) {
        if (left[i].second == right[i].second && left[i].first == right[i].first) continue;
        if (found != nullptr || left[i].first != right[i].first) return nullptr;
        found = &left[i].first;
    }
    return found;
}

/// A measured step that differs from `row` in one axis alone and makes its images faster, for each axis the fastest.
void add_faster_steps(std::vector<Action>& actions, const Study& study, const Measurement& row)
{
    constexpr std::array other_work{"model", "data", "parameters", "lr", "tokens", "phase", "optimizer", "round"};
    std::map<std::string, std::pair<double, const Measurement*>> best;  // the fastest by axis, with its rate
    for (const Measurement& other : study.results.rows) {
        if (other.status != Status::ok || other.role != Role::step || other.bench != row.bench ||
            other.device != row.device || took_turns(other))
            continue;
        const std::string* const axis = only_difference(row.point, other.point);
        if (axis == nullptr || is_in(*axis, other_work)) continue;
        auto& [rate, fastest] = best[*axis];
        if (other.images_per_second().median < rate) continue;
        const Change change = rate_change(row, other);
        if (change.ratio.median > 1 && change.shown() && change.b.median > rate)
            std::tie(rate, fastest) = std::tuple(change.b.median, &other);
    }
    for (const auto& [axis, found] : best)
        if (const auto& [rate, fastest] = found; fastest != nullptr)
            actions.push_back(
                {fmt::format("{} {} instead of {}{}", axis, fastest->point.text(axis), row.point.text(axis),
                             fastest->images() == row.images() ? "" : ", for as many " + batch_items({&row, 1})),
                 {row.images() / row.images_per_second().median - row.images() / rate},
                 "",
                 "measured"});
}

/// As the training bench has it.
bool runs_in_bf16(const Machine& machine, const std::string& device, bool decodes)
{
    if (kind_of_device(device) == "cpu") return is_in(isa_for_bf16(decodes), machine.isa);
    const Device* const gpu = machine.find_device(devices_in(device).front());
    if (gpu == nullptr) return false;
    const auto capability = gpu->facts.find("compute capability");
    return capability != gpu->facts.end() &&
           multiplies(static_cast<int>(std::lround(10 * std::atof(capability->second.c_str()))), "bf16");
}

/// bf16, if the device runs the step in it, none of it was measured, and its roof is certainly higher, which for a roof
/// that is a lower bound is not known; or if it decodes, since what it reads is then smaller. Each layer keeps the
/// share of its roof.
void add_precision(std::vector<Action>& actions, const Study& study, const Measurement& row, bool no_roof_binds)
{
    const Roofs roofs = roofs_of(ceilings_over(study, row), row.device, threads_of(row));
    const Ceiling* const own = roofs.precision(precision_of(row));
    const Ceiling* const other = roofs.precision("bf16");
    const bool is_measured = std::ranges::any_of(study.results.rows, [&](const Measurement& one) {
        return one.status == Status::ok && one.device == row.device && precision_of(one) == "bf16";
    });
    const bool decodes = phase_of(row) == "decode";
    if (own == nullptr || other == nullptr || is_measured || !runs_in_bf16(study.results.machine, row.device, decodes))
        return;
    const int bytes = traits(parse_precision(precision_of(row))).storage_bytes;
    const double smaller = decodes ? static_cast<double>(bytes) / traits(Precision::bf16).storage_bytes : 1;
    if (smaller <= 1 && (own->steadiness == Steadiness::at_least || !(other->rate.low > own->rate.high))) return;
    WhatIf change{.rates = {{precision_of(row), other->rate.median.value}}};
    for (const Ceiling* level : roofs.levels) change.factors[level->level] = smaller;
    if (const Predicted then = what_if(study, row, change); then.reason.empty())
        actions.push_back({"bf16 instead of " + precision_of(row), row.seconds.median - then.seconds,
                           no_roof_binds ? "up to " : "about ", "analytic"});
}

/// What other programs took of the step, if that is known. Else half of the samples of a quiet machine are no slower
/// than their median; disturbed ones are.
void add_busy_machine(std::vector<Action>& actions, const Measurement& row)
{
    const Disturbed disturbed = disturbed_of({&row, 1});
    if (const auto cost = cost_of_others(row))
        actions.push_back({row.remarks.find(throttled_by_group) != std::string::npos
                               ? "a higher limit of the control group"
                               : "a quiet machine",
                           cost->share * row.seconds.median, "about ", std::string(name(cost->known))});
    else if (disturbed.taken > 0 && disturbed.number >= busy * disturbed.taken)
        actions.push_back({"a quiet machine (" + disturbances(row) + ")", row.seconds.median - row.seconds.low,
                           "about ", "measured"});
}

/// The bound that has the step's time alone, "compute" or a memory level; empty without one.
std::string sole_bound(const StepTimes& times)
{
    if (times.compute >= alone * times.all()) return "compute";
    for (const auto& [level, seconds] : times.levels)
        if (seconds >= alone * times.all()) return level;
    return {};
}

/// The batch from which all larger measured ones have the same sole bound, and smaller ones not.
std::string bound_over_batches(const Study& study, const Measurement& row)
{
    std::map<long long, std::string> bounds;
    for (const Measurement& other : study.results.rows)
        if (other.status == Status::ok && other.role == Role::step && batch_of(other) > 0 &&
            id_without(other.id(), "batch") == id_without(row.id(), "batch"))
            bounds[batch_of(other)] = sole_bound(step_times(study.placements, other));
    if (bounds.empty()) return {};
    const std::string last = bounds.rbegin()->second;
    auto from = bounds.rbegin();
    while (std::next(from) != bounds.rend() && std::next(from)->second == last) ++from;
    if (last.empty() || std::next(from) == bounds.rend()) return {};
    return fmt::format(" From batch {} on, {} binds.", from->first, last);
}

/// The bytes of the update, where it has most of the time under memory roofs and memory has a named share of the step.
std::string update_bytes(const Study& study, const Measurement& row, const StepTimes& times)
{
    Bytes moved;
    double seconds = 0;
    for (const Placement* p : layers_of(study.placements, row)) {
        if (p->phase != Phase::update || p->bound() != Bound::bandwidth) continue;
        moved += p->levels.back().low;
        seconds += p->seconds.median.value;
    }
    if (times.bandwidth < named * times.all() || 2 * seconds < times.bandwidth || !(moved.value > 0)) return {};
    return fmt::format(" Its update moves {} for {:g} {}.", format_si(moved.value, "B"), row.images(),
                       batch_items({&row, 1}));
}

}  // namespace

StepAnswer answer_of(const Study& study, const Measurement& row)
{
    StepAnswer answer;
    const Placement* const step = step_placement(study.placements, row);
    if (step == nullptr) return answer;
    if (took_turns(row)) return {"not judged: its ranks took turns on one device", false, {}};
    if (has_bytes_of_others(row)) return {"not judged: its bytes are not those of what ran", false, {}};
    const StepTimes times = step_times(study.placements, row);
    if (step->binds.empty()) {
        answer.headline =
            step->levels.empty() ? "no roof over it was measured" : "no compute roof of its precision was measured";
    } else if (answer.no_roof_binds = times.no_roof_binds(); answer.no_roof_binds && step->levels.empty()) {
        answer.headline = "its bytes are unknown: memory may bind what the compute roof does not explain";
    } else {
        answer.headline = std::string(differ_in_clock(row)
                                          ? "on ranks with different clocks, whose difference counts as communication, "
                                          : "") +
                          headline_of(times, row, answer.no_roof_binds);
    }
    answer.roofs = trim(kind_of_roofs(study, row));
    std::vector<Action>& actions = answer.actions;
    add_losses(actions, study, row);
    add_faster_steps(actions, study, row);
    add_precision(actions, study, row, answer.no_roof_binds);
    actions.push_back({"communication hidden behind the backward pass", row.exposed.median, "up to ", "measured"});
    actions.push_back({"no wait for data", row.data.median, "up to ", "measured"});
    add_busy_machine(actions, row);
    std::erase_if(actions, [&](const Action& one) { return !(one.seconds.value >= worthwhile * times.all()); });
    std::ranges::stable_sort(actions, std::greater{}, &Action::seconds);
    if (actions.size() > most_actions) actions.resize(most_actions);
    return answer;
}

std::string bound_of(const Study& study, const Measurement& row)
{
    const std::string headline = answer_of(study, row).headline;
    const std::string words = headline.substr(0, headline.find(" of the time"));
    if (words.starts_with("mixed")) return words.substr(0, words.find(", ", words.find(", ") + 1));
    return words.ends_with('%') ? words : words.substr(0, words.find(':'));
}

std::string answer_text(const Study& study, const Measurement& row, std::size_t actions)
{
    StepAnswer answer = answer_of(study, row);
    if (answer.actions.size() > actions) answer.actions.resize(actions);
    if (answer.headline.empty()) return {};
    std::vector<std::string> words;
    const std::string of_step = fmt::format(" of its {}", format_duration(row.seconds.median.value));
    for (const Action& one : answer.actions)
        words.push_back(fmt::format("{}{}{}{}{} ({})", one.what, words.empty() ? " saves " : ": ", one.sense,
                                    format_duration(one.seconds.value), words.empty() ? of_step : "", one.known));
    return fmt::format("{}.{}{}{}", answer.headline, words.empty() ? "" : " Most worthwhile: ", join(words, "; "),
                       words.empty() ? "" : ".");
}

std::string answer_sentence(const Study& study, const Measurement& row)
{
    const StepAnswer answer = answer_of(study, row);
    if (answer.headline.empty()) return {};
    const Placement& step = *step_placement(study.placements, row);
    std::string text = fmt::format("{}{}{}.", step_title(row, study.results.rows), step.binds.empty() ? ": " : " is ",
                                   answer.headline);
    if (step.binds.empty() || step.fraction() >= shown_as_above) return text;
    text += fmt::format(" A step takes {}; at its {}roofs it would take {}{}.",
                        format_duration(row.seconds.median.value), kind_of_roofs(study, row),
                        step.roof_may_be_higher  ? step.bytes_may_be_more ? "about " : "at most "
                        : step.bytes_may_be_more ? "at least "
                                                 : "",
                        format_duration(step.attainable.value));
    return text + update_bytes(study, row, step_times(study.placements, row)) + bound_over_batches(study, row);
}

std::string steps_sentence(const Study& study, std::span<const Measurement* const> rows)
{
    if (rows.empty()) return {};
    std::vector<std::string> models, precisions, places;
    std::vector<std::pair<std::string, int>> bounds;
    std::vector<std::pair<const Placement*, const Measurement*>> reached;
    const auto add = [](std::vector<std::string>& list, const std::string& text) { add_once(list, text); };
    for (const Measurement* row : rows) {
        add(models, model_of(*row));
        add(precisions, precision_of(*row));
        add(places, where_text(*row, study.results.rows));
        const std::string headline = answer_of(study, *row).headline;
        const std::string bound = headline.substr(0, headline.find_first_of(":("));
        auto known = std::ranges::find(bounds, trim(bound), &std::pair<std::string, int>::first);
        if (known == bounds.end()) known = bounds.insert(known, {std::string(trim(bound)), 0});
        ++known->second;
        if (const Placement* const step = step_placement(study.placements, *row);
            step != nullptr && step->attainable.value > 0)
            reached.emplace_back(step, row);
    }
    std::ranges::stable_sort(bounds, std::greater{}, &std::pair<std::string, int>::second);
    std::vector<std::string> counts;
    for (const auto& [bound, count] : bounds)
        if (!bound.empty()) counts.push_back(fmt::format("{} {}", count, bound));
    std::string text =
        fmt::format("{} of {} in {}{}{}{}.", how_many(rows.size(), "step"), join(models, ", "), join(precisions, ", "),
                    places.size() == 1 ? " on " + places.front() : "", counts.empty() ? "" : ": ", join(counts, ", "));
    if (reached.size() < 2) return text;
    const auto [low, high] = std::ranges::minmax_element(
        reached, {}, [](const auto& one) { return one.first->attainable / one.first->seconds.median; });
    const auto told = [&](const auto& one) {
        return fmt::format("{} ({})", step_name(*one.second, rows), share_text(*one.first));
    };
    return text + fmt::format(" Nearest to its roofs: {}; farthest: {}.", told(*high), told(*low));
}

}  // namespace roof::analysis
