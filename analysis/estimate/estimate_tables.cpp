// Estimates on machines as a table and as JSON.
#include "analysis/estimate/machine_estimate.hpp"
#include "analysis/roofline/roofs.hpp"
#include "analysis/table/fitted_text.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/table.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/level.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <vector>

namespace roof::analysis {
namespace {

constexpr std::string_view machines = "as headed";
constexpr std::string_view counted = "analytic";
constexpr std::string_view both = "both";

using TextOf = std::function<std::string(const MachineEstimate&)>;

/// A row for each quantity, a column for each machine.
class Columns {
  public:
    explicit Columns(std::span<const MachineEstimate> estimates) : estimates_(estimates) {}

    void add(const std::string& what, std::string_view known, const TextOf& cell)
    {
        std::vector<std::string> cells{what};
        for (const MachineEstimate& estimate : estimates_) cells.push_back(cell(estimate));
        cells.emplace_back(known);
        rows_.push_back(std::move(cells));
    }

    /// "-" if the machine lacks the precision.
    void add_placed(const std::string& what, std::string_view known, const TextOf& cell)
    {
        add(what, known, [&](const MachineEstimate& e) { return e.reason.empty() ? cell(e) : std::string("-"); });
    }

    std::string text() const
    {
        std::vector<std::string> titles{" "};
        for (const MachineEstimate& estimate : estimates_)
            titles.push_back(fmt::format("{} ({})", estimate.machine, name(estimate.known)));
        titles.emplace_back("known");
        return analysis::to_text(text_table(titles, rows_));
    }

