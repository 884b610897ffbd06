
#include "ert/method/plan/measure.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

namespace roof {
namespace {

/// Numbers of processes that are looked at, and Student's t for each, 99.17%.
constexpr std::array<std::pair<std::size_t, double>, 3> noise_looks{{{6, 3.534}, {12, 2.820}, {24, 2.582}}};

/// Of so many observations, at least two.
double errors_of(std::size_t count, bool is_looked_at)
{
    double errors = student_t(count);
    for (const auto& [look, wider] : noise_looks)
        if (is_looked_at && count >= look) errors = wider;
    return errors;
}

/// Mean and interval of the medians that `get` finds in each row, by their logarithms where all are above 0.
template <class Get>
auto mean_of(const std::vector<Measurement>& rows, bool is_looked_at, const Get& get)
{
    auto all = get(rows.front());
    using Unit = decltype(all.median);
    const auto n = static_cast<double>(rows.size());
    const bool is_ratio = std::ranges::all_of(rows, [&](const Measurement& row) { return get(row).median.value > 0; });
    const auto value_of = [&](const Measurement& row) {
        return is_ratio ? std::log(get(row).median.value) : get(row).median.value;
    };
    double sum = 0;
    double squares = 0;
    all.n = all.discarded = 0;
    for (const Measurement& row : rows) {
        sum += value_of(row);
        all.n += get(row).n;
        all.discarded += get(row).discarded;
    }
    for (const Measurement& row : rows) squares += std::pow(value_of(row) - sum / n, 2);
    const double half = errors_of(rows.size(), is_looked_at) * std::sqrt(squares / (n * (n - 1)));
    const auto at = [&](double value) { return Unit{is_ratio ? std::exp(value) : std::max(0.0, value)}; };
    all.median = at(sum / n);
    all.low = at(sum / n - half);
    all.high = at(sum / n + half);
    return all;
}

}  // namespace

StoppingOptions of_one_process(StoppingOptions all)
{
    all.max_samples = std::max(all.min_samples, all.max_samples / all.processes);
    all.budget = all.budget / all.processes;
    all.min_time = all.min_time / all.processes;
    all.processes = 1;
    return all;
}

bool has_several_processes(const StoppingOptions& options, Seconds step)
{
    constexpr double fewest_of_interval = 6;
    return options.processes > 1 && step * fewest_of_interval <= of_one_process(options).budget;
}

Estimate<Seconds> time_of_step(const std::vector<Sample>& samples)
{
    Estimate<Seconds> time = estimate_of(samples, &Sample::seconds);
    std::vector<double> seconds;
    for (const Sample& sample : samples)
        if (sample.used) seconds.push_back(sample.seconds.value);
    const Spread spread = spread_in_time(seconds);
    time.low = {spread.low};
    time.high = {spread.high};
    return time;
}

int most_processes(const StoppingOptions& options)
{
    return options.max_noise > 0 && options.processes > 1 ? static_cast<int>(noise_looks.back().first)
                                                          : options.processes;
}

bool has_enough_processes(const std::vector<Measurement>& rows, const StoppingOptions& options)
{
    if (static_cast<int>(rows.size()) >= most_processes(options)) return true;
    const bool is_look = options.max_noise > 0 &&
                         std::ranges::any_of(noise_looks, [&](const auto& look) { return look.first == rows.size(); });
    return is_look && over_processes(rows, true).seconds.relative_half_width() <= options.max_noise;
}

Measurement over_processes(const std::vector<Measurement>& rows, bool is_looked_at)
{
    Measurement all = rows.front();
    if (rows.size() < 2) return all;
    for (const auto field : {&Measurement::seconds, &Measurement::data, &Measurement::forward, &Measurement::backward,
                             &Measurement::update, &Measurement::exposed, &Measurement::hidden})
        all.*field = mean_of(rows, is_looked_at, [field](const Measurement& row) { return row.*field; });
    all.clock = mean_of(rows, is_looked_at, [](const Measurement& row) { return row.clock; });
    for (std::size_t i = 0; i < all.parts.size(); ++i)
        all.parts[i].seconds =
            mean_of(rows, is_looked_at, [i](const Measurement& row) { return row.parts.at(i).seconds; });
    for (const Measurement& row : std::span(rows).subspan(1))
        for (Sample sample : row.samples) {
            sample.loss.reset();  // the losses are those of one training
            all.samples.push_back(sample);
        }
    all.host = mean_host_use(all.samples);
    const std::string own = all.remarks.empty() ? "" : "; " + all.remarks;
    all.remarks = "measured by " + std::to_string(rows.size()) + " processes, one after another" + own;
    return all;
}

}  // namespace roof
