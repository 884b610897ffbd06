// Estimates on machines as a table and as JSON.
#include "analysis/estimate/machine_estimate.hpp"
#include "analysis/roofline/roofs.hpp"
#include "analysis/table/fitted_text.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/table.hpp"
#include "ert/base/ranges.hpp"
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
constexpr std::string_view as_given = "as given";

using E = const MachineEstimate&;
using Read = std::function<Cell(E)>;

/// A quantity: in files a column, in the terminal a row, which says how it is known.
struct EstimateRow : ColumnOf<MachineEstimate> {
    std::string_view known{};  ///< empty: not in the terminal, or in its headings
};
using EstimateRows = std::vector<EstimateRow>;

/// Absent if the machine lacks the precision.
Read placed(Read read)
{
    return [read = std::move(read)](E e) { return e.reason.empty() ? read(e) : absent(); };
}

/// The memory levels of all machines, nearest to the core first; memory in any case.
std::vector<std::string> level_names(std::span<const MachineEstimate> estimates)
{
    std::vector<std::string> names{std::string(memory_level)};
    for (const MachineEstimate& estimate : estimates)
        for (const LevelPlacement& level : estimate.placed.levels) add_once(names, level.level);
    std::ranges::sort(names, {}, [](const std::string& level) { return std::pair(level == memory_level, level); });
    return names;
}

