#include "analysis/table/rows.hpp"

#include "ert/base/text.hpp"
#include "ert/method/bench/device_group.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

namespace roof::analysis {

std::string model_of(const Measurement& row)
{
    if (!row.point.has("model")) return row.bench;
    const std::string model = row.point.text("model");
    const std::string begin = "{name: ";  // of a network's layers as text
    return model.starts_with(begin) ? model.substr(begin.size(), model.find_first_of(",}") - begin.size()) : model;
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

std::string batch_text(const Measurement& row)
{
    if (!row.point.has("batch")) return "-";
    const std::string batch = std::to_string(batch_of(row));
    if (row.ranks() == 1) return batch;
    const bool weak = row.images() > static_cast<double>(batch_of(row));
    return batch + (weak ? " x " : " / ") + std::to_string(row.ranks());
}

std::string place_text(const Measurement& row)
{
    std::string text = row.device;
    if (row.ranks() == 1) return text;
    text += ", " + std::to_string(row.ranks()) + " ranks";
    for (const char* axis : {"scaling", "communication", "bucket_mb", "batch_norm"}) {
        if (row.point.has(axis))
            text += ", " + row.point.text(axis) + (std::string_view(axis) == "bucket_mb" ? " MB" : "");
    }
    return text;
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

std::string disturbances(const Measurement& row)
{
    std::set<std::string> reasons;
    std::size_t taken = 0, disturbed = 0;
    for (const Sample& sample : row.samples) {
        taken += sample.used || !sample.disturbance.empty();
        disturbed += !sample.disturbance.empty();
        if (!sample.disturbance.empty()) reasons.insert(sample.disturbance);
    }
    if (disturbed == 0) return "no disturbance was recorded in " + std::to_string(taken) + " samples";
    return std::to_string(disturbed) + " of " + std::to_string(taken) +
           " samples disturbed: " + join(std::vector<std::string>(reasons.begin(), reasons.end()), ", ");
}

std::string precision_of(const Measurement& row)
{
    return row.point.text_or("precision", "");
}

std::string_view timed(std::string_view text)
{
    return text.starts_with("Emulated") ? "emulated" : "measured";
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

std::vector<const Measurement*> largest_batches(std::span<const Measurement> rows)
{
    const auto key = [](const Measurement& row) {
        return std::tuple{model_of(row), place_text(row), precision_of(row), threads_of(row)};
    };
    std::vector<const Measurement*> largest;
    for (const Measurement* row : step_rows(rows)) {
        if (row->status != Status::ok) continue;
        const auto same = std::find_if(largest.begin(), largest.end(),
                                       [&](const Measurement* other) { return key(*other) == key(*row); });
        if (same == largest.end())
            largest.push_back(row);
        else if (batch_of(*row) > batch_of(**same))
            *same = row;
    }
    return largest;
}

}  // namespace roof::analysis
