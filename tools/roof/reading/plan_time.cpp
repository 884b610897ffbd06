#include "tools/roof/reading/plan_time.hpp"

#include "ert/base/error.hpp"
#include "ert/method/results/results.hpp"
#include "tools/roof/reading/predictions.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace roof {
namespace {

namespace fs = std::filesystem;

/// From the start of a row to its first launch; medians of results/examples.
constexpr double making_of_step = 0.5;
constexpr double making_of_probe = 0.02;

/// A row of an earlier run.
struct Remembered {
    Estimate<Seconds> launch;
    std::optional<double> making;  ///< seconds; nullopt if unknown
};

std::optional<double> started(const Measurement& row)
{
    std::tm time{};
    if (strptime(row.started.c_str(), "%Y-%m-%dT%H:%M:%SZ", &time) == nullptr) return std::nullopt;
    return static_cast<double>(timegm(&time));
}

/// The time between two rows without their launches. Starts are in whole seconds, so only the mean over many rows is accurate.
std::optional<double> making_of(const Measurement& row, const Measurement& next)
{
    constexpr double longest = 300;  // between them the run was interrupted
    const auto begin = started(row);
    const auto end = started(next);
    if (!begin || !end) return std::nullopt;
    const double making = *end - *begin - row.seconds.median.value * (row.seconds.n + row.seconds.discarded);
    return making < longest ? std::optional(making) : std::nullopt;
}

/// By id; of several rows the newest.
std::map<std::string, Remembered> remembered_rows(const fs::path& machine)
{
    std::vector<fs::path> folders;
    std::error_code none;
    for (const fs::directory_entry& entry : fs::directory_iterator(machine, none))
        if (fs::exists(entry.path() / "measurements.csv")) folders.push_back(entry.path());
    std::ranges::sort(folders, std::greater{});
    std::map<std::string, Remembered> rows;
    for (const fs::path& folder : folders) {
        try {
            const std::vector<Measurement> all = read_rows(folder);
            for (std::size_t i = 0; i < all.size(); ++i) {
                const std::optional<double> making = i + 1 < all.size() ? making_of(all[i], all[i + 1]) : std::nullopt;
                if (all[i].status == Status::ok) rows.try_emplace(all[i].id(), Remembered{all[i].seconds, making});
            }
        } catch (const Error&) {  // damaged, or of an older format
        }
    }
    return rows;
}

/// Seconds of the launches of an item whose launch takes `launch`.
double launches(const StoppingOptions& options, const Estimate<Seconds>& launch)
{
    constexpr int least_with_interval = 6;
    double count = std::clamp(std::ceil(options.budget / launch.median), 1.0 * options.min_samples,
                              1.0 * std::max(options.min_samples, options.max_samples));
    const bool was_narrow = launch.n >= least_with_interval && launch.relative_half_width() <= options.interval;
    if (was_narrow) count = std::min(count, 1.0 * std::max(options.min_samples, launch.n));
    return (options.warmup + count) * launch.median.value;
}

std::map<std::string, Seconds> predicted_steps(const std::vector<Item>& items, const Context& context)
try {
    std::map<std::string, Seconds> steps;
    for (const analysis::Prediction& one : predict(items, context))
        if (one.fits) steps[one.row] = one.predicted;
    return steps;
} catch (const InputError&) {
    return {};  // no calibration
}

}  // namespace

PlanTime plan_time(const std::vector<Item>& items, const Context& context)
{
    const auto rows = remembered_rows(context.results / context.registry.machine().name);
    const auto steps = predicted_steps(items, context);
    PlanTime time;
    double making = 0;
    for (const Item& item : items) {
        if (item.bench == nullptr) continue;
        const std::string id = item.id();
        const auto row = rows.find(id);
        const auto step = steps.find(id);
        std::optional<double> made;
        if (row != rows.end()) {
            ++time.remembered;
            time.total.value += launches(item.stopping, row->second.launch);
            made = row->second.making;
        } else if (step != steps.end()) {
            ++time.predicted;
            time.total.value += launches(item.stopping, {step->second, step->second, step->second});
        } else {
            ++time.budgeted;
            time.total += item.stopping.budget;
        }
        making += made.value_or(item.role == Role::step ? making_of_step : making_of_probe);
    }
    time.total.value += std::max(0.0, making);
    return time;
}

}  // namespace roof
