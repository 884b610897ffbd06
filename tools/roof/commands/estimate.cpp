// `roof estimate`: FLOPs, bytes and predicted time of a training step by arithmetic alone; nothing is run.
#include "analysis/estimate/estimate.hpp"

#include "analysis/estimate/machine_estimate.hpp"
#include "analysis/estimate/node_scaling.hpp"
#include "analysis/report/report.hpp"
#include "analysis/table/fitted_text.hpp"
#include "analysis/table/table.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/names.hpp"
#include "ert/base/precision.hpp"
#include "ert/base/ranges.hpp"
#include "ert/base/text.hpp"
#include "tools/roof/commands/commands.hpp"
#include "tools/roof/console/output.hpp"
#include "tools/roof/programs/child_program.hpp"
#include "tools/roof/reading/study.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace roof {
namespace {

constexpr int largest_batch = 65536;
constexpr int most_devices = 4096;
constexpr int most_roof_threads = 65536;

struct EstimateOptions {
    OptionParser& parser;
    std::string& model = parser.value("MODEL");
    std::string& batch = parser.value("--batch");
    std::string& precision = parser.value("--precision", "fp32");
    std::string& machines = parser.value("--on");
    std::string& phase = parser.value("--phase", "train");
    std::string& optimizer = parser.value("--optimizer");
    std::string& algorithm = parser.value("--algorithm", "direct");
    std::string& threads = parser.value("--threads");
    std::string& tokens = parser.value("--tokens");
    std::string& sizes = parser.value("--size");
    std::string& images = parser.value("--images");
    std::string& devices = parser.value("--gpus", "1");
    std::string& link = parser.value("--link");
    std::string& nodes = parser.value("--nodes");
    std::string& per_node = parser.value("--per-node", "1");
    std::string& from = parser.value("--from");
    std::string& out = parser.value("--out");
    std::string& csv = parser.value("--csv");
    bool& json = parser.flag("--json");
};

/// --size "sequence=128,width=224" and --tokens.
analysis::Sizes sizes_of(const EstimateOptions& options)
{
    constexpr int most = 1 << 24;
    analysis::Sizes sizes;
    if (!options.sizes.empty()) {
        for (const std::string& word : comma_list("--size", options.sizes)) {
            const std::size_t equals = word.find('=');
            if (equals == 0 || equals == word.npos)
                throw InputError("--size: '" + word + "' is not NAME=N, such as width=224");
            sizes[word.substr(0, equals)] = whole_number("--size", word.substr(equals + 1), 1, most);
        }
    }
    if (!options.tokens.empty()) sizes["tokens"] = whole_number("--tokens", options.tokens, 1, most);
    return sizes;
}

/// Of convolutions: whether it is the fastest one.
constexpr std::array algorithms{Named<bool>{false, "direct"}, Named<bool>{true, "auto"}};

long long images_of(const EstimateOptions& options)
{
    if (options.images.empty()) return analysis::imagenet_images;
    return whole_number("--images", options.images, 1, std::numeric_limits<int>::max());
}

analysis::EstimateRequest request_of(const EstimateOptions& options, const std::string& network,
                                     const std::string& batch)
{
    analysis::EstimateRequest request;
    request.model = network;
    request.batch = whole_number("--batch", batch, 1, largest_batch);
    request.precision = parse_precision(options.precision);
    request.passes = parse_enum<analysis::Passes>(options.phase);
    request.optimizer = !options.optimizer.empty()         ? parse_enum<model::Optimizer>(options.optimizer)
                        : model::usual_tokens(network) > 0 ? model::Optimizer::adamw  // as `roof run` trains it
                                                           : model::Optimizer::sgd;
    request.by_fastest_algorithm = row_in(algorithms, "algorithm of an estimate", options.algorithm).value;
    if (!options.threads.empty()) request.threads = whole_number("--threads", options.threads, 1, most_roof_threads);
    request.devices = whole_number("--gpus", options.devices, 1, most_devices);
    request.link = options.link;
    request.sizes = sizes_of(options);
    request.images = images_of(options);
    return request;
}

std::vector<analysis::Target> targets_in(const EstimateOptions& options, Context& context)
{
    std::vector<analysis::Target> all;
    if (options.machines.empty()) return all;
    for (const std::string& word : comma_list("--on", options.machines))
        for (analysis::Target& target : find_targets(word, context)) all.push_back(std::move(target));
    return all;
}

std::vector<analysis::RecordedEstimate> recorded_in(const EstimateOptions& options)
{
    std::vector<analysis::RecordedEstimate> all;
    for (const std::string& folder : comma_list("--from", options.from))
        for (analysis::RecordedEstimate& one : analysis::read_estimates(folder)) {
            one.request.devices = whole_number("--gpus", options.devices, 1, most_devices);
            one.request.link = options.link;
            one.request.images = images_of(options);
            all.push_back(std::move(one));
        }
    return all;
}

std::vector<analysis::RecordedEstimate> counted_by(const EstimateOptions& options)
{
    if (options.model.empty()) return recorded_in(options);
    if (options.batch.empty()) throw InputError("estimate: --batch is required; 'roof help estimate' shows how");
    std::vector<analysis::EstimateRequest> requests;                     // all are read before the first is answered
    const bool is_text = options.model.find('{') != options.model.npos;  // of a network's layers
    const auto networks = is_text ? std::vector{options.model} : comma_list("MODEL", options.model);
    for (const std::string& network : networks)
        for (const std::string& batch : comma_list("--batch", options.batch))
            requests.push_back(request_of(options, network, batch));
    return mapped(requests, [](const analysis::EstimateRequest& one) {
        return analysis::RecordedEstimate{analysis::estimate_model(one), one};
    });
}

/// What bounds each of them, and for a network that is counted here the batch at which that changes.
std::vector<std::string> bound_sentences(const EstimateOptions& options, std::span<const analysis::Target> targets,
                                         std::span<const analysis::MachineEstimate> estimates)
{
    std::vector<std::string> sentences;
    std::map<std::pair<std::string, std::string>, std::optional<int>> changes;  // by model and machine
    for (const analysis::MachineEstimate& one : estimates) {
        sentences.push_back(analysis::bound_sentence(one));
        if (options.model.empty() || !one.reason.empty()) continue;
        const analysis::Target* const target = find_in(targets, one.machine, &analysis::Target::name);
        const auto [change, is_new] = changes.try_emplace({one.request.model, one.machine});
        if (is_new) change->second = analysis::compute_bound_from(*target, one.request, largest_batch);
        sentences.back() +=
            change->second ? fmt::format(" From batch {} on compute bounds it, below that memory.", *change->second)
                           : fmt::format(" That is so at every batch to {}.", largest_batch);
    }
    return sentences;
}

/// --out FILE.html is a page, --out FILE.svg the picture of all machines; --csv has the table.
void write_drawn(const EstimateOptions& options, const std::vector<analysis::Target>& targets,
                 const std::vector<analysis::MachineEstimate>& estimates, const std::vector<std::string>& sentences)
{
    if (!options.csv.empty()) write_chosen_file(options.csv, analysis::to_csv(analysis::estimates_table(estimates)));
    if (options.out.empty()) return;
    if (!options.out.ends_with(".svg")) {
        write_chosen_file(options.out, analysis::estimates_page(targets, estimates, sentences));
        return;
    }
    const std::vector<analysis::Svg> pictures = analysis::estimates_pictures(targets, estimates);
    if (pictures.empty()) throw InputError("estimate: none of these machines has roofs for this precision");
    write_chosen_file(options.out, pictures.front().file(analysis::picture_style_sheet()));
}

int estimate_step(const EstimateOptions& options, Context& context)
{
    if (options.machines.empty() && !(options.out + options.csv).empty())
        throw InputError("estimate: --out and --csv need --on, such as --on here,a100");
    if (options.out.ends_with(".png") || options.out.ends_with(".pdf"))
        throw InputError("estimate: --out writes FILE.html or FILE.svg; rsvg-convert makes PNG and PDF of an SVG file");
    nlohmann::json documents = nlohmann::json::array();
    const std::vector<analysis::RecordedEstimate> all = counted_by(options);
    const std::vector<analysis::Target> targets = targets_in(options, context);
    std::vector<analysis::MachineEstimate> estimates;
    for (const auto& [model, request] : all) {
        const std::vector<analysis::MachineEstimate> on_machines =
            mapped(targets, [&](const analysis::Target& target) { return estimate_on(target, request, model); });
        estimates.insert(estimates.end(), on_machines.begin(), on_machines.end());
        if (!options.json) {
            context.out << in_window(
                options.machines.empty() ? analysis::to_text(model) : analysis::to_text(on_machines), context.terminal);
            continue;
        }
        documents.push_back(analysis::to_json(model));
        documents.back()["version"] = analysis::json_version;
        if (!options.machines.empty())
            documents.back()["machines"] = mapped(on_machines, [](const auto& one) { return analysis::to_json(one); });
    }
    const std::vector<std::string> sentences = bound_sentences(options, targets, estimates);
    write_drawn(options, targets, estimates, sentences);
    if (options.json)
        print_json(context.out, documents.size() == 1 ? documents.front() : nlohmann::json{{"estimates", documents}});
    else if (!sentences.empty())
        context.out << in_window(join(sentences, "\n") + "\n", context.terminal);
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

int estimate_nodes(const EstimateOptions& options, Context& context)
{
    if (options.from.empty())
        throw InputError("estimate: --nodes needs --from, folders with measured rows and messages");
    analysis::ScalingRequest request{.model = options.model, .nodes = node_counts(options.nodes)};
    if (!options.batch.empty()) request.batch = whole_number("--batch", options.batch, 1, largest_batch);
    request.per_node = whole_number("--per-node", options.per_node, 1, most_devices);
    std::vector<Results> measured;
    for (const std::string& folder : comma_list("--from", options.from)) {
        measured.push_back(read_results(folder));
        report_damage(measured.back(), context);
    }
    const analysis::ScalingPrediction prediction = analysis::predict_scaling(request, measured);
    if (options.json)
        print_json(context.out, analysis::to_json(prediction));
    else
        context.out << analysis::to_text(prediction, context.terminal.width);
    return 0;
}

bool trains_here(const std::string& network)
{
    try {
        model::build_model(network);
        return true;
    } catch (const Error&) {
        return false;
    }
}

/// Of an ONNX file that does not train here, by its operators; of a config.json, by PyTorch, where the Python package
/// and its libraries are installed, and nothing without them.
std::optional<int> estimate_in_package(const EstimateOptions& options)
{
    constexpr int lacks_library = 69;  // of main() in tools/python/roof/commands/estimate.py
    const bool is_onnx = options.model.ends_with(model::network_ending);
    if (!options.nodes.empty() || options.model.find(',') != options.model.npos ||
        !(is_onnx ? !trains_here(options.model) : options.model.ends_with(model::config_ending)))
        return std::nullopt;
    try {
        const int status = run_in_package("estimate", options.parser.arguments());
        return status == lacks_library ? std::nullopt : std::optional(status);
    } catch (const InputError&) {
        if (is_onnx) throw;
        return std::nullopt;
    }
}

}  // namespace

Action estimate(OptionParser& parser)
{
    return [options = EstimateOptions{parser}](Context& context) {
        if (const std::optional<int> status = estimate_in_package(options)) return *status;
        if (options.model.empty() && (options.from.empty() || !options.nodes.empty()))
            throw InputError("estimate: MODEL is missing; 'roof help estimate' shows how");
        return options.nodes.empty() ? estimate_step(options, context) : estimate_nodes(options, context);
    };
}

}  // namespace roof
