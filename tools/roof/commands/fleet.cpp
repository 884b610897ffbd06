// `roof fleet`: judges the digests of many nodes, lists those to measure again, and prints scripts for the engines that measure them.
#include "analysis/fleet/fleet_scripts.hpp"
#include "analysis/fleet/fleet_tables.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "tools/roof/commands/commands.hpp"
#include "tools/roof/console/options.hpp"
#include "tools/roof/console/output.hpp"

#include <filesystem>
#include <memory>

namespace roof {
namespace {

namespace fs = std::filesystem;

struct Options {
    std::vector<std::string> words;  ///< folders, or `script` and `retest` with theirs
    std::string expect;
    std::string group_by;
    std::string out;
    std::string plan = "calibrate/cpu";
    std::string nodes;
    std::string at_once = "20";
    std::string image;
    std::string claim;
    bool anonymise = false;
    bool json = false;
};

analysis::FleetFindings judged(const Options& options, const std::vector<std::string>& folders)
{
    if (folders.empty()) throw InputError("fleet: DIR is missing; 'roof help fleet' shows how");
    analysis::Fleet fleet = analysis::read_fleet({folders.begin(), folders.end()});
    if (!options.expect.empty()) fleet.expected = analysis::read_expected(options.expect);
    if (options.anonymise) analysis::anonymise(fleet);
    return analysis::judge(fleet, options.group_by);
}

int print_script(const Options& options, const std::vector<std::string>& words, Context& context)
{
    if (words.size() != 1)
        throw InputError("fleet script: one of slurm, kubernetes and parallel; 'roof help fleet' shows how");
    constexpr int most_at_once = 10'000;
    analysis::FleetScript script{.engine = words.front(), .plan = options.plan, .nodes = {}};
    const bool is_file = !options.nodes.empty() && fs::is_regular_file(options.nodes);
    if (is_file)
        for (const analysis::ExpectedNode& node : analysis::read_expected(options.nodes))
            script.nodes.push_back(node.node);
    else
        script.nodes = analysis::node_list(options.nodes);
    if (!options.out.empty()) script.results = options.out;
    script.at_once = whole_number("--at-once", options.at_once, 1, most_at_once);
    script.image = options.image;
    script.claim = options.claim;
    context.out << analysis::fleet_script(script);
    return 0;
}

/// 1 if a node is slow or implausible, or a folder cannot be used.
int status_of(const analysis::FleetFindings& findings)
{
    for (const analysis::FleetGroup& group : findings.groups)
        for (const analysis::NodeFinding& node : group.nodes)
            if (node.finding == analysis::Finding::slow || node.finding == analysis::Finding::implausible) return 1;
    return findings.refused.empty() ? 0 : 1;
}

int fleet_of(const Options& options, Context& context)
{
    const std::vector<std::string> rest(options.words.begin() + 1, options.words.end());
    if (options.words.front() == "script") return print_script(options, rest, context);
    if (options.words.front() == "retest") {
        for (const std::string& node : analysis::nodes_to_retest(judged(options, rest))) context.out << node << '\n';
        return 0;
    }
    const analysis::FleetFindings findings = judged(options, options.words);
    if (!options.out.empty()) write_file(options.out, analysis::fleet_page(findings));
    if (options.json)
        print_json(context.out, analysis::fleet_json(findings));
    else
        context.out << analysis::fleet_text(findings, context.terminal.width);
    return status_of(findings);
}

}  // namespace

Action fleet(OptionParser& parser)
{
    const auto options = std::make_shared<Options>();
    parser.arguments("DIR", options->words);
    parser.value("--expect", options->expect);
    parser.value("--group-by", options->group_by);
    parser.flag("--anonymise", options->anonymise);
    parser.value("--out", options->out);
    parser.value("--plan", options->plan);
    parser.value("--nodes", options->nodes);
    parser.value("--at-once", options->at_once);
    parser.value("--image", options->image);
    parser.value("--claim", options->claim);
    parser.flag("--json", options->json);
    return [options](Context& context) { return fleet_of(*options, context); };
}

}  // namespace roof
