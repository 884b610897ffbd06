// Compares a published number with its estimate, by quantity.
#include "analysis/estimate/published.hpp"

#include "analysis/table/quantities.hpp"
#include "ert/base/text.hpp"
#include "workloads/model/work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

namespace roof::analysis {
namespace {

constexpr double same = 0.1;          ///< tolerance of agreement, as a share of the estimate
constexpr double beyond = 1.02;       ///< factor above a roof, with tolerance for rounding
constexpr double too_slow = 10;       ///< factor of the roof's time: other work was timed, too
constexpr double prefix = 1000;       ///< factor between two SI prefixes
constexpr double prefix_slack = 1.3;  ///< tolerance of a factor that is a prefix

/// One published number with its context.
struct Case {
    const PublishedNumber& published;
    std::span<const PublishedNumber> all;
    std::optional<MachineEstimate> estimate;  ///< none without a known machine
};

Assessment assessed(const Case& at, double estimated, Verdict verdict, std::string remark)
{
    return {at.published, estimated, verdict, std::move(remark)};
}

bool agree(double value, double estimated)
{
    return std::abs(value - estimated) <= same * estimated;
}

std::string times(double ratio)
{
    return plain_number(ratio, ratio < 100 ? 2 : 3) + " times";
}

/// Whether two numbers differ by one SI prefix.
bool is_prefix_apart(double ratio)
{
    const double off = std::max(ratio, 1 / ratio) / prefix;
    return off < prefix_slack && off > 1 / prefix_slack;
}

bool placed(const Case& at)
{
    return at.estimate && at.estimate->reason.empty();
}

/// The intensity published for the same work and machine; without one, the intensity of compulsory traffic.
Intensity intensity_of(const Case& at)
{
    const auto same_work = [&](const PublishedNumber& other) {
        return other.quantity == "intensity" && other.machine == at.published.machine &&
               other.of.model == at.published.of.model && other.of.batch == at.published.of.batch &&
               other.of.passes == at.published.of.passes;
    };
    const auto found = std::ranges::find_if(at.all, same_work);
    return found != at.all.end() ? Intensity{found->si} : at.estimate->intensity();
}

Assessment assess_rate(const Case& at)
{
    if (!placed(at)) return assessed(at, 0, Verdict::unchecked, "its roof is unknown");
    const MachineEstimate& estimate = *at.estimate;
    const Intensity intensity = intensity_of(at);
    const double roof = attainable(estimate.peak, estimate.levels.back().roof, intensity).value;
    const double share = at.published.si / roof;
    const std::string where = fmt::format("the roof at {} FLOP/B", plain_number(intensity.value));
    if (at.published.si > beyond * roof) {
        const std::string which = at.published.si > estimate.peak.value ? "the peak" : where;
        return assessed(at, roof, Verdict::impossible,
                        fmt::format("is {} {}: this rate is impossible", times(share), which));
    }
    std::string remark = fmt::format("reaches {} of {}", percent(share), where);
    if (share * too_slow > 1) return assessed(at, roof, Verdict::plausible, remark);
    if (share * prefix <= beyond) remark += fmt::format("; one prefix higher it would be {}", percent(share * prefix));
    return assessed(at, roof, Verdict::doubtful, remark + ": the unit is wrong, or more than the work was timed");
}

Assessment assess_intensity(const Case& at)
{
    if (!placed(at)) return assessed(at, 0, Verdict::unchecked, "its machine is unknown");
    const double compulsory = at.estimate->intensity().value;
    if (agree(at.published.si, compulsory)) return assessed(at, compulsory, Verdict::agrees, "compulsory traffic");
    const double traffic = compulsory / at.published.si;
    if (traffic > 1)
        return assessed(at, compulsory, Verdict::plausible,
                        fmt::format("traffic is {} the compulsory", times(traffic)));
    return assessed(
        at, compulsory, Verdict::doubtful,
        fmt::format("traffic is only {} of the compulsory: allocated bytes were counted as moved bytes, or more FLOPs "
                    "than the layers have",
                    percent(traffic)));
}

Assessment assess_flops(const Case& at)
{
    const model::Graph graph = model::build_model(at.published.of.model);
    const bool per_image = at.published.quantity == "flops_per_image";
    const model::StepWork work = work_of(graph, per_image ? 1 : at.published.of.batch, at.published.of.precision);
    const double estimated = at.published.of.passes == Passes::forward ? work.forward.value : work.step().value;
    const double ratio = at.published.si / estimated;
    if (agree(at.published.si, estimated))
        return assessed(at, estimated, Verdict::agrees, "convolutions and linear layers");
    if (std::abs(ratio - 0.5) < same / 2)
        return assessed(at, estimated, Verdict::doubtful, "these are multiply-adds: FLOPs are twice as many");
    if (ratio > 1) return assessed(at, estimated, Verdict::differs, "counts " + times(ratio) + " too many");
    return assessed(at, estimated, ratio * too_slow < 1 ? Verdict::doubtful : Verdict::differs,
                    "counts " + times(1 / ratio) +
                        " too few: a counter of only some instructions, or an algorithm with fewer "
                        "multiplications");
}

Assessment assess_bytes(const Case& at, Bytes estimated, Bytes by_pytorch)
{
    const auto apart = [&](Bytes bytes) { return std::abs(std::log(at.published.si / bytes.value)); };
    const bool as_pytorch = apart(by_pytorch) < apart(estimated);
    const double nearest = as_pytorch ? by_pytorch.value : estimated.value;
    if (agree(at.published.si, nearest))
        return assessed(at, nearest, Verdict::agrees,
                        as_pytorch ? "with the 8 bytes PyTorch keeps for each winner of a max pool" : "");
    const double ratio = at.published.si / nearest;
    return assessed(at, nearest, is_prefix_apart(ratio) ? Verdict::doubtful : Verdict::differs,
                    fmt::format("is {} what is allocated", ratio < 1 ? percent(ratio) + " of" : times(ratio)));
}

Footprint footprint(const Case& at)
{
    const EstimateRequest& of = at.published.of;
    return footprint_of(model::build_model(of.model), of.batch, of.precision, of.passes);
}

Assessment assess_memory(const Case& at)
{
    const Footprint need = footprint(at);
    return assess_bytes(at, need.total(), need.total() - need.kept() + need.kept_by_pytorch());
}

Assessment assess_activations(const Case& at)
{
    const Footprint need = footprint(at);
    return assess_bytes(at, need.kept(), need.kept_by_pytorch());
}

/// Assesses the time of a step or an epoch.
Assessment assess_time(const Case& at)
{
    if (!placed(at)) return assessed(at, 0, Verdict::unchecked, "its roof is unknown");
    const bool epoch = at.published.quantity == "epoch";
    const double least = (epoch ? at.estimate->epoch() : at.estimate->step()).value;
    const double ratio = at.published.si / least;
    if (ratio < 1 && agree(at.published.si, at.estimate->at_once.value))
        return assessed(at, least, Verdict::agrees,
                        "if the maximum is taken once for the whole network, although layers run one after another");
    if (ratio * beyond < 1)
        return assessed(at, least, Verdict::impossible,
                        fmt::format("takes {} of the least time the roofs allow{}", percent(ratio),
                                    epoch ? ": the epoch had fewer or smaller images" : ""));
    if (ratio < too_slow)
        return assessed(at, least, Verdict::plausible, "takes " + times(ratio) + " the least time the roofs allow");
    return assessed(
        at, least, Verdict::doubtful,
        "takes " + times(ratio) + " the least time the roofs allow: start-up or waiting for data was timed, too");
}

Assessment assess_image(const Case& at)
{
    const double values = static_cast<double>(model::build_model(at.published.of.model).layer(0).output.elements());
    const double stored = values * traits(at.published.of.precision).storage_bytes;
    for (const double bytes : {values, stored})
        if (agree(at.published.si, bytes))
            return assessed(at, bytes, Verdict::agrees, bytes == values ? "a byte for each value" : "as a tensor");
    const double nearest = is_prefix_apart(at.published.si / values) ? values : stored;
    return assessed(at, nearest, is_prefix_apart(at.published.si / nearest) ? Verdict::doubtful : Verdict::differs,
                    fmt::format("is {} an image of {} values: the unit is wrong", times(at.published.si / nearest),
                                plain_number(values, 6)));
}

Assessment assess_window(const Case& at)
{
    const model::Graph graph = model::build_model(at.published.of.model);
    const auto found = std::ranges::find(graph.layers(), at.published.layer, &model::Layer::name);
    if (found == graph.layers().end()) return assessed(at, 0, Verdict::unchecked, "the network has no such layer");
    const double size = found->window.size;
    if (size == at.published.si) return assessed(at, size, Verdict::agrees, "");
    return assessed(at, size, Verdict::differs,
                    fmt::format("the window is {0}x{0}: its FLOPs come out {1} too many", size,
                                times(at.published.si * at.published.si / (size * size))));
}

Assessment assess_fit(const Case& at)
{
    if (!at.estimate || at.estimate->memory.value <= 0)
        return assessed(at, 0, Verdict::unchecked, "the memory is unknown");
    const bool fits = at.estimate->fits();
    const std::string remark = fmt::format("needs {} of {}", format_si(at.estimate->footprint.total().value, "B"),
                                           format_si(at.estimate->memory.value, "B"));
    return assessed(at, fits ? 1 : 0, fits == (at.published.value != 0) ? Verdict::agrees : Verdict::differs, remark);
}

Assessment assess_nothing(const Case& at)
{
    return assessed(at, 0, Verdict::unchecked, "there is no estimate of it");
}

const std::map<std::string, Assessment (*)(const Case&)>& assessors()
{
    static const std::map<std::string, Assessment (*)(const Case&)> table{
        {"flop_rate", assess_rate}, {"intensity", assess_intensity},
        {"flops", assess_flops},    {"flops_per_image", assess_flops},
        {"memory", assess_memory},  {"activations", assess_activations},
        {"time", assess_time},      {"epoch", assess_time},
        {"image", assess_image},    {"window", assess_window},
        {"fits", assess_fit},       {"share", assess_nothing},
    };
    return table;
}

std::optional<MachineEstimate> estimate_for(const PublishedNumber& number, std::span<const Target> targets)
{
    const auto target = std::ranges::find(targets, number.machine, &Target::name);
    if (target == targets.end()) return std::nullopt;
    EstimateRequest request = number.of;
    if (request.passes == Passes::forward || target->links.empty()) request.devices = 1;
    if (request.devices > 1) request.link = target->links.front().name;
    return estimate_on(*target, request);
}

std::string work_of_row(const PublishedNumber& number)
{
    std::string text = number.of.model.empty() ? "-" : fmt::format("{} b{}", number.of.model, number.of.batch);
    if (number.of.passes == Passes::forward) text += " forward";
    if (number.of.devices > 1) text += fmt::format(" x{}", number.of.devices);
    return text;
}

}  // namespace

std::string_view name(Verdict verdict)
{
    constexpr std::array<std::string_view, 6> names{"agrees",   "plausible",  "differs",
                                                    "doubtful", "impossible", "unchecked"};
    return names[static_cast<std::size_t>(verdict)];
}

std::vector<Assessment> assess(std::span<const PublishedNumber> numbers, std::span<const Target> targets)
{
    std::vector<Assessment> assessments;
    for (const PublishedNumber& number : numbers) {
        const Case at{.published = number, .all = numbers, .estimate = estimate_for(number, targets)};
        assessments.push_back(assessors().at(number.quantity)(at));
    }
    return assessments;
}

std::string estimate_text(const Assessment& a)
{
    const std::string& quantity = a.published.quantity;
    if (a.verdict == Verdict::unchecked) return "-";
    if (quantity == "fits") return a.estimated != 0 ? "yes" : "no";
    if (quantity == "intensity") return plain_number(a.estimated) + " FLOP/B";
    if (quantity == "window") return plain_number(a.estimated) + " pixels";
    if (quantity == "time" || quantity == "epoch") return format_duration(a.estimated);
    const bool is_rate = quantity == "flop_rate";
    const bool counts = quantity == "flops" || quantity == "flops_per_image";
    return format_si(a.estimated, is_rate ? "FLOP/s" : counts ? "FLOP" : "B");
}

std::string published_text(const PublishedNumber& number)
{
    if (number.quantity == "fits") return number.value != 0 ? "yes" : "no";
    if (number.unit == "FLOP" || number.unit == "B") return format_si(number.value, number.unit);
    return fmt::format("{:g} {}", number.value, number.unit);
}

DataTable published_table(std::span<const Assessment> assessments)
{
    using A = const Assessment&;
    static const std::vector<ColumnOf<Assessment>> columns{
        {"published for", "", [](A a) { return word(work_of_row(a.published)); }, Shown::terminal},
        {"model", "", [](A a) { return word(a.published.of.model); }, Shown::page},
        {"batch", "", [](A a) { return count(a.published.of.batch); }, Shown::page},
        {"machine", "", [](A a) { return a.published.machine.empty() ? absent() : word(a.published.machine); }},
        {"quantity", "", [](A a) { return word(a.published.quantity); }},
        {"published", "", [](A a) { return numeric_text(published_text(a.published)); }},
        {"estimate", "", [](A a) { return numeric_text(estimate_text(a)); }},
        {"how", "", [](A a) { return word(a.published.how); }, Shown::page},
        {"assessment", "", [](A a) { return word(name(a.verdict)); }},
        {"remark", "", [](A a) { return word(a.remark); }},
        {"source", "", [](A a) { return word(a.published.source); }, Shown::page},
    };
    return table_of(columns, std::vector<Assessment>(assessments.begin(), assessments.end()));
}

}  // namespace roof::analysis