void add_roofs(EstimateRows& all, std::span<const MachineEstimate> estimates)
{
    using L = const LevelPlacement&;
    all.push_back({{"peak", "peak_flop_per_s", placed([](E e) {
                        return number(e.placed.compute_roof.value,
                                      rate_text(e.placed.compute_roof.value, "FLOP/s", e.placed.peak_is_lower_bound));
                    })},
                   machines});
    for (const std::string& level : level_names(estimates)) {
        // Files have those of the memory; JSON has "levels" besides.
        const bool is_memory = level == memory_level;
        const auto add = [&](const char* what, const char* key, std::string_view known, auto read) {
            const auto at_level = [level, read](E e) {
                const auto* const found = find_in(e.placed.levels, level, &LevelPlacement::level);
                return found ? read(*found, e.placed.compute_roof) : absent();
            };
            all.push_back({{level + what, is_memory ? key : "", placed(at_level),
                            is_memory ? Shown::everywhere : Shown::terminal},
                           known});
        };
        add(" bytes", "compulsory_bytes", counted, [](L l, FlopRate) { return amount(l.low.value, "B"); });
        add(" bandwidth", "bandwidth_byte_per_s", machines, [](L l, FlopRate) {
            const std::string accesses = accesses_text(l);
            return number(l.roof.value,
                          rate_text(l.roof.value, "B/s", l.is_lower_bound) + (accesses.empty() ? "" : ", " + accesses));
        });
        add(" ridge point, FLOP/B", "ridge_flop_per_byte", machines,
            [](L l, FlopRate peak) { return plain(ridge_point(peak, l.roof).value); });
        add(" intensity, FLOP/B", "intensity_flop_per_byte", counted, [](L l, FlopRate) {
            return number(l.intensity_high.value, intensity_text(l.intensity_low, l.intensity_high));
        });
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

void add_times(EstimateRows& all)
{
    const auto add = [&](const char* what, const char* key, Read read) {
        all.push_back({{what, key, placed(std::move(read))}, both});
    };
    add("bound by", "bound", [](E e) {
        const char* const bound = e.placed.binds_compute ? "compute" : "memory";
        return word(fmt::format("{}, {}", bound, e.placed.binds), bound);
    });
    add("time under compute roof", "compute_share", [](E e) { return share(e.compute_share); });
    add("time, layer by layer", "layer_by_layer_s",
        [](E e) { return number(e.placed.attainable.value, range_text(e.placed.attainable, e.layer_by_layer_range)); });
    add("time, without overlap", "without_overlap_s",
        [](E e) { return number(e.without_overlap.value, range_text(e.without_overlap, e.without_overlap_range)); });
    add("time, network at once", "at_once_s", [](E e) {
        return number(e.at_once.attainable.value,
                      fmt::format("{}, {}", format_duration(e.at_once.attainable.value), e.at_once.binds));
    });
}

void add_scaling(EstimateRows& all, const EstimateRequest& request)
{
    const auto add = [&](const std::string& what, Seconds ScalingEstimate::*time) {
        all.push_back(
            {{what, "", placed([time](E e) { return e.scaling ? seconds(*e.scaling.*time) : absent(); })}, both});
    };
    if (request.devices > 1)
        all.push_back(
            {{"gradients to all-reduce", "", [](E e) { return amount(e.footprint.gradients.value, "B"); }}, counted});
    add("all-reduce over " + request.link, &ScalingEstimate::all_reduce);
    add("step, all-reduce exposed", &ScalingEstimate::exposed);
    add("step, hidden by backward", &ScalingEstimate::hidden);
    all.push_back({{"step", "step_s", placed([](E e) { return seconds(e.step()); })}});
}

/// Tokens of each input that a step works on; 0 if the inputs are no sequences of tokens.
double tokens_each(const EstimateRequest& request)
{
    if (request.passes == Passes::decode) return 1;
    const auto given = request.sizes.find("tokens");
    return given == request.sizes.end() ? model::usual_tokens(request.model) : static_cast<double>(given->second);
}

void add_throughput(EstimateRows& all, const EstimateRequest& request)
{
    const auto add = [&](const std::string& what, const char* key, bool of_tokens, Read read) {
        all.push_back({{what, key, placed([of_tokens, read = std::move(read)](E e) {
                            return (tokens_each(e.request) > 0) == of_tokens ? read(e) : absent();
                        })},
                       both});
    };
    add("images/s, layer by layer", "images_per_s", false, [](E e) { return plain(e.images_per_second()); });
    add("tokens/s, layer by layer", "tokens_per_s", true, [](E e) {
        const double tokens = tokens_each(e.request) * e.images();
        return number(tokens / e.step().value,
                      rate_range_text(tokens, e.step(), e.scaling ? TimeRange{} : e.layer_by_layer_range));
    });
    add("tokens/s, without overlap", "", true, [](E e) {
        const double tokens = tokens_each(e.request) * e.images();
        return numeric_text(rate_range_text(tokens, e.without_overlap, e.without_overlap_range));
    });
    add("epoch of " + how_many(static_cast<std::size_t>(request.images), "image"), "epoch_s", false,
        [](E e) { return seconds(e.epoch()); });
}

void add_memory(EstimateRows& all)
{
    const auto add = [&](const char* what, const char* key, std::string_view known, Read read) {
        all.push_back({{what, key, std::move(read)}, known});
    };
    const auto of_device = [](auto read) { return [read](E e) { return e.memory.value > 0 ? read(e) : absent(); }; };
    add("memory allocated", "memory_bytes", counted, [](E e) { return amount(e.footprint.total().value, "B"); });
    add("  of it activations", "activation_bytes", counted, [](E e) { return amount(e.footprint.kept().value, "B"); });
    add("  as PyTorch keeps them", "", counted, [](E e) { return amount(e.footprint.kept_by_pytorch().value, "B"); });
    add("memory of the device", "device_bytes", as_given, of_device([](E e) { return amount(e.memory.value, "B"); }));
    add("fits", "fits", as_given, of_device([](E e) { return word(e.fits() ? "yes" : "out of memory"); }));
    add("largest batch that fits", "largest_batch", as_given, of_device([](E e) { return count(e.largest_batch); }));
}

/// All estimates have the first one's number of devices, link and images.
EstimateRows rows_of(std::span<const MachineEstimate> estimates)
{
    EstimateRows all{
        {{"model", "model", [](E e) { return word(e.request.model); }}},
        {{"batch", "batch", [](E e) { return count(e.request.batch); }}},
        {{"phase", "phase", [](E e) { return word(name(e.request.passes)); }}},
        {{"precision", "precision", [](E e) { return word(traits(e.request.precision).name); }}},
        {{"devices", "devices", [](E e) { return count(e.request.devices); }}},
        {{"machine", "machine", [](E e) { return word(e.machine); }}},
        {{"roofs", "roofs_known", [](E e) { return word(name(e.known)); }}},
        {{"FLOPs of all layers", "flops_of_all_layers",
          placed([](E e) { return amount(e.placed.flops.value, "FLOP"); })},
         counted},
    };
    if (estimates.empty()) return all;
    const EstimateRequest& request = estimates.front().request;
    add_roofs(all, estimates);
    add_times(all);
    add_scaling(all, request);
    add_throughput(all, request);
    add_memory(all);
    return all;
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
    return mapped(estimate.placed.levels, [&](const LevelPlacement& level) -> nlohmann::json {
        return {{"level", level.level},
                {"level_roof_byte_per_s", json_number(level.roof.value)},
                {"access", text_or_null(accesses_text(level))},
                {"is_lower_bound", level.is_lower_bound},
                {"compulsory_bytes", level.low.value},
                {"most_bytes", level.high.value},
                {"intensity_low", json_number(level.intensity_low.value)},
                {"intensity_high", json_number(level.intensity_high.value)},
                {"ridge", json_number(ridge_point(estimate.placed.compute_roof, level.roof).value)}};
    });
}

nlohmann::json end_json(const std::optional<Seconds>& end)
{
    return end ? json_number(end->value) : nlohmann::json(nullptr);
}

nlohmann::json layers_json(const MachineEstimate& estimate)
{
    return mapped(estimate.layers, [](const Placement& layer) -> nlohmann::json {
        return {{"layer", layer.name},
                {"kind", layer.kind},
                {"phase", layer.phase_name()},
                {"flops", layer.flops.value},
                {"compulsory_bytes", layer.levels.empty() ? 0 : layer.levels.back().low.value},
                {"attainable_s", layer.attainable.value},
                {"binds", layer.binds}};
    });
}

}  // namespace

std::string to_text(std::span<const MachineEstimate> estimates)
{
    if (estimates.empty()) return {};
    std::vector<std::string> titles{" "};
    for (E e : estimates) titles.push_back(fmt::format("{} ({})", e.machine, name(e.known)));
    titles.emplace_back("known");
    std::vector<std::vector<std::string>> rows;
    for (const EstimateRow& quantity : rows_of(estimates)) {
        std::vector<std::string> row{quantity.title};
        bool is_there = false;
        for (E e : estimates) {
            const Cell cell = quantity.read(e);
            row.push_back(cell.text);
            is_there = is_there || !cell.is_absent;
        }
        row.emplace_back(quantity.known);
        if (is_there && !quantity.known.empty()) rows.push_back(std::move(row));
    }
    std::string text;
    for (E e : estimates)
        if (!e.quality.empty()) text += fmt::format("{}: {}\n", e.machine, e.quality);
    text += heading(estimates.front().request) + '\n' + to_text(text_table(titles, rows)) + '\n';
    if (estimates.front().is_lower_bound)
        text +=
            "FLOPs of some operators are unknown (named without --on): times are lower bounds, rates upper bounds\n";
    for (E e : estimates)
        text += fmt::format("{}: {}{}\n", e.machine, e.title, e.reason.empty() ? "" : "; no estimate: " + e.reason);
    return text;
}

std::string bound_sentence(const MachineEstimate& e)
{
    const std::string what = fmt::format(
        "{} at batch {}{} on {}", e.request.model, e.request.batch,
        e.request.passes == Passes::train ? "" : fmt::format(", {} alone,", name(e.request.passes)), e.machine);
    if (!e.reason.empty()) return what + ": no estimate; " + e.reason + ".";
    const LevelPlacement& memory = e.placed.levels.back();
    return fmt::format(
        "{} is {}-bound: {} of its {} lie under {} ({} FLOP/B, ridge point {}).", what,
        e.placed.binds_compute ? "compute" : "memory",
        percent(e.placed.binds_compute ? e.compute_share : 1 - e.compute_share),
        format_duration(e.placed.attainable.value),
        e.placed.binds_compute ? fmt::format("the {} roof", traits(e.request.precision).name) : "bandwidth roofs",
        plain_number(memory.intensity_high.value), plain_number(ridge_point(e.placed.compute_roof, memory.roof).value));
}

DataTable estimates_table(const std::vector<MachineEstimate>& estimates)
{
    const EstimateRows all = rows_of(estimates);
    DataTable table = table_of(std::vector<ColumnOf<MachineEstimate>>(all.begin(), all.end()), estimates);
    drop_empty_columns(table);
    return table;
}

nlohmann::json to_json(const MachineEstimate& e)
{
    nlohmann::json record = to_json(estimates_table({e})).at(0);
    record.update(nlohmann::json{
        {"title", json_text(e.title)},
        {"quality", text_or_null(e.quality)},
        {"reason", text_or_null(e.reason)},
        {"peak_is_lower_bound", e.placed.peak_is_lower_bound},
        {"is_lower_bound", e.is_lower_bound},
        {"levels", levels_json(e)},
        {"binds", text_or_null(e.placed.binds)},
        {"layer_by_layer_low_s", end_json(e.layer_by_layer_range.low)},
        {"layer_by_layer_high_s", end_json(e.layer_by_layer_range.high)},
        {"without_overlap_low_s", end_json(e.without_overlap_range.low)},
        {"without_overlap_high_s", end_json(e.without_overlap_range.high)},
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
