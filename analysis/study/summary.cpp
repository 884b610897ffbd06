#include "analysis/study/summary.hpp"

#include "analysis/study/compare.hpp"
#include "analysis/study/verdict.hpp"
#include "analysis/table/fitted_text.hpp"
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

constexpr std::size_t losses_named = 3;

/// A measured step and the study it belongs to.
struct Step {
    const Study* study;
    const Measurement* row;
};
using Series = std::map<long long, Step>;                           ///< by batch
using Devices = std::map<std::string, Series>;                      ///< by device
using Trained = std::tuple<std::string, std::string, std::string>;  ///< model, precision, data

std::string device_of(const Measurement& row)
{
    const std::string place = place_text(row);
    return threads_of(row) > 0 ? fmt::format("{} ({})", place, threads_text(threads_of(row))) : place;
}

std::map<Trained, Devices> trained(std::span<const Study> studies)
{
    std::map<Trained, Devices> all;
    for (const Study& study : studies)
        for (const Measurement* row : step_rows(study.results.rows)) {
            if (row->status != Status::ok || batch_of(*row) <= 0) continue;
            const std::string machine = studies.size() > 1 ? owner_of(study.results.machine, row->device) + " " : "";
            all[{model_of(*row), precision_of(*row), data_of(*row)}][machine + device_of(*row)].try_emplace(
                batch_of(*row), Step{&study, row});
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
        const Change change = change_of({}, "s", side_of(step.row->seconds), side_of(other->second.row->seconds));
        ratios.push_back({static_cast<double>(batch), change.ratio, change.low, change.high});
    }
    return ratios;
}

/// "fastest on cpu (2 threads) at batch 4, ...; ": the device of each batch; empty for one device.
std::string fastest_text(const Devices& devices)
{
    if (devices.size() == 1) return {};
    std::map<long long, std::pair<double, std::string>> best;
    for (const auto& [device, series] : devices)
        for (const auto& [batch, step] : series) {
            const double seconds = step.row->seconds.median.value;
            const auto [at, is_new] = best.try_emplace(batch, seconds, device);
            if (!is_new && seconds < at->second.first) at->second = {seconds, device};
        }
    std::vector<std::string> words;
    for (const auto& [batch, winner] : best) words.push_back(fmt::format("{} at batch {}", winner.second, batch));
    return "fastest on " + join(words, ", ") + "; ";
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
Step best_step(const Devices& devices)
{
    Step best{nullptr, nullptr};
    for (const auto& [device, series] : devices)
        for (const auto& [batch, step] : series)
            if (best.row == nullptr || step.row->images_per_second() > best.row->images_per_second()) best = step;
    return best;
}

std::string losses_text(const Step& step)
{
    const std::vector<Loss> losses = largest_losses(*step.study, *step.row, losses_named);
    if (losses.empty()) return {};
    std::vector<std::string> words;
    for (const Loss& loss : losses) words.push_back(loss.what + " " + format_duration(loss.seconds.value));
    return fmt::format(" Largest losses of its {}: {}.", format_duration(step.row->seconds.median.value),
                       join(words, ", "));
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

std::vector<Loss> largest_losses(const Study& study, const Measurement& row, std::size_t n)
{
    std::map<std::string, double> seconds;
    double layers = 0;
    for (const Placement* p : layers_of(study.placements, row)) {
        if (p->binds.empty()) continue;
        layers += p->seconds.median.value;
        seconds[p->kind + " " + std::string(roof::name(*p->phase))] += p->headroom.value;
    }
    if (layers > 0) seconds["outside the layers"] = row.seconds.median.value - layers;
    std::vector<Loss> losses;
    for (const auto& [what, lost] : seconds)
        if (lost > 0) losses.push_back({what, {lost}});
    std::stable_sort(losses.begin(), losses.end(), [](const Loss& a, const Loss& b) { return a.seconds > b.seconds; });
    if (losses.size() > n) losses.resize(n);
    return losses;
}

std::string verdict_sentence(const Study& study, const Measurement& row)
{
    const Placement* const step = step_placement(study.placements, row);
    if (step == nullptr) return {};
    const std::string title = title_of(*step) + ": ";
    if (step->binds.empty())
        return title + format_duration(row.seconds.median.value) + "; no roof over it was measured.";
    if (step->above) return title + "as fast as its roofs allow, or faster: " + step->note + ".";
    std::string text = title + fmt::format("{} of what this machine allows; {}{} to be won", share_text(*step),
                                           step->is_at_most ? "at least " : "", format_duration(step->headroom.value));
    if (const std::vector<Loss> losses = largest_losses(study, row, 1); !losses.empty())
        text += fmt::format(", {} of it in {}", percent(losses.front().seconds / step->headroom), losses.front().what);
    return text + ".";
}

std::vector<std::string> summary(std::span<const Study> studies)
{
    std::vector<std::string> sentences;
    for (const auto& [what, devices] : trained(studies)) {
        const auto& [model, precision, data] = what;
        const Step best = best_step(devices);
        const std::string fed = data == "-" || data == "synthetic" ? "" : ", images of " + data;
        sentences.push_back(printable(fmt::format("{} {}{}: {}{}most images per second at batch {} on {}: {}.{}", model,
                                                  precision, fed, fastest_text(devices), crossings_text(devices),
                                                  batch_of(*best.row), device_of(*best.row),
                                                  plain_number(best.row->images_per_second()), losses_text(best))));
    }
    return sentences;
}

std::string wrapped(const std::vector<std::string>& sentences, int columns)
{
    return sentences.empty() ? std::string{} : fitted_lines(join(sentences, "\n"), columns);
}

}  // namespace roof::analysis
