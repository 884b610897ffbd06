#include "analysis/recordings/operators.hpp"

#include "ert/base/text.hpp"
#include "ert/base/units.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace roof::analysis {
namespace {

/// The outermost call of an operator, with the work of the calls within it.
struct Call {
    const OperatorSpan* outermost = nullptr;
    std::vector<const OperatorWork*> work{};
    std::string layer{};
    std::optional<Phase> phase = Phase::forward;
};

/// Per thread in the order of their begins.
using Calls = std::map<std::string, std::vector<Call>>;

bool begins_before(const ThreadSpan& left, const ThreadSpan& right)
{
    return std::tie(left.thread, left.begin, right.end) < std::tie(right.thread, right.begin, left.end);
}

Calls calls_of(const OperatorTrace& trace)
{
    std::vector<const OperatorSpan*> sorted;
    for (const OperatorSpan& span : trace.operators) sorted.push_back(&span);
    std::ranges::stable_sort(sorted, [](auto* left, auto* right) { return begins_before(*left, *right); });
    Calls calls;
    std::int64_t counted = 0;
    for (const OperatorSpan* const span : sorted) {
        std::vector<Call>& thread = calls[span->thread];
        const bool is_new = thread.empty() || span->begin >= thread.back().outermost->end;
        if (is_new) thread.push_back({.outermost = span});
        if (is_new) counted = span->begin;
        if (!span->work || span->begin < counted) continue;
        thread.back().work.push_back(&*span->work);
        counted = span->end;
    }
    return calls;
}

/// The call that runs at a moment; null if there is none.
Call* call_at(Calls& calls, const std::string& thread, std::int64_t moment)
{
    const auto found = calls.find(thread);
    if (found == calls.end()) return nullptr;
    auto after =
        std::ranges::upper_bound(found->second, moment, {}, [](const Call& call) { return call.outermost->begin; });
    if (after == found->second.begin()) return nullptr;
    --after;
    return moment < after->outermost->end ? &*after : nullptr;
}

/// The innermost of the spans, which are sorted, at the begin of a call.
template <class Span>
const Span* innermost(const std::vector<Span>& spans, const OperatorSpan& call)
{
    constexpr int farthest = 4096;
    auto after =
        std::upper_bound(spans.begin(), spans.end(), call, [](const ThreadSpan& left, const ThreadSpan& right) {
            return std::tie(left.thread, left.begin) < std::tie(right.thread, right.begin);
        });
    for (int i = 0; i < farthest && after != spans.begin(); ++i) {
        --after;
        if (after->thread != call.thread) return nullptr;
        if (call.begin < after->end) return &*after;
    }
    return nullptr;
}

std::string short_name(std::string_view name)
{
    const std::size_t cut = name.rfind(':');
    std::string text(cut == name.npos ? name : name.substr(cut + 1));
    return text.substr(std::min(text.find_first_not_of(' '), text.size()));
}

std::size_t step_of(const OperatorTrace& trace, std::int64_t moment)
{
    for (std::size_t step = 0; step < trace.steps.size(); ++step) {
        if (moment >= trace.steps[step].begin && moment < trace.steps[step].end) return step;
    }
    return trace.steps.size();
}

bool is_of_backward(std::string_view name)
{
    return name.starts_with("autograd::") || name.find("Backward") != name.npos;
}

/// Layers and phases of the calls outside the backward pass.
void name_forward(const OperatorTrace& trace, Calls& calls)
{
    std::vector<ModuleSpan> modules = trace.modules;
    std::ranges::stable_sort(modules, begins_before);
    std::vector<PhaseSpan> phases = trace.phases;
    std::ranges::stable_sort(phases, begins_before);
    std::map<std::pair<std::size_t, std::string>, int> places;
    for (auto& [thread, all] : calls) {
        for (Call& call : all) {
            const OperatorSpan& span = *call.outermost;
            if (const PhaseSpan* const marked = innermost(phases, span)) call.phase = marked->phase;
            if (is_of_backward(span.name)) call.phase = Phase::backward;
            if (call.phase == Phase::update) call.layer = "optimizer";
            if (call.phase != Phase::forward) continue;
            const ModuleSpan* const module = innermost(modules, span);
            const std::string name = short_name(span.name);
            const int place = places[{step_of(trace, span.begin), name}]++;
            call.layer = module != nullptr ? module->name : name + " " + std::to_string(place);
        }
    }
}

/// A gradient belongs to the layer of the operator whose gradient it is; the operators after it belong to the same layer.
void name_backward(const OperatorTrace& trace, Calls& calls)
{
    for (const auto& [id, flow] : trace.flows) {
        Call* const from = call_at(calls, flow.from_thread, flow.from);
        Call* const to = call_at(calls, flow.to_thread, flow.to);
        if (from == nullptr || to == nullptr || from == to) continue;
        to->phase = Phase::backward;
        to->layer = from->layer;
    }
    for (auto& [thread, all] : calls) {
        std::string last = "backward";
        for (Call& call : all) {
            if (call.phase != Phase::backward) continue;
            if (call.layer.empty()) call.layer = last;
            last = call.layer;
        }
    }
}

/// A layer in one phase of one step.
struct Part {
    double seconds = 0;
    std::string kind{};
    OperatorWork work{};
    bool has_work = false;
};
using PartName = std::pair<std::string, Phase>;
using Step = std::map<PartName, Part>;

void add(const Call& call, Part& part)
{
    part.seconds += static_cast<double>(call.outermost->end - call.outermost->begin) * nanosecond;
    for (const OperatorWork* const work : call.work) {
        if (!part.has_work || (work->is_contraction && !part.work.is_contraction)) part.kind = work->kind;
        part.has_work = true;
        part.work.is_contraction = part.work.is_contraction || work->is_contraction;
        part.work.flops += work->flops;
        part.work.masked += work->masked;
        part.work.bytes += work->bytes;
        part.work.no_reuse += work->no_reuse;
    }
    if (part.kind.empty()) part.kind = short_name(call.outermost->name);
}

Estimate<Seconds> phase_time(const std::vector<Step>& steps, Phase phase)
{
    std::vector<double> times;
    for (const Step& step : steps) {
        double sum = 0;
        for (const auto& [name, part] : step) sum += name.second == phase ? part.seconds : 0;
        times.push_back(sum);
    }
    return Estimate<Seconds>::of(times);
}

/// A gradient has the kind of its layer's forward pass.
void add_parts(const std::vector<Step>& steps, const std::vector<PartName>& order, Measurement& measurement)
{
    std::map<std::string, std::string> kinds;
    for (const PartName& name : order) {
        std::vector<double> times;
        PartMeasurement made;
        made.part.layer = name.first;
        made.part.phase = name.second;
        for (const Step& step : steps) {
            const auto found = step.find(name);
            if (found == step.end()) continue;
            times.push_back(found->second.seconds);
            made.part.kind = name.second == Phase::update ? "optimizer" : found->second.kind;
            const OperatorWork& work = found->second.work;
            made.part.work = {work.flops, work.bytes, work.no_reuse};
            if (work.masked.value > 0) made.part.work.executed = work.flops - work.masked;
        }
        made.seconds = Estimate<Seconds>::of(times);
        const std::string& kind = kinds.emplace(name.first, made.part.kind).first->second;
        if (name.second == Phase::backward) made.part.kind = kind;
        if (!times.empty()) measurement.parts.push_back(std::move(made));
    }
}

void list_missing(const OperatorTrace& trace, Imported& imported)
{
    const bool has_shapes = std::ranges::any_of(trace.operators, &OperatorSpan::has_shapes);
    if (!has_shapes) imported.missing.push_back("FLOPs: the trace has no shapes; profile with record_shapes=True");
    std::set<std::string> unknown;
    for (const OperatorSpan& span : trace.operators)
        if (span.work && span.work->is_unknown) unknown.insert(span.name);
    if (has_shapes && !unknown.empty())
        imported.missing.push_back(without_formula + join(std::vector(unknown.begin(), unknown.end()), ", "));
    imported.missing.push_back(
        "bytes of the step: operators without a formula have none; the layers that have one show theirs");
    const auto has_unknown_mask = [](const OperatorSpan& span) { return span.work && span.work->mask_is_unknown; };
    if (std::ranges::any_of(trace.operators, has_unknown_mask))
        imported.remarks.push_back("attention is counted in full where the trace does not tell its mask");
    if (trace.modules.empty())
        imported.remarks.push_back(
            "layers are operators by their place in the step; profile with with_stack=True for modules");
}

Calls named_calls(const OperatorTrace& trace)
{
    Calls calls = calls_of(trace);
    name_forward(trace, calls);
    name_backward(trace, calls);
    return calls;
}

}  // namespace

