// `roof estimate`: FLOPs, bytes and predicted time of a training step by arithmetic alone; nothing is run.
#include "analysis/estimate/estimate.hpp"

#include "analysis/estimate/hypothesis.hpp"
#include "analysis/estimate/machine_estimate.hpp"
#include "analysis/estimate/node_scaling.hpp"
#include "analysis/report/pages.hpp"
#include "analysis/table/fitted_text.hpp"
#include "analysis/table/table.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/precision.hpp"
#include "tools/roof/commands/commands.hpp"
#include "tools/roof/console/options.hpp"
#include "tools/roof/console/output.hpp"
#include "tools/roof/reading/machines.hpp"
#include "tools/roof/reading/studies.hpp"

#include <limits>
#include <memory>

namespace roof {
namespace {

constexpr int largest_batch = 65536;
constexpr int most_devices = 4096;

/// `roof estimate --study`: compares a study's numbers with arithmetic and spec sheets, and answers its hypotheses.
struct StudyOptions {
    std::string name;      ///< "a"
    std::string measured;  ///< a results folder that answers the hypotheses about measurements; may be empty
    std::string page;      ///< an HTML file to write; may be empty
};

struct Options {
    std::string model;
    std::string batch;
    std::string precision = "fp32";
    std::string machines;
    std::string phase = "step";
    std::string images;
    std::string devices = "1";
    std::string link;
    std::string nodes;
    std::string from;
    std::string per_node = "1";
    StudyOptions study;
    bool json = false;
};

analysis::EstimateRequest request_of(const Options& options, const std::string& batch)
{
    analysis::EstimateRequest request;
    request.model = options.model;
    request.batch = whole_number("--batch", batch, 1, largest_batch);
    request.precision = parse_precision(options.precision);
    request.passes = analysis::parse_passes(options.phase);
    request.devices = whole_number("--gpus", options.devices, 1, most_devices);
    request.link = options.link;
    if (!options.images.empty())
        request.images = whole_number("--images", options.images, 1, std::numeric_limits<int>::max());
    return request;
}

std::vector<analysis::MachineEstimate> estimates(const Options& options, const analysis::EstimateRequest& request,
                                                 const Context& context)
{
    std::vector<analysis::MachineEstimate> all;
    if (options.machines.empty()) return all;
    for (const std::string& word : comma_list("--on", options.machines))
        for (const analysis::Target& target : find_targets(word, context))
            all.push_back(analysis::estimate_on(target, request));
    return all;
}

int estimate_step(const Options& options, Context& context)
{
    if (options.model.empty()) throw InputError("estimate: MODEL is missing; 'roof help estimate' shows how");
    if (options.batch.empty()) throw InputError("estimate: --batch is required; 'roof help estimate' shows how");
    nlohmann::json documents = nlohmann::json::array();
    for (const std::string& batch : comma_list("--batch", options.batch)) {
        const analysis::EstimateRequest request = request_of(options, batch);
        const auto model = analysis::estimate_model(request.model, request.batch, request.precision);
        const auto on_machines = estimates(options, request, context);
        if (!options.json) {
            context.out << in_window(
                options.machines.empty() ? analysis::to_text(model) : analysis::to_text(on_machines), context.terminal);
            continue;
        }
        documents.push_back(analysis::to_json(model));
        if (!options.machines.empty()) documents.back()["machines"] = nlohmann::json::array();
        for (const auto& estimate : on_machines) documents.back()["machines"].push_back(analysis::to_json(estimate));
    }
    if (options.json)
        print_json(context.out, documents.size() == 1 ? documents.front() : nlohmann::json{{"estimates", documents}});
    return 0;
}

/// "2..1024" is 2, 4, 8, … 1024; else a list.
std::vector<int> node_counts(const std::string& text)
{
    constexpr int most_nodes = 1'000'000;
    const std::size_t dots = text.find("..");
    std::vector<int> counts;
    if (dots == std::string::npos) {
        for (const std::string& word : comma_list("--nodes", text))
            counts.push_back(whole_number("--nodes", word, 1, most_nodes));
        return counts;
    }
    const int last = whole_number("--nodes", text.substr(dots + 2), 1, most_nodes);
    for (int n = whole_number("--nodes", text.substr(0, dots), 1, most_nodes); n < last; n *= 2) counts.push_back(n);
    counts.push_back(last);
    return counts;
}

int estimate_nodes(const Options& options, Context& context)
{
    if (options.model.empty()) throw InputError("estimate: MODEL is missing; 'roof help estimate' shows how");
    if (options.from.empty())
        throw InputError("estimate: --nodes needs --from, folders with measured rows and messages");
    analysis::ScalingRequest request{.model = options.model, .nodes = node_counts(options.nodes)};
    if (!options.batch.empty()) request.batch = whole_number("--batch", options.batch, 1, largest_batch);
    request.per_node = whole_number("--per-node", options.per_node, 1, most_devices);
    std::vector<Results> measured;
    for (const std::string& folder : comma_list("--from", options.from)) measured.push_back(read_results(folder));
    const analysis::ScalingPrediction prediction = analysis::predict_scaling(request, measured);
    if (options.json)
        print_json(context.out, analysis::to_json(prediction));
    else
        context.out << analysis::to_text(prediction, context.terminal.width);
    return 0;
}

nlohmann::json study_json(const std::vector<analysis::Assessment>& assessments,
                          const std::vector<analysis::Answered>& answers)
{
    nlohmann::json published = nlohmann::json::array();
    for (const analysis::Assessment& a : assessments) {
        published.push_back({{"model", a.published.of.model},
                             {"batch", a.published.of.batch},
                             {"machine", a.published.machine},
                             {"quantity", a.published.quantity},
                             {"published", analysis::json_number(a.published.value)},
                             {"unit", a.published.unit},
                             {"published_si", analysis::json_number(a.published.si)},
                             {"estimated_si", analysis::json_number(a.estimated)},
                             {"assessment", name(a.verdict)},
                             {"remark", a.remark},
                             {"source", a.published.source}});
    }
    nlohmann::json hypotheses = nlohmann::json::array();
    for (const analysis::Answered& one : answers)
        hypotheses.push_back({{"hypothesis", one.hypothesis}, {"answer", name(one.answer)}, {"numbers", one.numbers}});
    return {{"published", published}, {"hypotheses", hypotheses}};
}

int estimate_study(const StudyOptions& options, bool json, Context& context)
{
    const PublishedStudy study = find_study(options.name);
    const std::vector<analysis::Target> targets = all_targets(context);
    const std::vector<analysis::Assessment> assessments = analysis::assess(study.numbers, targets);
    Results measured;
    if (!options.measured.empty()) measured = read_results(options.measured);
    const auto knowledge = analysis::knowledge_of({.targets = targets, .rows = measured.rows, .usual = {}});
    const std::vector<analysis::Answered> answers = analysis::answer_all(study.hypotheses, knowledge);
    if (!options.page.empty())
        write_file(options.page, analysis::published_page(study.name, assessments, answers, targets));
    if (json) {
        print_json(context.out, study_json(assessments, answers));
        return 0;
    }
    context.out << analysis::to_text(analysis::published_table(assessments), context.terminal.width) << '\n'
                << in_window(analysis::to_text(answers), context.terminal);
    if (!options.page.empty()) context.out << '\n' << options.page << '\n';
    return 0;
}

int estimate_any(const Options& options, Context& context)
{
    if (!options.nodes.empty()) return estimate_nodes(options, context);
    return options.study.name.empty() ? estimate_step(options, context)
                                      : estimate_study(options.study, options.json, context);
}

}  // namespace

Action estimate(OptionParser& parser)
{
    const auto options = std::make_shared<Options>();
    parser.value("MODEL", options->model);
    parser.value("--batch", options->batch);
    parser.value("--precision", options->precision);
    parser.value("--on", options->machines);
    parser.value("--phase", options->phase);
    parser.value("--images", options->images);
    parser.value("--gpus", options->devices);
    parser.value("--link", options->link);
    parser.value("--nodes", options->nodes);
    parser.value("--per-node", options->per_node);
    parser.value("--from", options->from);
    parser.value("--study", options->study.name);
    parser.value("--measured", options->study.measured);
    parser.value("--page", options->study.page);
    parser.flag("--json", options->json);
    return [options](Context& context) { return estimate_any(*options, context); };
}

}  // namespace roof
