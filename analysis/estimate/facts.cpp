// The facts that hypotheses ask for.
#include "analysis/estimate/hypothesis.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/error.hpp"
#include "ert/base/names.hpp"
#include "ert/base/number.hpp"
#include "ert/base/text.hpp"
#include "workloads/model/work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace roof::analysis {
namespace {

/// Between these shares of the time under the compute roof, neither compute nor memory is the bound.
constexpr double split_low = 0.45;
constexpr double split_high = 0.55;

using OfEstimate = Fact (*)(const MachineEstimate&);
using OfRequest = Fact (*)(const EstimateRequest&);
using OfRow = Fact (*)(const Measurement&);

long long whole(const std::string& option, const std::string& text)
{
    const std::optional<long long> value = parse_number<long long>(text);
    if (!value || *value < 1)
        throw InputError(fmt::format("{}='{}' is not a whole number above 0", option, printable(text)));
    return *value;
}

EstimateRequest request_of(const Call& call, EstimateRequest request)
{
    using Request = EstimateRequest;
    using Text = const std::string&;
    using Option = Named<void (*)(Request&, Text)>;
    static constexpr std::array options{
        Option{[](Request& r, Text t) { r.batch = static_cast<int>(whole("batch", t)); }, "batch"},
        Option{[](Request& r, Text t) { r.precision = parse_precision(t); }, "precision"},
        Option{[](Request& r, Text t) { r.passes = parse_passes(t); }, "phase"},
        Option{[](Request& r, Text t) { r.devices = static_cast<int>(whole("devices", t)); }, "devices"},
        Option{[](Request& r, Text t) { r.link = t; }, "link"},
        Option{[](Request& r, Text t) { r.images = whole("images", t); }, "images"},
    };
    request.model = call.arguments.front();
    for (const auto& [option, text] : call.options)
        row_in(options, "option of " + call.function, option).value(request, text);
    return request;
}

void need_arguments(const Call& call, std::size_t count, const std::string& which)
{
    if (call.arguments.size() != count)
        throw InputError(fmt::format("{} takes {}, not {} arguments", call.function, which, call.arguments.size()));
}

Fact bound(const MachineEstimate& e)
{
    const std::string shown = fmt::format("{} ({} of the time under the compute roof; {} FLOP/B, ridge {})",
                                          e.compute_share > 0.5 ? "compute" : "memory", percent(e.compute_share),
                                          plain_number(e.intensity().value), plain_number(e.ridge().value));
    if (e.compute_share > split_low && e.compute_share < split_high) return Fact::none("neither: " + shown);
    return Fact::of_word(e.compute_share > 0.5 ? "compute" : "memory", shown);
}

Fact with_unit(double value, const char* unit)
{
    return Fact::number(value, format_si(value, unit));
}

Fact images_per_second(double rate)
{
    return Fact::number(rate, plain_number(rate) + " images/s");
}

Fact of_duration(Seconds time)
{
    return Fact::number(time.value, format_duration(time.value));
}

Fact fits(const MachineEstimate& e)
{
    if (e.memory.value <= 0) return Fact::none("the memory of " + e.machine + " is unknown");
    return Fact::of_word(e.fits() ? "yes" : "no",
                         fmt::format("{} ({} of {})", e.fits() ? "yes" : "no",
                                     format_si(e.footprint.total().value, "B"), format_si(e.memory.value, "B")));
}

const std::map<std::string, OfEstimate>& estimate_functions()
{
    static const std::map<std::string, OfEstimate> table{
        {"bound", bound},
        {"fits", fits},
        {"intensity", [](const MachineEstimate& e) { return with_unit(e.intensity().value, "FLOP/B"); }},
        {"ridge", [](const MachineEstimate& e) { return with_unit(e.ridge().value, "FLOP/B"); }},
        {"peak", [](const MachineEstimate& e) { return with_unit(e.peak.value, "FLOP/s"); }},
        {"time", [](const MachineEstimate& e) { return of_duration(e.step()); }},
        {"prediction", [](const MachineEstimate& e) { return of_duration(e.without_overlap); }},
        {"epoch", [](const MachineEstimate& e) { return of_duration(e.epoch()); }},
        {"images_per_second", [](const MachineEstimate& e) { return images_per_second(e.images_per_second()); }},
        {"memory", [](const MachineEstimate& e) { return with_unit(e.footprint.total().value, "B"); }},
        {"largest_batch",
         [](const MachineEstimate& e) {
             return Fact::number(e.largest_batch, fmt::format("{} images", e.largest_batch));
         }},
    };
    return table;
}

const std::map<std::string, OfRequest>& model_functions()
{
    static const std::map<std::string, OfRequest> table{
        {"flops",
         [](const EstimateRequest& request) {
             const model::StepWork work = work_of(model::build_model(request.model), request.batch, request.precision);
             return with_unit((request.passes == Passes::forward ? work.forward : work.step()).value, "FLOP");
         }},
        {"parameters",
         [](const EstimateRequest& request) {
             return with_unit(static_cast<double>(model::build_model(request.model).parameter_count()), "");
         }},
    };
    return table;
}

template <class Unit>
Fact measured(const Estimate<Unit>& estimate, const char* unit)
{
    return Fact::between(estimate.median.value, estimate.low.value, estimate.high.value, with_interval(estimate, unit));
}

const std::map<std::string, OfRow>& row_functions()
{
    static const std::map<std::string, OfRow> table{
        {"measured_time", [](const Measurement& row) { return measured(row.seconds, "s"); }},
        {"measured_rate", [](const Measurement& row) { return measured(row.work.flops / row.seconds, "FLOP/s"); }},
        {"measured_images_per_second",
         [](const Measurement& row) { return images_per_second(row.images_per_second()); }},
        {"measured_memory", [](const Measurement& row) { return with_unit(row.memory.value, "B"); }},
        {"measured_wait",
         [](const Measurement& row) {
             const double share = row.data.median / (row.data.median + row.seconds.median);
             return Fact::number(share, percent(share) + " of the time is wait for data");
         }},
    };
    return table;
}

bool is_asked_for(const Measurement& row, const Call& call)
{
    if (row.role != Role::step || model_of(row) != call.arguments.front()) return false;
    return std::ranges::all_of(call.options, [&](const auto& option) {
        if (option.first == "device") return row.device == option.second;
        if (option.first == "data") return data_of(row) == option.second;
        return row.point.has(option.first) && row.point.text(option.first) == option.second;
    });
}

class FactFinder {
  public:
    explicit FactFinder(const FactSources& sources) : sources_(sources) {}