void make_layers(const OperatorTrace& trace, ImportedRow& row, Imported& imported)
{
    const Calls calls = named_calls(trace);
    std::vector<Step> steps(std::max<std::size_t>(1, trace.steps.size()));
    std::vector<std::size_t> sizes(steps.size());
    std::vector<std::int64_t> extent;
    std::vector<PartName> order;
    for (const auto& [thread, all] : calls) {
        for (const Call& call : all) {
            const std::size_t step = step_of(trace, call.outermost->begin);
            if (step >= steps.size() || !call.phase) continue;
            const PartName name{call.layer, *call.phase};
            if (std::ranges::none_of(steps, [&](const Step& known) { return known.contains(name); }))
                order.push_back(name);
            add(call, steps[step][name]);
            ++sizes[step];
            extent.insert(extent.end(), {call.outermost->begin, call.outermost->end});
        }
    }
    const std::size_t most = *std::ranges::max_element(sizes);
    std::vector<double> times;
    std::vector<Step> whole;
    for (std::size_t step = 0; step < steps.size(); ++step) {
        if (sizes[step] * 2 < most) continue;
        whole.push_back(steps[step]);
        if (!trace.steps.empty())
            times.push_back(static_cast<double>(trace.steps[step].end - trace.steps[step].begin) * 1e-9);
    }
    if (trace.steps.empty() && !extent.empty()) {
        const auto [first, last] = std::ranges::minmax(extent);
        times.push_back(static_cast<double>(last - first) * 1e-9);
    }
    Measurement& of = row.measurement;
    of.seconds = Estimate<Seconds>::of(times);
    of.forward = phase_time(whole, Phase::forward);
    of.backward = phase_time(whole, Phase::backward);
    of.update = phase_time(whole, Phase::update);
    if (!trace.precision.empty()) of.point.set("precision", trace.precision);
    Flops masked{};
    for (const auto& [name, part] : whole.empty() ? Step{} : whole.front()) {
        if (!part.work.is_contraction) continue;
        of.work.flops += part.work.flops;
        masked += part.work.masked;
    }
    const auto is_unknown = [](const OperatorSpan& span) { return span.work && span.work->is_unknown; };
    if (std::ranges::any_of(trace.operators, is_unknown)) of.work.flops = masked = Flops{};
    if (masked.value > 0) of.work.executed = of.work.flops - masked;
    add_parts(whole, order, of);
    list_missing(trace, imported);
}

void label_calls(const OperatorTrace& trace, ImportedRow& row)
{
    Calls calls = named_calls(trace);
    std::map<std::uint64_t, const Call*> caused;
    for (ApiRecord& record : row.calls) {
        if (!record.start || !record.thread) continue;
        const auto moment = static_cast<std::int64_t>(record.start->value * 1e9);
        const Call* const by = call_at(calls, std::to_string(*record.thread), moment);
        if (by == nullptr) continue;
        record.layer = by->layer;
        if (by->phase == Phase::backward) record.phase = name(*by->phase);
        if (record.correlation) caused[*record.correlation] = by;
    }
    const auto label = [&](Cause& cause) {
        const auto found = cause.correlation ? caused.find(*cause.correlation) : caused.end();
        if (found == caused.end()) return;
        cause.layer = found->second->layer;
        if (found->second->phase == Phase::backward) cause.phase = name(Phase::backward);
    };
    for (KernelRecord& kernel : row.kernels) label(kernel.cause);
    for (CopyRecord& copy : row.copies) label(copy.cause);
}

}  // namespace roof::analysis