  private:
    std::span<const MachineEstimate> estimates_;
    std::vector<std::vector<std::string>> rows_;
};

/// The memory levels of all machines, nearest to the core first.
std::vector<std::string> level_names(std::span<const MachineEstimate> estimates)
{
    std::vector<std::string> names;
    for (const MachineEstimate& estimate : estimates)
        for (const LevelPlacement& level : estimate.levels)
            if (std::ranges::find(names, level.level) == names.end()) names.push_back(level.level);
    std::ranges::sort(names, {}, [](const std::string& level) { return std::pair(level == memory_level, level); });
    return names;
}

void add_roofs(Columns& columns, std::span<const MachineEstimate> estimates)
{
    columns.add_placed(
        fmt::format("peak in {}", traits(estimates.front().request.precision).name), machines,
        [](const MachineEstimate& e) { return rate_text(e.peak.value, "FLOP/s", e.peak_is_lower_bound); });
    for (const std::string& name : level_names(estimates)) {
        const auto at_level = [&](const auto& text_of) {
            return [&name, text_of](const MachineEstimate& e) {
                const auto level = std::ranges::find(e.levels, name, &LevelPlacement::level);
                return level == e.levels.end() ? std::string("-") : text_of(*level, e.peak);
            };
        };
        columns.add_placed(name + " bandwidth", machines, at_level([](const LevelPlacement& l, FlopRate) {
                               return rate_text(l.roof.value, "B/s", l.is_lower_bound) +
                                      (l.access.empty() ? "" : ", " + l.access);
                           }));
        columns.add_placed(name + " ridge point, FLOP/B", machines,
                           at_level([](const LevelPlacement& l, FlopRate peak) {
                               return plain_number(ridge_point(peak, l.roof).value);
                           }));
        columns.add_placed(name + " intensity, FLOP/B", counted, at_level([](const LevelPlacement& l, FlopRate) {
                               return intensity_text(l.intensity_low, l.intensity_high);
                           }));
    }
}

/// "447 ms [440 ms, 460 ms]", "447 ms [?, 460 ms]" where a roof is a lower bound; a sheet's figures have no interval.
std::string range_text(Seconds time, const TimeRange& range)
{
    const auto end = [](const std::optional<Seconds>& one) {
        return one ? format_duration(one->value) : std::string("?");
    };
    return format_duration(time.value) +
           (range.high ? fmt::format(" [{}, {}]", end(range.low), end(range.high)) : std::string());
}

/// As many in that time, per second: "12.2 [11.9, ?]".
std::string rate_range_text(double many, Seconds time, const TimeRange& range)
{
    const auto rate = [many](const std::optional<Seconds>& one) {
        return one && one->value > 0 ? plain_number(many / one->value) : std::string("?");
    };
    return rate(time) + (range.high ? fmt::format(" [{}, {}]", rate(range.high), rate(range.low)) : std::string());
}

void add_bound(Columns& columns)
{
    columns.add_placed("bound by", both, [](const MachineEstimate& e) {
        return fmt::format("{}, {}", e.binds_compute ? "compute" : "memory", e.binds);
    });
    columns.add_placed("time under compute roof", both,
                       [](const MachineEstimate& e) { return percent(e.compute_share); });
    columns.add_placed("time, layer by layer", both,
                       [](const MachineEstimate& e) { return range_text(e.layer_by_layer, e.layer_by_layer_range); });
    columns.add_placed("time, without overlap", both,
                       [](const MachineEstimate& e) { return range_text(e.without_overlap, e.without_overlap_range); });
    columns.add_placed("time, network at once", both, [](const MachineEstimate& e) {
        return fmt::format("{}, {}", format_duration(e.at_once.value), e.at_once_binds);
    });
}

void add_scaling(Columns& columns, const EstimateRequest& request)
{
    if (request.devices < 2) return;
    const auto scaled = [&](const std::string& what, const std::function<Seconds(const ScalingEstimate&)>& time) {
        columns.add_placed(what, both, [time](const MachineEstimate& e) {
            return e.scaling ? format_duration(time(*e.scaling).value) : std::string("-");
        });
    };
    columns.add("gradients to all-reduce", counted,
                [](const MachineEstimate& e) { return format_si(e.footprint.gradients.value, "B"); });
    scaled(fmt::format("all-reduce over {}", request.link), [](const ScalingEstimate& s) { return s.all_reduce; });
    scaled("step, all-reduce exposed", [](const ScalingEstimate& s) { return s.exposed; });
    scaled("step, hidden by backward", [](const ScalingEstimate& s) { return s.hidden; });
}

/// Tokens of each input that a step works on; 0 if the inputs are no sequences of tokens.
double tokens_each(const EstimateRequest& request)
{
    if (request.passes == Passes::decode) return 1;
    const auto given = request.sizes.find("tokens");
    return given == request.sizes.end() ? model::usual_tokens(request.model) : static_cast<double>(given->second);
}

void add_throughput(Columns& columns, const EstimateRequest& request)
{
    if (const double tokens = tokens_each(request); tokens > 0) {
        const double all = tokens * request.batch * request.devices;
        columns.add_placed("tokens/s, layer by layer", both, [all](const MachineEstimate& e) {
            return rate_range_text(all, e.step(), e.scaling ? TimeRange{} : e.layer_by_layer_range);
        });
        columns.add_placed("tokens/s, without overlap", both, [all](const MachineEstimate& e) {
            return rate_range_text(all, e.without_overlap, e.without_overlap_range);
        });
        return;
    }
    columns.add_placed("images/s, layer by layer", both,
                       [](const MachineEstimate& e) { return plain_number(e.images_per_second()); });
    columns.add_placed("epoch of " + how_many(static_cast<std::size_t>(request.images), "image"), both,
                       [](const MachineEstimate& e) { return format_duration(e.epoch().value); });
}

void add_memory(Columns& columns)
{
    const auto bytes = [](Bytes value) { return format_si(value.value, "B"); };
    columns.add("memory allocated", counted, [&](const MachineEstimate& e) { return bytes(e.footprint.total()); });
    columns.add("  of it activations", counted, [&](const MachineEstimate& e) { return bytes(e.footprint.kept()); });
    columns.add("  as PyTorch keeps them", counted,
                [&](const MachineEstimate& e) { return bytes(e.footprint.kept_by_pytorch()); });
    columns.add("memory of the device", "as given",
                [&](const MachineEstimate& e) { return e.memory.value > 0 ? bytes(e.memory) : std::string("-"); });
    columns.add("fits", "as given", [](const MachineEstimate& e) {
        return e.memory.value <= 0 ? std::string("-") : std::string(e.fits() ? "yes" : "out of memory");
    });
    columns.add("largest batch that fits", "as given", [](const MachineEstimate& e) {
        return e.memory.value > 0 ? std::to_string(e.largest_batch) : std::string("-");
    });
}

std::string heading(const EstimateRequest& request)
{
    const std::string devices = request.devices < 2 ? "" : fmt::format(" on each of {} devices", request.devices);
    return fmt::format("{} at batch {}{} in {}, {}: what the roofs allow\n", request.model, request.batch, devices,
                       traits(request.precision).name,
                       request.passes == Passes::train     ? "training step"
                       : request.passes == Passes::forward ? "forward pass"
                                                           : name(request.passes));
}

nlohmann::json scaling_json(const MachineEstimate& estimate)
{
    if (!estimate.scaling) return nullptr;
    return {{"devices", estimate.request.devices},
            {"link", estimate.request.link},
            {"gradient_bytes", estimate.footprint.gradients.value},
            {"all_reduce_s", estimate.scaling->all_reduce.value},
            {"exposed_s", estimate.scaling->exposed.value},
            {"hidden_s", estimate.scaling->hidden.value}};
}

nlohmann::json memory_json(const MachineEstimate& estimate)
{
    const Footprint& footprint = estimate.footprint;
    return {{"known", name(Known::analytic)},
            {"total_bytes", footprint.total().value},
            {"parameter_bytes", footprint.parameters.value},
            {"gradient_bytes", footprint.gradients.value},
            {"momentum_bytes", footprint.momentum.value},
            {"image_bytes", footprint.images.value},
            {"activation_bytes", footprint.kept().value},
            {"activation_bytes_pytorch", footprint.kept_by_pytorch().value},
            {"working_bytes", footprint.working.value},
            {"device_bytes", json_number(estimate.memory.value)},
            {"fits", estimate.fits()}};
}

nlohmann::json levels_json(const MachineEstimate& estimate)
{
    nlohmann::json levels = nlohmann::json::array();
    for (const LevelPlacement& level : estimate.levels) {
        levels.push_back({{"level", level.level},
                          {"level_roof_byte_per_s", json_number(level.roof.value)},
                          {"access", level.access.empty() ? nlohmann::json(nullptr) : nlohmann::json(level.access)},
                          {"is_lower_bound", level.is_lower_bound},
                          {"compulsory_bytes", level.low.value},
                          {"most_bytes", level.high.value},
                          {"intensity_low", json_number(level.intensity_low.value)},
                          {"intensity_high", json_number(level.intensity_high.value)},
                          {"ridge", json_number(ridge_point(estimate.peak, level.roof).value)}});
    }
    return levels;
}

nlohmann::json end_json(const std::optional<Seconds>& end)
{
    return end ? json_number(end->value) : nlohmann::json(nullptr);
}

nlohmann::json layers_json(const MachineEstimate& estimate)
{
    nlohmann::json layers = nlohmann::json::array();
    for (const Placement& layer : estimate.layers) {
        layers.push_back({{"layer", layer.name},
                          {"kind", layer.kind},
                          {"phase", layer.phase_name()},
                          {"flops", layer.flops.value},
                          {"compulsory_bytes", layer.levels.empty() ? 0 : layer.levels.back().low.value},
                          {"attainable_s", layer.attainable.value},
                          {"binds", layer.binds}});
    }
    return layers;
}

}  // namespace

std::string to_text(std::span<const MachineEstimate> estimates)
{
    if (estimates.empty()) return {};
    const EstimateRequest& request = estimates.front().request;
    Columns columns(estimates);
    add_roofs(columns, estimates);
    add_bound(columns);
    add_scaling(columns, request);
    add_throughput(columns, request);
    add_memory(columns);
    std::string text;
    for (const MachineEstimate& estimate : estimates)
        if (!estimate.quality.empty()) text += fmt::format("{}: {}\n", estimate.machine, estimate.quality);
    text += heading(request) + '\n' + columns.text() + '\n';
    if (estimates.front().is_lower_bound)
        text +=
            "FLOPs of some operators are unknown (named without --on): times are lower bounds, rates upper bounds\n";
    for (const MachineEstimate& estimate : estimates)
        text += fmt::format("{}: {}{}\n", estimate.machine, estimate.title,
                            estimate.reason.empty() ? "" : "; no estimate: " + estimate.reason);
    return text;
}

std::string bound_sentence(const MachineEstimate& e)
{
    const std::string what = fmt::format(
        "{} at batch {}{} on {}", e.request.model, e.request.batch,
        e.request.passes == Passes::train ? "" : fmt::format(", {} alone,", name(e.request.passes)), e.machine);
    if (!e.reason.empty()) return what + ": no estimate; " + e.reason + ".";
    const LevelPlacement& memory = e.levels.back();
    return fmt::format(
        "{} is {}-bound: {} of its {} lie under {} ({} FLOP/B, ridge point {}).", what,
        e.binds_compute ? "compute" : "memory", percent(e.binds_compute ? e.compute_share : 1 - e.compute_share),
        format_duration(e.layer_by_layer.value),
        e.binds_compute ? fmt::format("the {} roof", traits(e.request.precision).name) : "bandwidth roofs",
        plain_number(memory.intensity_high.value), plain_number(ridge_point(e.peak, memory.roof).value));
}

DataTable estimates_table(const std::vector<MachineEstimate>& estimates)
{
    using E = const MachineEstimate&;
    const auto placed = [](auto read) { return [read](E e) { return e.reason.empty() ? read(e) : absent(); }; };
    const auto of_memory = [placed](auto read) { return placed([read](E e) { return read(e.levels.back()); }); };
    using L = const LevelPlacement&;
    static const auto bytes = [](Bytes value) { return only_if(value.value > 0, amount(value.value, "B")); };
    const std::vector<ColumnOf<MachineEstimate>> columns{
        {"model", "model", [](E e) { return word(e.request.model); }},
        {"batch", "batch", [](E e) { return count(e.request.batch); }},
        {"phase", "phase", [](E e) { return word(name(e.request.passes)); }},
        {"precision", "precision", [](E e) { return word(traits(e.request.precision).name); }},
        {"devices", "devices", [](E e) { return count(e.request.devices); }},
        {"machine", "machine", [](E e) { return word(e.machine); }},
        {"roofs", "roofs_known", [](E e) { return word(name(e.known)); }},
        {"FLOPs of all layers", "flops_of_all_layers", placed([](E e) { return amount(e.flops.value, "FLOP"); })},
        {"bytes", "compulsory_bytes", of_memory([](L l) { return amount(l.low.value, "B"); })},
        {"FLOP/B", "intensity_flop_per_byte", of_memory([](L l) { return plain(l.intensity_high.value); })},
        {"ridge", "ridge_flop_per_byte",
         placed([](E e) { return plain(ridge_point(e.peak, e.levels.back().roof).value); })},
        {"peak", "peak_flop_per_s",
         placed([](E e) { return number(e.peak.value, rate_text(e.peak.value, "FLOP/s", e.peak_is_lower_bound)); })},
        {"bandwidth", "bandwidth_byte_per_s",
         of_memory([](L l) { return number(l.roof.value, rate_text(l.roof.value, "B/s", l.is_lower_bound)); })},
        {"bound by", "bound", placed([](E e) { return word(e.binds_compute ? "compute" : "memory"); })},
        {"under compute", "compute_share", placed([](E e) { return share(e.compute_share); })},
        {"least time", "layer_by_layer_s", placed([](E e) { return seconds(e.layer_by_layer); })},
        {"without overlap", "without_overlap_s", placed([](E e) { return seconds(e.without_overlap); })},
        {"step", "step_s", placed([](E e) { return seconds(e.step()); })},
        {"images/s", "images_per_s",
         placed([](E e) { return only_if(tokens_each(e.request) == 0, plain(e.images_per_second())); })},
        {"tokens/s", "tokens_per_s", placed([](E e) {
             const double tokens = tokens_each(e.request);
             return only_if(tokens > 0, plain(tokens * e.images_per_second()));
         })},
        {"epoch", "epoch_s", placed([](E e) { return only_if(tokens_each(e.request) == 0, seconds(e.epoch())); })},
        {"memory", "memory_bytes", [](E e) { return bytes(e.footprint.total()); }},
        {"of it activations", "activation_bytes", [](E e) { return bytes(e.footprint.kept()); }},
        {"of the device", "device_bytes", [](E e) { return bytes(e.memory); }},
        {"fits", "fits", [](E e) { return only_if(e.memory.value > 0, word(e.fits() ? "yes" : "out of memory")); }},
        {"largest batch", "largest_batch", [](E e) { return only_if(e.memory.value > 0, count(e.largest_batch)); }},
    };
    DataTable table = table_of(columns, estimates);
    drop_empty_columns(table);
    return table;
}

nlohmann::json to_json(const MachineEstimate& e)
{
    const bool placed = e.reason.empty();
    nlohmann::json record = to_json(estimates_table({e})).at(0);
    record.update(nlohmann::json{
        {"title", json_text(e.title)},
        {"quality", e.quality.empty() ? nlohmann::json(nullptr) : nlohmann::json(json_text(e.quality))},
        {"reason", placed ? nlohmann::json(nullptr) : nlohmann::json(e.reason)},
        {"peak_is_lower_bound", e.peak_is_lower_bound},
        {"is_lower_bound", e.is_lower_bound},
        {"levels", levels_json(e)},
        {"binds", placed ? nlohmann::json(e.binds) : nullptr},
        {"layer_by_layer_low_s", end_json(e.layer_by_layer_range.low)},
        {"layer_by_layer_high_s", end_json(e.layer_by_layer_range.high)},
        {"without_overlap_low_s", end_json(e.without_overlap_range.low)},
        {"without_overlap_high_s", end_json(e.without_overlap_range.high)},
        {"at_once_s", e.at_once.value},
        {"forward_s", e.forward.value},
        {"backward_s", e.backward.value},
        {"update_s", e.update.value},
        {"epoch_images", tokens_each(e.request) > 0 ? nlohmann::json(nullptr) : nlohmann::json(e.request.images)},
        {"memory", memory_json(e)},
        {"scaling", scaling_json(e)},
        {"layers", layers_json(e)}});
    return record;
}

}  // namespace roof::analysis
