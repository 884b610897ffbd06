#include "analysis/table/rows.hpp"

#include "analysis/table/quantities.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/machine.hpp"
#include "ert/method/bench/measurement.hpp"
#include "ert/method/bench/process_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <tuple>

namespace roof::analysis {
namespace {

/// "batch_norm" -> "batch norm"
std::string in_words(std::string axis)
{
    std::ranges::replace(axis, '_', ' ');
    return axis;
}

/// The axes without a function of their own.
std::vector<std::string> other_axes()
{
    std::vector<std::string> axes = axis_names();
    std::erase_if(axes, [](const std::string& axis) {
        constexpr std::array own{"model", "batch", "precision", "data", "ranks", "scaling", "threads"};
        return std::ranges::find(own, axis) != own.end();
    });
    return axes;
}

std::vector<StepKey> made_step_keys()
{
    using M = const Measurement&;
    std::vector<StepKey> keys{
        {"model", "model", [](M m) { return word(model_of(m)); }},
        {"batch", "batch_images", [](M m) { return count(batch_of(m), batch_text(m)); }},
        {"precision", "precision", [](M m) { return name_cell(precision_of(m)); }},
        {"device", "device", [](M m) { return word(m.device); }},
        {"data", "data", [](M m) { return name_cell(m.point.has("data") ? data_of(m) : ""); }},
        {"ranks", "ranks", [](M m) { return count(m.ranks()); }},
        {"scaling", "scaling", [](M m) { return name_cell(scaling_name(m)); }},
        {"threads", "threads", [](M m) { return only_if(threads_of(m) > 0, count(threads_of(m))); }},
    };
    for (const std::string& axis : other_axes())
        keys.push_back({in_words(axis), "", [=](M m) { return name_cell(m.point.text_or(axis, "")); }});
    return keys;
}

// Less is usual on a quiet machine.
constexpr double noticed_time = 0.02;       ///< waited or stolen
constexpr double noticed_processors = 0.1;  ///< used by others, counted in ticks
constexpr double noticed_readings = 0.1;    ///< of a shared core

bool is_above(const std::optional<double>& use, double limit)
{
    return use && *use > limit;
}

bool is_busy(const HostUse& use)
{
    return is_above(use.others, noticed_processors) || is_above(use.stolen, noticed_time) ||
           is_above(use.waited, noticed_time) || is_above(use.shared, noticed_readings);
}

/// Median time of the used launches, or of those during which nothing else ran; 0 for fewer than three.
double median_of_launches(const Measurement& row, bool only_quiet)
{
    constexpr std::size_t fewest = 3;
    std::vector<double> seconds;
    for (const Sample& sample : row.samples)
        if (sample.used && !(only_quiet && is_busy(sample.host))) seconds.push_back(sample.seconds.value);
    return seconds.size() < fewest ? 0 : spread_of(seconds).median;
}

}  // namespace

std::string model_of(const Measurement& row)
{
    if (!row.point.has("model")) return row.bench;
    const std::string model = row.point.text("model");
    const std::string begin = "{name: ";  // of a network's layers as text
    return model.starts_with(begin) ? model.substr(begin.size(), model.find_first_of(",}") - begin.size()) : model;
}

std::string id_without(const std::string& id, std::string_view axis)
{
    std::vector<std::string> words = split(id, ' ');
    std::erase_if(words, [&](const std::string& word) { return word.starts_with(std::string(axis) + "="); });
    return join(words, " ");
}

long long batch_of(const Measurement& row)
{
    return row.point.has("batch") ? row.point.integer("batch") : 0;
}

int threads_of(const Measurement& row)
{
    return row.point.has("threads") ? static_cast<int>(row.point.integer("threads")) : 0;
}

std::string data_of(const Measurement& row)
{
    if (!row.point.has("data")) return "-";
    const std::filesystem::path where = row.point.text("data");
    return (where.has_filename() ? where : where.parent_path()).filename().string();
}

std::string scaling_name(const Measurement& row)
{
    return row.ranks() > 1 ? row.point.text_or("scaling", "weak") : "";
}

std::string batch_text(const Measurement& row)
{
    if (!row.point.has("batch")) return "-";
    const std::string scaling = scaling_name(row);
    return std::to_string(batch_of(row)) + (scaling.empty() ? "" : scaling == "strong" ? " in all" : " per rank");
}

long long tokens_of(const Measurement& row)
{
    return row.point.has("tokens") ? row.point.integer("tokens") : 0;
}

std::string phase_of(const Measurement& row)
{
    return row.point.text_or("phase", "train");
}

long long tokens_each(const Measurement& row)
{
    return phase_of(row) == "decode" ? 1 : tokens_of(row);
}

std::string batch_items(std::span<const Measurement> rows)
{
    const auto is_foreign = [](const Measurement& row) { return row.role == Role::step && row.bench != "train"; };
    const auto has_tokens = [](const Measurement& row) { return row.role == Role::step && tokens_of(row) > 0; };
    const auto has_none = [](const Measurement& row) { return row.role == Role::step && tokens_of(row) == 0; };
    if (std::ranges::none_of(rows, has_tokens)) return std::ranges::any_of(rows, is_foreign) ? "inputs" : "images";
    return std::ranges::any_of(rows, has_none) ? "inputs" : "sequences";
}

std::string where_text(const Measurement& row, std::span<const Measurement> among)
{
    // Each row of a table asks all of them, so nothing is copied.
    const auto value = [](const Measurement& one, const std::string& axis) -> std::string_view {
        const auto& values = one.point.values();
        const auto found = std::ranges::find(
            values, axis, [](const auto& pair) -> const auto& { return pair.first; });
        return found == values.end() ? std::string_view{} : found->second;
    };
    std::string text = row.device;
    if (row.ranks() > 1) text += fmt::format(", {} ranks, {} scaling", row.ranks(), scaling_name(row));
    if (threads_of(row) > 0) text += ", " + threads_text(threads_of(row));
    for (const std::string& axis : other_axes()) {
        const auto differs = [&](const Measurement& other) {
            return other.role == Role::step && value(other, axis) != value(row, axis);
        };
        if (row.point.has(axis) && std::ranges::any_of(among, differs))
            text += ", " + in_words(axis) + " " + row.point.text(axis);
    }
    return text;
}

std::string step_title(const Measurement& row, std::span<const Measurement> among)
{
    const std::string data = data_of(row);
    return model_of(row) + (batch_of(row) > 0 ? ", batch " + batch_text(row) : "") +
           (precision_of(row).empty() ? "" : ", " + precision_of(row)) + " on " + where_text(row, among) +
           (data == "-" || data == "synthetic" ? "" : ", images of " + data);
}

std::string step_name(const Measurement& row, std::span<const Measurement* const> among)
{
    std::string name = model_of(row) + (batch_of(row) > 0 ? " b" + batch_text(row) : "");
    for (const StepKey& key : step_keys()) {
        const Cell own = key.read(row);
        const auto differs = [&](const Measurement* other) {
            return model_of(*other) == model_of(row) && batch_of(*other) == batch_of(row) &&
                   key.read(*other).text != own.text;
        };
        const bool is_named = key.title == "model" || key.title == "batch" || key.title == "scaling";
        if (is_named || own.is_absent || std::ranges::none_of(among, differs)) continue;
        if (own.is_number)
            name += ", " + own.text + " " + (own.text == "1" ? key.title.substr(0, key.title.size() - 1) : key.title);
        else
            name += ", " + (key.key.empty() ? key.title + " " : "") + own.text;
    }
    return name;
}

std::string owner_of(const Machine& machine, const std::string& device)
{
    if (kind_of_device(device) != "gpu") return machine.name;
    const std::vector<std::string> names = devices_in(device);
    const auto found = std::ranges::find(machine.devices, names.front(), &Device::name);
    const bool known = found != machine.devices.end() && !found->model.empty();
    const std::string model = known ? found->model : machine.name;
    return names.size() > 1 ? std::to_string(names.size()) + " x " + model : model;
}

bool is_unstable(const Measurement& row)
{
    constexpr double factor = 2;
    return row.status == Status::ok && row.seconds.high.value > factor * row.seconds.low.value;
}

std::string status_text(const Measurement& row)
{
    return is_unstable(row) ? "unstable" : std::string(name(row.status));
}

Disturbed disturbed_of(std::span<const Measurement> rows)
{
    Disturbed found;
    for (const Measurement& row : rows)
        for (const Sample& sample : row.samples) {
            const bool is_disturbed = !sample.disturbance.empty();
            found.taken += sample.used || is_disturbed;
            found.number += is_disturbed;
            if (is_disturbed) ++found.reasons[sample.disturbance];
        }
    return found;
}

std::string disturbances(const Measurement& row)
{
    const Disturbed found = disturbed_of({&row, 1});
    if (found.number == 0 && is_busy(row.host)) return "the machine was busy";
    if (found.number == 0)
        return "no disturbance was recorded in " + how_many(static_cast<std::size_t>(found.taken), "sample");
    std::vector<std::string> reasons;
    for (const auto& [reason, number] : found.reasons) reasons.push_back(reason);
    return fmt::format("{} of {} samples disturbed: {}", found.number, found.taken, join(reasons, ", "));
}

std::string precision_of(const Measurement& row)
{
    return row.point.text_or("precision", "");
}

std::string_view time_known(std::span<const Measurement> rows)
{
    return name(rows.empty() ? Known::measured : rows.front().time_known);
}

std::vector<const Measurement*> step_rows(std::span<const Measurement> rows)
{
    std::map<std::string, std::size_t> models;  // in their order
    std::vector<const Measurement*> steps;
    for (const Measurement& row : rows) {
        if (row.role != Role::step) continue;
        steps.push_back(&row);
        models.try_emplace(model_of(row), models.size());
    }
    std::ranges::stable_sort(steps, {}, [&](const Measurement* row) { return models.at(model_of(*row)); });
    return steps;
}

std::vector<const Measurement*> measured_steps(std::span<const Measurement> rows)
{
    std::vector<const Measurement*> steps = step_rows(rows);
    std::erase_if(steps, [](const Measurement* row) { return row->status != Status::ok; });
    return steps;
}

std::vector<const Measurement*> largest_batches(std::span<const Measurement> rows)
{
    const auto key = [](const Measurement& row) {
        return std::tuple{row.bench, row.device, row.point.without("batch").without("data").str()};
    };
    std::vector<const Measurement*> largest;
    for (const Measurement* row : measured_steps(rows)) {
        const auto same = std::find_if(largest.begin(), largest.end(),
                                       [&](const Measurement* other) { return key(*other) == key(*row); });
        if (same == largest.end())
            largest.push_back(row);
        else if (batch_of(*row) > batch_of(**same))
            *same = row;
    }
    return largest;
}

const std::vector<StepKey>& step_keys()
{
    static const std::vector<StepKey> keys = made_step_keys();
    return keys;
}

void tell_steps_apart(DataTable& table)
{
    constexpr std::size_t always = 5;
    for (std::size_t i = 0; i < step_keys().size(); ++i) {
        const StepKey& key = step_keys()[i];
        table.identifying.push_back(key.title);
        const std::size_t column = table.column(key.title);
        if (i < always || (table.rows.size() > 1 && !is_constant(table, column))) continue;
        table.columns[column].title.clear();
        if (key.key.empty()) erase_column(table, column);
    }
}

bool took_turns(const Measurement& row)
{
    return row.remarks.find(ranks_take_turns) != std::string::npos;
}

bool differ_in_clock(const Measurement& row)
{
    return row.remarks.find(ranks_differ_in_clock) != std::string::npos;
}

bool has_bytes_of_others(const Measurement& row)
{
    const auto fuses = [](const PartMeasurement& part) {
        return part.part.kind == "batch_norm" && part.part.implementation.find("roof:") != std::string::npos;
    };
    return row.description.find(bytes_of_operations) == std::string::npos && row.device.starts_with("gpu") &&
           std::ranges::any_of(row.parts, fuses);
}

std::optional<BusyCost> busy_cost(const Measurement& row)
{
    if (!is_busy(row.host)) return {};
    const double all = median_of_launches(row, false);
    const double quiet = median_of_launches(row, true);
    if (all > 0 && quiet > 0) return BusyCost{std::max(0.0, 1 - quiet / all), Known::measured};
    // What a neighbour on the core takes is in no counter.
    if ((!row.host.waited && !row.host.stolen) || is_above(row.host.shared, noticed_readings)) return {};
    const double processors = std::max(1LL, row.point.has("threads") ? row.point.integer("threads") : 1);
    return BusyCost{std::min(1.0, row.host.waited.value_or(0) + row.host.stolen.value_or(0) / processors),
                    Known::counter};
}

std::string busy_text(const Measurement& row)
{
    const HostUse& host = row.host;
    std::vector<std::string> uses;
    if (is_above(host.others, noticed_processors))
        uses.push_back(fmt::format("other processes used {:.1f} processors", *host.others));
    if (is_above(host.stolen, noticed_time))
        uses.push_back(fmt::format("the host took {:.2f} processors", *host.stolen));
    if (is_above(host.waited, noticed_time))
        uses.push_back(fmt::format("a thread waited {} of the time for a processor", percent(*host.waited)));
    if (is_above(host.shared, noticed_readings))
        uses.push_back(fmt::format("the core was shared in {} of the readings", percent(*host.shared)));
    const std::vector<std::string> remarks = split(row.remarks, ';');
    const auto of_quota = std::ranges::find_if(
        remarks, [](const std::string& remark) { return trim(remark).starts_with(throttled_by_group); });
    if (of_quota != remarks.end()) uses.emplace_back(trim(*of_quota));
    if (uses.empty()) return {};
    const std::optional<BusyCost> cost = busy_cost(row);
    return join(uses, ", ") +
           (cost ? fmt::format("; this took about {} of the step's time ({})", percent(cost->share), name(cost->known))
                 : "; what it cost is not known");
}

}  // namespace roof::analysis