    Fact operator()(const Call& call) const
    {
        if (const auto found = estimate_functions().find(call.function); found != estimate_functions().end())
            return of_estimate(call, found->second);
        if (const auto found = model_functions().find(call.function); found != model_functions().end()) {
            need_arguments(call, 1, "a model");
            return found->second(request_of(call, sources_.usual));
        }
        if (call.function.starts_with("measured_")) return of_rows(call);
        throw InputError(unknown_word("function of a hypothesis", call.function, all_functions()));
    }

  private:
    Fact of_estimate(const Call& call, OfEstimate function) const
    {
        need_arguments(call, 2, "a model and a machine");
        const auto target = std::ranges::find(sources_.targets, call.arguments.back(), &Target::name);
        if (target == sources_.targets.end())
            return Fact::none("unknown machine '" + printable(call.arguments.back()) + "'");
        const MachineEstimate estimate = estimate_on(*target, request_of(call, sources_.usual));
        return estimate.reason.empty() ? function(estimate) : Fact::none(estimate.reason);
    }

    Fact of_rows(const Call& call) const
    {
        need_arguments(call, 1, "a model");
        const bool asks_status = call.function == "measured_status";
        const auto function = row_functions().find(call.function);
        if (!asks_status && function == row_functions().end())
            throw InputError(unknown_word("function of a hypothesis", call.function, all_functions()));
        for (const Measurement& row : sources_.rows) {
            if (!is_asked_for(row, call)) continue;
            if (asks_status) return Fact::of_word(std::string(name(row.status)), std::string(name(row.status)));
            if (row.status == Status::ok) return function->second(row);
        }
        return Fact::none(call.function + ": no such row was measured");
    }

    static std::vector<std::string> all_functions()
    {
        std::vector<std::string> names{"measured_status"};
        for (const auto& [function, ask] : estimate_functions()) names.push_back(function);
        for (const auto& [function, ask] : model_functions()) names.push_back(function);
        for (const auto& [function, ask] : row_functions()) names.push_back(function);
        std::ranges::sort(names);
        return names;
    }

    FactSources sources_;
};

}  // namespace

Knowledge knowledge_of(const FactSources& sources)
{
    return FactFinder(sources);
}

}  // namespace roof::analysis
