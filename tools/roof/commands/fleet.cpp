// `roof fleet`: judges the digests of many nodes, lists those to measure again, and prints scripts for the engines that measure them.
#include "analysis/fleet/fleet_scripts.hpp"
#include "analysis/fleet/fleet_tables.hpp"
#include "analysis/fleet/node_list.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/number.hpp"
#include "ert/base/text.hpp"
#include "tools/roof/commands/commands.hpp"
#include "tools/roof/console/options.hpp"
#include "tools/roof/console/output.hpp"

#include <fmt/chrono.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>

namespace roof {
namespace {

namespace fs = std::filesystem;

struct FleetOptions {
    OptionParser& parser;
    std::vector<std::string>& words = parser.list("DIR");  ///< folders, or a verb with its own
    std::string& expect = parser.value("--expect");
    std::string& group_by = parser.value("--group-by");
    std::string& max_age = parser.value("--max-age");
    bool& anonymise = parser.flag("--anonymise");
    std::string& out = parser.value("--out");
    std::string& plan = parser.value("--plan");
    std::string& device = parser.value("--device");
    std::string& nodes = parser.value("--nodes");
    std::string& at_once = parser.value("--at-once", "20");
    std::string& minutes = parser.value("--minutes", "30");
    std::string& gpus = parser.value("--gpus", "8");
    std::string& image = parser.value("--image");
    std::string& claim = parser.value("--claim");
    bool& json = parser.flag("--json");
};

analysis::Fleet fleet_in(const FleetOptions& options, const std::vector<std::string>& folders)
{
    if (folders.empty()) throw InputError("fleet: DIR is missing; 'roof help fleet' shows how");
    analysis::Fleet fleet = analysis::read_fleet({folders.begin(), folders.end()});
    if (!options.expect.empty()) fleet.expected = analysis::read_expected(options.expect);
    return fleet;
}

int print_script(const FleetOptions& options, const std::vector<std::string>& words, Context& context)
{
    if (words.size() != 1)
        throw InputError("fleet script: one of slurm, pbs, kubernetes and parallel; 'roof help fleet' shows how");
    constexpr int most_at_once = 10'000;
    constexpr int most_minutes = 24 * 60;
    constexpr int most_gpus = 64;
    analysis::FleetScript script{.engine = words.front(), .plan = options.plan};
    if (!options.device.empty())
        script.devices = comma_list("--device", options.device);
    else if (script.plan.empty())
        script.plan = "calibrate/cpu";
    else if (script.plan.starts_with("calibrate/gpu"))
        script.devices = {"gpu"};  // these plans name one GPU
    const bool is_file = !options.nodes.empty() && fs::is_regular_file(options.nodes);
    if (is_file)
        for (const analysis::ExpectedNode& node : analysis::read_expected(options.nodes))
            script.nodes.push_back(node.node);
    else
        script.nodes = analysis::node_list(options.nodes);
    if (!options.out.empty()) script.results = options.out;
    script.at_once = whole_number("--at-once", options.at_once, 1, most_at_once);
    script.minutes = whole_number("--minutes", options.minutes, 1, most_minutes);
    script.gpus = whole_number("--gpus", options.gpus, 1, most_gpus);
    script.image = options.image;
    script.claim = options.claim;
    context.out << analysis::fleet_script(script);
    return 0;
}

/// "2026-11-22T18:02:16Z".
std::string now_in_utc()
{
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::now()));
}

/// "36h", "14d" or "14" -> hours.
double age_in_hours(const std::string& text)
{
    constexpr double hours_of_day = 24;
    const bool has_unit = text.ends_with('h') || text.ends_with('d');
    const auto number = parse_number<double>(std::string_view(text).substr(0, text.size() - (has_unit ? 1 : 0)));
    if (!number || !std::isfinite(*number) || *number <= 0)
        throw InputError("--max-age '" + text + "' is no time such as 36h or 14d");
    return *number * (text.ends_with('h') ? 1 : hours_of_day);
}

analysis::JudgeOptions judge_options(const FleetOptions& options)
{
    return {.group_by = options.group_by,
            .now = now_in_utc(),
            .max_age_hours = options.max_age.empty() ? 0 : age_in_hours(options.max_age)};
}

void show(const analysis::FleetReport& report, const nlohmann::json& document, const FleetOptions& options,
          Context& context)
{
    if (!options.out.empty()) write_chosen_file(options.out, analysis::fleet_page(report));
    if (options.json)
        print_json(context.out, document);
    else
        context.out << analysis::fleet_text(report, context.terminal.width);
}

