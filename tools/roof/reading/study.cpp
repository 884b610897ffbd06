#include "tools/roof/reading/study.hpp"

#include "analysis/estimate/prediction.hpp"
#include "analysis/report/report.hpp"
#include "analysis/study/steps/verdict.hpp"
#include "analysis/study/tables.hpp"
#include "analysis/table/fitted_text.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/checksum.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/machine.hpp"
#include "ert/method/plan/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <span>

namespace roof {
namespace {

namespace fs = std::filesystem;

/// Throws InputError with the runs below a folder that holds runs and is none itself.
void require_run(const fs::path& folder)
{
    constexpr std::size_t most_told = 10;
    std::error_code none;
    if (fs::exists(folder / "machine.yaml", none) || none) return;
    const std::vector<Neighbour> runs = runs_below(folder);
    if (runs.empty()) return;
    std::vector<std::string> names;
    for (const Neighbour& run : std::span(runs).first(std::min(runs.size(), most_told)))
        names.push_back(printable(run.place.string()));
    throw InputError(fmt::format("'{}' holds {} runs and is none itself; name one, the newest first: {}",
                                 printable(folder.string()), runs.size(), join(names, ", ")));
}

/// Of a damaged folder the damage alone.
std::optional<Results> complete_by_plan(const fs::path& folder, const Results& now, const Scheduler& scheduler)
{
    try {
        if (read_file(folder / "plan.yaml") != now.plan) return std::nullopt;
        const Machine machine = read_machine_of(folder);
        const bool is_other_node = !machine.node.empty() && machine.node != now.machine.node;
        if (machine.name != now.machine.name || is_other_node) return std::nullopt;
        Results results = read_results(folder);
        if (!scheduler.next(results.rows).empty() && results.damage.empty()) return std::nullopt;
        return results;
    } catch (const Error& error) {
        if (is_of_other_format(folder)) return std::nullopt;
        return Results{.folder = folder, .machine = {}, .plan = {}, .rows = {}, .damage = {error.what()}};
    }
}

/// A fraction of a second on the item's processors; nullopt of a GPU and of a row that has none.
std::optional<Item> trial_of(const Item& item)
{
    if (item.bench == nullptr || kind_of_device(item.device) != "cpu") return std::nullopt;
    const std::optional<Point> point = analysis::trial_of(item.point);
    if (!point) return std::nullopt;
    Item trial = item;
    trial.point = *point;
    trial.stopping = {.warmup = 1, .min_samples = 3, .max_samples = 9, .budget = Seconds{0.4}};
    trial.profile = Profiling::off;
    return trial;
}

/// Measures the trial unless `trials` has it. Says so where the machine was busy.
const Measurement& tried(const Item& trial, std::map<std::string, Measurement>& trials, Context& context)
{
    const auto [place, is_new] = trials.try_emplace(trial.id());
    if (!is_new) return place->second;
    place->second = measure(trial, context.registry, context.clock);
    if (place->second.status != Status::ok)
        tell_once("predicted by the roofs alone, without a trial: " + place->second.reason, context);
    if (const std::string busy = analysis::busy_text(place->second); !busy.empty())
        tell_once("the machine was busy while steps were tried for predictions, which hold for one as busy: " + busy,
                  context);
    return place->second;
}

}  // namespace

void tell_once(const std::string& sentence, Context& context)
{
    if (context.told.insert(sentence).second) context.err << "roof: " << printable(sentence) << '\n';
}

void report_damage(const Results& results, Context& context)
{
    constexpr std::size_t most_told = 5;
    for (const std::string& odd : results.odd) tell_once(odd, context);
    if (results.damage.empty()) return;
    context.status = 1;
    const std::size_t told = std::min(results.damage.size(), most_told);
    for (std::size_t i = 0; i < told; ++i) context.err << "roof: damaged: " << printable(results.damage[i]) << '\n';
    if (told < results.damage.size())
        context.err << fmt::format("roof: {} more; `roof check {}` names all\n", results.damage.size() - told,
                                   printable(results.folder.string()));
}

std::vector<Neighbour> runs_below(const fs::path& folder, std::vector<std::string>* unread)
{
    std::vector<Neighbour> runs;
    const auto take = [&](const std::vector<Neighbour>& found) {
        for (const Neighbour& one : found) {
            if (unread != nullptr && !one.unread.empty()) unread->push_back(one.unread);
            if (one.unread.empty() && one.is_results) runs.push_back(one);  // a damaged one, too: it is named later
        }
    };
    const std::vector<Neighbour> above = neighbours_in(folder);
    take(above);
    for (const Neighbour& one : above)
        if (one.unread.empty()) take(neighbours_in(one.place));
    std::ranges::stable_sort(runs, std::greater{},
                             [](const Neighbour& run) { return std::pair(run.time, run.place.filename()); });
    return runs;
}

analysis::Study open_with_calibration(const fs::path& folder, const fs::path& calibration, Context& context,
                                      const analysis::ReportInput& input)
{
    require_run(folder);
    analysis::Study study = analysis::open_study(folder, calibration, input);
    if (calibration.empty() && study.ceilings.all.empty()) {
        PassedOver over;
        const fs::path home = context.results / study.results.machine.name;
        const auto here = find_calibration(home, {}, &over, nullptr, &study.results.machine);
        const PassedOver before{study.results.damage, study.results.remarks, study.results.odd};
        if (!here.empty()) study = analysis::open_study(folder, here, input);
        analysis::note(before, study.results);
        analysis::note(over, study.results);
    }
    report_damage(study.results, context);
    if (study.calibration.folder != study.results.folder) report_damage(study.calibration, context);
    return study;
}

std::optional<Results> calibration_in(const fs::path& place, Context& context, const Machine* machine)
{
    PassedOver over;
    std::error_code none;
    const fs::path found =
        fs::is_directory(place, none) ? find_calibration(place, {}, &over, nullptr, machine) : fs::path();
    Results results =
        found.empty() ? Results{.folder = place, .machine = {}, .plan = {}, .rows = {}} : read_results(found);
    analysis::note(over, results);
    report_damage(results, context);
    return found.empty() ? std::nullopt : std::optional(std::move(results));
}

void print_calibration_line(const analysis::Study& study, int width, std::ostream& out)
{
    const std::string line = analysis::calibration_line(study);
    if (!line.empty()) out << analysis::fitted_lines(line + "\n", width);
}

void print_study(const analysis::Study& study, const Terminal& terminal, bool brief, std::ostream& out)
{
    constexpr int top_layers = 5;
    const int width = terminal.width;
    out << analysis::verdict_text(study, width) << '\n';
    if (!study.predictions.rows.empty())
        out << analysis::fitted_lines("Predicted before the first row was measured (fingerprint " +
                                          study.predictions_fingerprint + ") and measured",
                                      width)
            << '\n'
            << analysis::to_text(study.predictions, width) << '\n';
    for (const auto make : {analysis::scaling_table, analysis::energy_table, analysis::sustained_table})
        if (const analysis::DataTable table = make(study); !table.empty())
            out << analysis::to_text(table, width) << '\n';
    if (brief) return;
    for (const std::string& picture :
         {analysis::terminal_batches(study, terminal.columns, terminal.plain),
          analysis::terminal_layers(study, terminal.columns, terminal.plain), analysis::recording_text(study, width),
          analysis::headroom_text(study, top_layers, width),
          analysis::terminal_roofline(study, terminal.columns, terminal.plain)})
        if (!picture.empty()) out << picture << '\n';
}

std::optional<analysis::Comparison> drift_since_last(const Results& now, const Scheduler& scheduler, Context& context)
{
    std::error_code none;
    for (const Neighbour& one : neighbours_in(context.results / now.machine.name)) {
        if (!one.has_rows || fs::equivalent(one.place, now.folder, none)) continue;
        const std::optional<Results> before = complete_by_plan(one.place, now, scheduler);
        if (!before) continue;
        report_damage(*before, context);
        if (scheduler.next(before->rows).empty())
            return analysis::compare(analysis::make_study(*before, *before), analysis::make_study(now, now));
    }
    return std::nullopt;
}

std::vector<analysis::Prediction> predict(const std::vector<Item>& items, Context& context, bool tries)
{
    std::vector<analysis::Target> targets;
    try {
        targets = find_targets("here", context);
    } catch (const InputError&) {
        throw InputError(
            "--predict: this machine has no calibration yet, and an estimate rests on its ceilings; "
            "`roof calibrate` makes one");
    }
    std::vector<analysis::Prediction> predictions;
    std::map<std::string, Measurement> trials;  // rows share them
    for (const Item& item : items) {
        const auto target = std::ranges::find_if(targets, [&](const analysis::Target& one) {
            return one.known == Known::measured && one.device == item.device;
        });
        if (target == targets.end()) continue;
        const std::optional<Item> trial = tries ? trial_of(item) : std::nullopt;
        const Measurement* const measured = trial ? &tried(*trial, trials, context) : nullptr;
        if (auto prediction = analysis::predict(item.id(), item.point, *target, measured))
            predictions.push_back(*prediction);
    }
    return predictions;
}

void keep_predictions(const std::vector<analysis::Prediction>& predictions, const fs::path& folder, bool has_rows,
                      const Context& context)
{
    const fs::path file = folder / analysis::predictions_file;
    if (fs::exists(file)) {
        context.err << fmt::format("predicted before: {}, fingerprint {}\n", file.string(),
                                   analysis::fingerprint(read_file(file)));
        return;
    }
    if (has_rows)
        throw InputError(folder.string() +
                         ": --predict: some rows are measured already, so nothing can be predicted; "
                         "take another folder with --out");
    const std::string text = with_checksums(analysis::to_csv(predictions), run_of(folder));
    write_file(file, text);
    context.err << fmt::format("predicted {} before the first is measured: {}, fingerprint {}\n",
                               analysis::how_many(predictions.size(), "row"), file.string(),
                               analysis::fingerprint(text));
}

}  // namespace roof
