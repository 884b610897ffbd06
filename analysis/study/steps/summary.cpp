// The main results in sentences: the best device of each model at each batch, and where one overtakes another.
#include "analysis/study/compared/compare.hpp"
#include "analysis/study/steps/answer.hpp"
#include "analysis/table/judged.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

namespace roof::analysis {

namespace {

/// A measured step and the study it belongs to.
struct MeasuredStep {
    const Study* study;
    const Measurement* row;
};
using Series = std::map<long long, MeasuredStep>;  ///< by batch
using Devices = std::map<std::string, Series>;     ///< by device
/// Model, precision, data, tokens, phase.
using Trained = std::tuple<std::string, std::string, std::string, long long, std::string>;

std::map<Trained, Devices> trained(std::span<const Study> studies)
{
    std::map<Trained, Devices> all;
    for (const Study& study : studies)
        for (const Measurement* row : measured_steps(study.results.rows)) {
            if (batch_of(*row) <= 0 || took_turns(*row)) continue;
            const std::string machine = studies.size() > 1 ? owner_of(study.results.machine, row->device) + " " : "";
            all[{model_of(*row), precision_of(*row), data_of(*row), tokens_of(*row), phase_of(*row)}]
               [machine + where_text(*row, study.results.rows)]
                   .try_emplace(batch_of(*row), MeasuredStep{&study, row});
        }
    return all;
}

/// The batch at which the line between two points crosses 0, on a logarithmic scale; nullopt without a crossing.
std::optional<double> crossing(double batch_a, double a, double batch_b, double b)
{
    if (!std::isfinite(a) || !std::isfinite(b) || (a > 0) == (b > 0)) return std::nullopt;
    return std::exp(std::log(batch_a) + std::log(batch_b / batch_a) * a / (a - b));
}

/// The first crossing of one end of the interval in the direction of the median's crossing.
double end_crossing(std::span<const RatioAtBatch> ratios, double RatioAtBatch::*end, bool falls, double otherwise)
{
    for (std::size_t i = 1; i < ratios.size(); ++i) {
        const double a = std::log(ratios[i - 1].*end);
        const double b = std::log(ratios[i].*end);
        const auto at = crossing(ratios[i - 1].batch, a, ratios[i].batch, b);
        if (at && (a > b) == falls) return *at;
    }
    return otherwise;
}

std::vector<RatioAtBatch> ratios_of(const Series& first, const Series& second)
{
    std::vector<RatioAtBatch> ratios;
    for (const auto& [batch, step] : first) {
        const auto other = second.find(batch);
        if (other == second.end()) continue;
        const Change change = rate_change(*step.row, *other->second.row);
        ratios.push_back({static_cast<double>(batch), 1 / change.ratio, 1 / change.high, 1 / change.low});
    }
    return ratios;
}

/// "fastest at batch 4 on cpu, 2 threads; at batch 8 on …; ": by images per second; empty for one device.
std::string fastest_text(const Devices& devices)
{
    if (devices.size() == 1) return {};
    std::map<long long, std::pair<double, std::string>> best;
    for (const auto& [device, series] : devices)
        for (const auto& [batch, step] : series) {
            auto& [rate, winner] = best[batch];
            if (const double own = image_rate(*step.row).median; own > rate)
                std::tie(rate, winner) = std::tie(own, device);
        }
    std::vector<std::string> words;
    for (const auto& [batch, winner] : best) words.push_back(fmt::format("at batch {} on {}", batch, winner.second));
    return "fastest " + join(words, "; ") + "; ";
}

std::string crossings_text(const Devices& devices)
{
    std::string text;
    for (auto a = devices.begin(); a != devices.end(); ++a)
        for (auto b = std::next(a); b != devices.end(); ++b)
            for (const Crossover& c : crossovers(a->first, b->first, ratios_of(a->second, b->second)))
                text += fmt::format("{} overtakes {} at batch {} [{}, {}]; ", c.faster, c.slower,
                                    plain_number(c.batch, 2), plain_number(c.low, 2), plain_number(c.high, 2));
    return text;
}

/// The step with the most images per second.
MeasuredStep best_step(const Devices& devices)
{
    MeasuredStep best{nullptr, nullptr};
    for (const auto& [device, series] : devices)
        for (const auto& [batch, step] : series)
            if (best.row == nullptr || image_rate(*step.row).median > image_rate(*best.row).median) best = step;
    return best;
}

}  // namespace

std::vector<Crossover> crossovers(const std::string& first, const std::string& second,
                                  std::span<const RatioAtBatch> ratios)
{
    std::vector<Crossover> found;
    for (std::size_t i = 1; i < ratios.size(); ++i) {
        const double a = std::log(ratios[i - 1].ratio);
        const double b = std::log(ratios[i].ratio);
        const auto at = crossing(ratios[i - 1].batch, a, ratios[i].batch, b);
        if (!at) continue;
        const bool falls = a > b;
        const double least = ratios.front().batch;
        const double most = ratios.back().batch;
        const double x = end_crossing(ratios, &RatioAtBatch::low, falls, falls ? least : most);
        const double y = end_crossing(ratios, &RatioAtBatch::high, falls, falls ? most : least);
        found.push_back(
            {falls ? first : second, falls ? second : first, *at, std::min({x, y, *at}), std::max({x, y, *at})});
    }
    return found;
}

std::vector<std::string> summary(std::span<const Study> studies, std::size_t actions)
{
    std::vector<std::string> sentences;
    for (const auto& [what, devices] : trained(studies)) {
        const auto& [model, precision, data, tokens, phase] = what;
        const MeasuredStep best = best_step(devices);
        const std::string fed = data == "-" || data == "synthetic" ? "" : ", images of " + data;
        sentences.push_back(printable(
            fmt::format("{} {}{}: {}{}most {} per second of the median step at batch {} on {}: {}; {}", model,
                        precision, fed, fastest_text(devices), crossings_text(devices), batch_items({best.row, 1}),
                        batch_text(*best.row), where_text(*best.row, best.study->results.rows),
                        plain_number(image_rate(*best.row).median), answer_text(*best.study, *best.row, actions))));
    }
    return sentences;
}

}  // namespace roof::analysis
