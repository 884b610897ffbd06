#include "ert/method/plan/processes.hpp"

#include "ert/method/plan/measure.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace roof {
namespace {

/// Student's t, 97.5%, for 1 to 9 degrees of freedom; the last is wide enough for more.
constexpr std::array<double, 9> student{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262};

/// Mean and interval of the medians that `get` finds in each row, by their logarithms where all are above 0.
template <class Get>
auto mean_of(const std::vector<Measurement>& rows, const Get& get)
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
    const double half = student[std::min(rows.size() - 2, student.size() - 1)] * std::sqrt(squares / (n * (n - 1)));
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

Measurement over_processes(const std::vector<Measurement>& rows)
{
    Measurement all = rows.front();
    if (rows.size() < 2) return all;
    for (const auto field : {&Measurement::seconds, &Measurement::data, &Measurement::forward, &Measurement::backward,
                             &Measurement::update, &Measurement::exposed, &Measurement::hidden})
        all.*field = mean_of(rows, [field](const Measurement& row) { return row.*field; });
    all.clock = mean_of(rows, [](const Measurement& row) { return row.clock; });
    for (std::size_t i = 0; i < all.parts.size(); ++i)
        all.parts[i].seconds = mean_of(rows, [i](const Measurement& row) { return row.parts.at(i).seconds; });
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