int retest(const FleetOptions& options, const std::vector<std::string>& folders, Context& context)
{
    const auto nodes = analysis::nodes_to_retest(analysis::judge(fleet_in(options, folders), judge_options(options)));
    if (options.json) {
        print_json(context.out, nodes);
        return 0;
    }
    for (const std::string& node : nodes) context.out << node << '\n';
    return 0;
}

/// 1 if a node drifted, or all nodes became slower; 2 if nothing can be told.
int history(const FleetOptions& options, const std::vector<std::string>& folders, Context& context)
{
    analysis::Fleet fleet = fleet_in(options, folders);
    if (options.anonymise) analysis::anonymise({&fleet});
    const auto found = analysis::judge_history(fleet);
    const analysis::FleetReport report = analysis::report_of(found, fleet.refused);
    show(report, analysis::fleet_json(report), options, context);
    const bool has_drift =
        std::ranges::any_of(found, [](const analysis::HistorySeries& s) { return !s.drifts.empty(); });
    const bool has_loss = std::ranges::any_of(found, [](const analysis::HistorySeries& s) {
        return std::ranges::any_of(s.shifts, [](const analysis::FleetShift& shift) { return shift.ratio < 1; });
    });
    const bool has_tests = std::ranges::any_of(found, [](const analysis::HistorySeries& s) { return s.tests > 0; });
    if (has_drift || has_loss) return 1;
    return has_tests && fleet.refused.empty() ? 0 : 2;
}

/// 1 if a ceiling or a node is slower in B; 2 if nothing can be compared.
int compare_two(const FleetOptions& options, const std::vector<std::string>& folders, Context& context)
{
    if (folders.size() != 2) throw InputError("fleet compare: two folders, A and B; 'roof help fleet' shows how");
    analysis::Fleet a = fleet_in(options, {folders[0]});
    analysis::Fleet b = fleet_in(options, {folders[1]});
    if (options.anonymise) analysis::anonymise({&a, &b});
    const analysis::FleetChanges changes = analysis::compare_fleets(a, b);
    const analysis::FleetReport report = analysis::report_of(changes);
    show(report, analysis::fleet_json(report), options, context);
    const bool has_slower = std::ranges::any_of(changes.kinds, [](const analysis::FleetComparison& kind) {
        return std::ranges::find(kind.ceilings, analysis::ChangeVerdict::slower, &analysis::CeilingChange::change) !=
               kind.ceilings.end();
    });
    const bool has_slow_node = analysis::status_of(changes.nodes) == 1;
    if (has_slower || has_slow_node) return 1;
    return changes.kinds.empty() || !changes.nodes.refused.empty() ? 2 : 0;
}

int fleet_of(const FleetOptions& options, Context& context)
{
    using Verb = int (*)(const FleetOptions&, const std::vector<std::string>&, Context&);
    static const std::map<std::string, Verb> verbs{
        {"script", print_script}, {"retest", retest}, {"history", history}, {"compare", compare_two}};
    if (const auto verb = verbs.find(options.words.front()); verb != verbs.end())
        return verb->second(options, {options.words.begin() + 1, options.words.end()}, context);
    std::vector<std::string> words;
    for (const auto& [word, verb] : verbs) words.push_back(word);
    if (!fs::exists(options.words.front()) && !nearest(options.words.front(), words).empty())
        throw InputError("fleet: " + unknown_word("word", options.words.front(), words));
    analysis::Fleet fleet = fleet_in(options, options.words);
    if (options.anonymise) analysis::anonymise({&fleet});
    const analysis::FleetFindings findings = analysis::judge(fleet, judge_options(options));
    const std::vector<analysis::LinkFindings> links = analysis::judge_links(fleet);
    show(analysis::report_of(findings, links), analysis::fleet_json(findings, links), options, context);
    const bool has_slow_link =
        std::ranges::any_of(links, [](const analysis::LinkFindings& l) { return !l.slow.empty(); });
    const bool has_links = std::ranges::any_of(links, [](const analysis::LinkFindings& l) { return l.note.empty(); });
    return has_slow_link ? 1 : analysis::status_of(findings, has_links);
}

}  // namespace

Action fleet(OptionParser& parser)
{
    return [options = FleetOptions{parser}](Context& context) { return fleet_of(options, context); };
}

}  // namespace roof
