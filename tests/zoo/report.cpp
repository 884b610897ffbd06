#include "tests/zoo/report.hpp"

#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <cmath>

namespace roof::zoo {
namespace {

std::string percent(std::size_t part, std::size_t of)
{
    return of == 0 ? "-" : fmt::format("{:.1f}%", 100.0 * static_cast<double>(part) / static_cast<double>(of));
}

std::string percent(double share)
{
    return std::isnan(share) ? "-" : fmt::format("{:.2f}%", 100 * share);
}

std::string kind_text(const Tally& tally)
{
    std::string statuses;
    for (const auto& [status, count] : tally.statuses) statuses += fmt::format(" {}: {}", status, count);
    const auto count = static_cast<double>(std::max<std::size_t>(1, tally.machines));
    std::string text = fmt::format(
        "{} ({}): {} calibrations, {}, of {:.1f} s, at most {:.1f} s, and {:.0f} rows\n"
        "  levels right {}, false levels {}, edges within half an octave {} of {}; exit status{}{}; "
        "with any ceiling steady and >3% low {}\n"
        "  {:<11}{:>9}{:>8}{:>7}{:>7}{:>8}{:>9}{:>8}{:>8}{:>9}{:>8}{:>8}{:>8}{:>8}{:>8}\n",
        tally.kind->name, name(tally.kind->half), tally.calibrations(),
        tally.looks == 0 ? "each judged alone" : fmt::format("{} of each machine", tally.looks),
        median_of(tally.seconds), tally.seconds.empty() ? 0 : std::ranges::max(tally.seconds),
        static_cast<double>(tally.rows) / count, percent(tally.levels_right, tally.machines),
        percent(tally.false_levels, tally.machines), percent(tally.edges_right, tally.edges), tally.edges, statuses,
        tally.broken > 0 ? fmt::format(", broken: {}", tally.broken) : "",
        percent(tally.any_steady_and_low, tally.machines), "", "ceilings", "steady", "width", "holds", "miss",
        ">3% low", "bounds", "above", "reach", "of 95%", "unst.", "hold", "after", "wrong");
    for (const Group group : groups) {
        const GroupTally& of = tally.of(group);
        if (of.ceilings == 0) continue;
        text += fmt::format(
            "  {:<11}{:>9}{:>8}{:>7}{:>7}{:>8}{:>9}{:>8}{:>8}{:>9}{:>8}{:>8}{:>8}{:>8}{:>8}\n", name(group),
            of.ceilings, percent(of.steady, of.ceilings), percent(median_of(of.half_widths)),
            percent(of.steady_holds, of.steady), percent(median_of(of.misses)), percent(of.steady_and_low, of.ceilings),
            percent(of.at_least, of.ceilings), percent(of.above, of.at_least), percent(quantile_of(of.bounds, 0.5)),
            percent(quantile_of(of.bounds, 0.05)), percent(of.unsteady, of.ceilings),
            percent(of.unsteady_holds, of.unsteady), percent(of.holds_after, of.steady),
            tally.kind->change == Change::none ? "" : percent(of.steady_and_wrong, of.ceilings));
    }
    return text;
}

nlohmann::json group_json(const GroupTally& of)
{
    nlohmann::json json;
    for (const auto& [name, count] : counts_of_group) json[name] = of.*count;
    for (const auto& [name, list] : shares_of_group) {
        const double median = median_of(of.*list);
        json[std::string(name) + "_median"] = std::isnan(median) ? nlohmann::json() : nlohmann::json(median);
        json[name] = of.*list;
    }
    return json;
}

GroupTally group_of(const nlohmann::json& json)
{
    GroupTally of;
    for (const auto& [name, count] : counts_of_group) json.at(name).get_to(of.*count);
    for (const auto& [name, list] : shares_of_group) json.at(name).get_to(of.*list);
    return of;
}

std::string name_of_form(Edges form)
{
    constexpr const char* names[]{"sharp", "ramp", "tail", "lead", "pages", "mixed"};
    return names[static_cast<std::size_t>(form)];
}

}  // namespace

std::vector<Tally> joined(const std::vector<nlohmann::json>& reports)
{
    std::vector<Tally> tallies;
    for (const Kind& kind : all_kinds()) {
        std::map<int, Tally> by_looks;
        for (const nlohmann::json& report : reports) {
            for (const nlohmann::json& json : report.at("kinds")) {
                if (json.at("kind") != kind.name) continue;
                Tally tally{&kind};
                json.at("machines").get_to(tally.machines);
                json.at("looks").get_to(tally.looks);
                json.at("broken").get_to(tally.broken);
                json.at("seconds").get_to(tally.seconds);
                json.at("rows").get_to(tally.rows);
                json.at("levels_right").get_to(tally.levels_right);
                json.at("false_levels").get_to(tally.false_levels);
                json.at("edges").get_to(tally.edges);
                json.at("edges_right").get_to(tally.edges_right);
                json.at("with_any_steady_and_low").get_to(tally.any_steady_and_low);
                for (const auto& [status, count] : json.at("statuses").items())
                    tally.statuses[std::stoi(status)] = count;
                for (const Group group : groups)
                    tally.by_group[static_cast<std::size_t>(group)] = group_of(json.at("groups").at(name(group)));
                by_looks[tally.looks] += tally;
            }
        }
        for (const auto& [looks, tally] : by_looks) tallies.push_back(tally);
    }
    return tallies;
}

std::string report_text(const std::vector<Tally>& tallies, bool all_findings)
{
    std::string text;
    for (const Tally& tally : tallies) text += kind_text(tally) + "\n";
    std::vector<std::string> unjudged;
    const std::vector<Finding> findings = findings_of(tallies, unjudged);
    std::vector<std::string> figures;
    for (const Finding& finding : findings)
        if (std::ranges::find(figures, finding.figure) == figures.end()) figures.push_back(finding.figure);
    std::string failed;
    text += fmt::format("{:<40}{:>8}{:>8}{:>10}{:>10}\n", "figure", "passed", "failed", "bound", "worst");
    for (const std::string& figure : figures) {
        std::size_t passed = 0;
        std::size_t total = 0;
        const Finding* worst = nullptr;
        std::string bounds;
        for (const Finding& finding : findings) {
            if (finding.figure != figure) continue;
            ++total;
            passed += finding.passes() ? 1 : 0;
            const auto distance = [](const Finding& f) { return f.is_least ? f.value - f.bound : f.bound - f.value; };
            if (worst == nullptr || distance(finding) < distance(*worst)) worst = &finding;
            if (!finding.passes() || all_findings)
                failed += fmt::format("  {} {}: {:.2f}% of {} ({} {:.1f}%) in {}\n", finding.passes() ? "pass" : "FAIL",
                                      figure, 100 * finding.value, finding.cases,
                                      finding.is_least ? "at least" : "at most", 100 * finding.bound, finding.of);
        }
        text += fmt::format("{:<40}{:>8}{:>8}{:>9.1f}%{:>9.2f}%\n", figure, passed, total - passed, 100 * worst->bound,
                            100 * worst->value);
    }
    for (const std::string& one : unjudged) text += "too few to judge: " + one + "\n";
    for (const Tally& tally : tallies)
        if (tally.calibrations() < figures::least_calibrations) {
            text +=
                fmt::format("fewer than {} calibrations of a kind: no final judgement\n", figures::least_calibrations);
            break;
        }
    return text + (failed.empty() ? "" : "\n" + failed);
}

nlohmann::json report_json(const std::vector<Tally>& tallies)
{
    nlohmann::json kinds = nlohmann::json::array();
    for (const Tally& tally : tallies) {
        nlohmann::json of_groups;
        for (const Group group : groups) of_groups[std::string(name(group))] = group_json(tally.of(group));
        nlohmann::json statuses;
        for (const auto& [status, count] : tally.statuses) statuses[std::to_string(status)] = count;
        kinds.push_back({{"kind", tally.kind->name},
                         {"half", name(tally.kind->half)},
                         {"machines", tally.machines},
                         {"looks", tally.looks},
                         {"broken", tally.broken},
                         {"seconds", tally.seconds},
                         {"rows", tally.rows},
                         {"levels_right", tally.levels_right},
                         {"false_levels", tally.false_levels},
                         {"edges", tally.edges},
                         {"edges_right", tally.edges_right},
                         {"with_any_steady_and_low", tally.any_steady_and_low},
                         {"statuses", statuses},
                         {"groups", of_groups}});
    }
    std::vector<std::string> unjudged;
    nlohmann::json findings = nlohmann::json::array();
    for (const Finding& finding : findings_of(tallies, unjudged))
        findings.push_back({{"figure", finding.figure},
                            {"of", finding.of},
                            {"value", finding.value},
                            {"bound", finding.bound},
                            {"bound_is", finding.is_least ? "least" : "most"},
                            {"cases", finding.cases},
                            {"passes", finding.passes()}});
    return {{"kinds", kinds}, {"findings", findings}, {"too_few_to_judge", unjudged}};
}

std::string show_text(const Calibration& calibration, const Verdict& verdict)
{
    const Model& model = calibration.world->model();
    std::string text = fmt::format(
        "{} ({}), seed {}: {} cores, {:.3f} GHz (mean {:.3f}, fastest {:.3f} of it), {:.1f} s, {} rows, exit status "
        "{}\n"
        "duty {:.2f}, bursts of {:.4g} s, sibling takes {:.2f}, second rate takes {:.2f}, quota {:.2f} processors, "
        "noise {:.2g} {:.2g} "
        "{:.2g}\n\n",
        model.kind->name, name(model.kind->half), model.seed, model.cores, model.hertz / 1e9,
        calibration.world->mean_clock(), calibration.world->fastest_clock(), calibration.world->seconds(),
        calibration.rows, calibration.status.value_or(-1), model.duty, model.burst, model.sibling_takes,
        model.second_rate_takes, model.quota, model.noise_near, model.noise_shared, model.noise_memory);
    for (std::size_t level = 0; level < model.levels(); ++level) {
        text += fmt::format("{:<5}", model.level_name(level));
        if (level < model.caches.size()) {
            const Cache& cache = model.caches[level];
            text += fmt::format("{:>9.1f} KiB {:<8}{:<6}{:.2f} octaves", cache.bytes / 1024,
                                cache.is_shared ? "shared" : "private", name_of_form(cache.form), cache.octaves);
        } else {
            text += fmt::format("{:>40}", "");
        }
        text +=
            fmt::format("  latency {:7.2f} ns, load {:7.1f} GB/s, of all {:7.1f}, store {:7.1f}\n",
                        model.latency[level] * 1e9, model.bandwidth(level, "load", 1) / 1e9,
                        model.bandwidth(level, "load", model.cores) / 1e9, model.bandwidth(level, "store", 1) / 1e9);
    }
    text += fmt::format("\nfound{}{}:\n", verdict.has_right_levels ? "" : ", LEVELS WRONG",
                        verdict.has_false_level ? ", FALSE LEVEL" : "");
    for (const MeasuredLevel& level : calibration.ceilings.levels_by_threads)
        text += fmt::format("{:>3} threads {:<5} {:>10.1f} to {:>10.1f} KiB, next {:>10.1f}\n", level.threads,
                            level.name, level.from.value / 1024, level.to.value / 1024, level.beyond.value / 1024);
    for (const JudgedEdge& edge : verdict.edges)
        if (!edge.is_right)
            text += fmt::format("EDGE {}, {} threads: {:.1f} KiB, truly {:.1f}\n", edge.name, edge.threads,
                                edge.found / 1024, edge.truth / 1024);
    text += fmt::format("\n{:<11}{:<46}{:<18}{:>12}{:>22}{:>12}{:>9}\n", "", "ceiling", "state", "value", "interval",
                        "truth", "over");
    for (const JudgedCeiling& ceiling : verdict.ceilings) {
        text +=
            fmt::format("{:<11}{:<46}{:<18}{:>12.5g}{:>22}{:>12}{:>9.4f}{}\n", name(ceiling.group), ceiling.name,
                        name(ceiling.state), ceiling.value, fmt::format("[{:.5g}, {:.5g}]", ceiling.low, ceiling.high),
                        fmt::format("{:.5g}", ceiling.truth.alone), ceiling.over_truth(),
                        ceiling.holds         ? ""
                        : ceiling.is_steady() ? "  MISSES"
                        : ceiling.is_above()  ? "  ABOVE"
                                              : "  misses");
    }
    return text + (calibration.err.find("do not use it") == std::string::npos ? "" : "\n" + calibration.err);
}

}  // namespace roof::zoo
