// `roof estimate`: FLOPs, bytes and predicted time of a training step by arithmetic alone; nothing is run.
#include "analysis/estimate/estimate.hpp"

#include "analysis/estimate/estimate_tables.hpp"
#include "ert/base/error.hpp"
#include "ert/base/precision.hpp"
#include "tools/roof/commands/commands.hpp"
#include "tools/roof/commands/study_estimate.hpp"
#include "tools/roof/console/options.hpp"
#include "tools/roof/console/output.hpp"
#include "tools/roof/reading/machines.hpp"

#include <limits>
#include <memory>

namespace roof {
namespace {

constexpr int largest_batch = 65536;
constexpr int most_devices = 4096;

struct Options {
    std::string model;
    std::string batch;
    std::string precision = "fp32";
    std::string machines;
    std::string phase = "step";
    std::string images;
    std::string devices = "1";
    std::string link;
    StudyOptions study;
    bool json = false;
};

analysis::EstimateRequest request_of(const Options& options)
{
    if (options.model.empty()) throw InputError("estimate: MODEL is missing; 'roof help estimate' shows how");
    if (options.batch.empty()) throw InputError("estimate: --batch is required; 'roof help estimate' shows how");
    analysis::EstimateRequest request;
    request.model = options.model;
    request.batch = whole_number("--batch", options.batch, 1, largest_batch);
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
    const analysis::EstimateRequest request = request_of(options);
    const auto model = analysis::estimate_model(request.model, request.batch, request.precision);
    const auto on_machines = estimates(options, request, context);
    if (options.json) {
        nlohmann::json document = analysis::to_json(model);
        if (!options.machines.empty()) document["machines"] = nlohmann::json::array();
        for (const auto& estimate : on_machines) document["machines"].push_back(analysis::to_json(estimate));
        print_json(context.out, document);
        return 0;
    }
    context.out << (options.machines.empty() ? analysis::to_text(model) : analysis::to_text(on_machines));
    return 0;
}

int estimate_any(const Options& options, Context& context)
{
    return options.study.name.empty() ? estimate_step(options, context)
                                      : estimate_study(options.study, options.json, context);
}

}  // namespace

Action estimate(OptionParser& parser)
{
    const auto options = std::make_shared<Options>();
    parser.optional_argument("MODEL", options->model);
    parser.value("--batch", options->batch);
    parser.value("--precision", options->precision);
    parser.value("--on", options->machines);
    parser.value("--phase", options->phase);
    parser.value("--images", options->images);
    parser.value("--gpus", options->devices);
    parser.value("--link", options->link);
    parser.value("--study", options->study.name);
    parser.value("--measured", options->study.measured);
    parser.value("--page", options->study.page);
    parser.flag("--json", options->json);
    return [options](Context& context) { return estimate_any(*options, context); };
}

}  // namespace roof
