// Writes the step from the import of images to the update of all parameters.
#include "workloads/engine/layers/layers.hpp"

#include "ert/base/error.hpp"
#include "workloads/engine/initial.hpp"
#include "workloads/engine/ir/formulas.hpp"
#include "workloads/engine/passes/passes.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace roof::ir {
namespace {

void import_images(Builder& build)
{
    build.list.begin("input", "input", Phase::forward);
    Tensor to = build.map(0);
    if (build.graph.vocabulary() > 0) to.precision = Precision::fp32;  // numbers of tokens
    int padding = 0;
    if (build.image_block > 0) {
        const model::Layer& first = build.graph.layer(readers(build.graph, 0).front());
        const model::Shape read =
            space_to_depth({{.source = build.graph.layer(0).output, .result = first.output, .window = first.window}})
                .source;
        to.channels = read.channels;
        to.height = read.height;
        to.width = read.width;
        padding = first.window.padding;
    }
    to = build.list.tensor(to);
    build.list.append(ImportImages{build.images, to, build.labels_given, build.labels, build.image_block, padding},
                      "roof:import");
    build.output(0) = to;
}

}  // namespace

void write_unit(Builder& build, const Unit& unit)
{
    using model::LayerKind;
    static const std::map<LayerKind, void (*)(Builder&, const Unit&)> writers{
        {LayerKind::convolution, convolution},
        {LayerKind::linear, linear},
        {LayerKind::batch_norm, batch_norm},
        {LayerKind::layer_norm, layer_norm},
        {LayerKind::rms_norm, layer_norm},
        {LayerKind::attention, attention},
        {LayerKind::rope, rope},
        {LayerKind::embedding, embedding},
        {LayerKind::positions, positions},
        {LayerKind::take_positions, take_positions},
        {LayerKind::relu, relu},
        {LayerKind::max_pool, max_pool},
        {LayerKind::average_pool, average_pool},
        {LayerKind::resize, resize},
        {LayerKind::add, add},
        {LayerKind::multiply, multiply},
        {LayerKind::concat, concat},
        {LayerKind::slice, slice},
        {LayerKind::shuffle, shuffle},
        {LayerKind::flatten, flatten},
        {LayerKind::dropout, dropout}};
    const LayerKind kind = build.is_convolved(unit.layer) ? LayerKind::convolution : build.layer(unit).kind;
    if (kind == LayerKind::input) return;
    const auto writer = writers.find(kind);
    (writer == writers.end() ? activation : writer->second)(build, unit);
}

StepProgram write_step(const model::Graph& graph, const Settings& settings, const Choosers& choosers)
{
    StepProgram step;
    if (choosers.whole_norms) step.run_whole_norms();
    Builder build(graph, settings, choosers, step);
    if (choosers.reads_images)
        build.output(0) = build.images;
    else
        import_images(build);
    for (const Unit& unit : units_of(build.graph)) write_unit(build, unit);
    softmax_cross_entropy(build);
    if (!settings.trains) build.tape.clear();
    for (auto backward = build.tape.rbegin(); backward != build.tape.rend(); ++backward) (*backward)();
    if (settings.trains) descend(build);
    run_passes(build.list, settings, choosers);
    step.algorithms = lower(build.list, settings, choosers);
    step.parameters = std::move(build.parameters);
    step.running = std::move(build.running);
    step.caches = std::move(build.caches);
    step.images = build.images;
    step.labels = build.labels_given;
    step.bytes = step.place();
    return step;
}

void for_initial_values(const StepProgram& step, const model::Graph& graph, const Settings& settings,
                        const std::function<void(const Trained&, const std::vector<float>&)>& use)
{
    std::vector<float> values, stored;
    for (std::size_t k = 0; k < step.parameters.all().size(); ++k) {
        const Trained& trained = step.parameters.all()[k];
        values.resize(trained.given);
        engine::fill_initial(graph, static_cast<int>(k), settings.parameters, values);
        if (trained.has_pytorch_order()) {
            values.resize(trained.count);
            use(trained, values);
            continue;
        }
        stored.assign(trained.count, 0);
        for (std::size_t i = 0; i < trained.count; ++i)
            if (const auto place = trained.pytorch_place(i)) stored[i] = values[*place];
        use(trained, stored);
    }
}

StepState first_state(const Settings& settings)
{
    StepState state;
    if (settings.storage() == Precision::fp16) state.loss_scale = first_loss_scale;
    return state;
}

void softmax_cross_entropy(Builder& build)
{
    const int last = static_cast<int>(build.graph.layers().size()) - 1;
    Tensor logits = build.output(last);
    build.list.begin("loss", "softmax_cross_entropy", Phase::forward);
    if (logits.precision != Precision::fp32) {
        Tensor wide = logits;
        wide.precision = Precision::fp32;
        wide = build.list.tensor(wide);
        build.list.append(Widen{{logits}, {wide}}, "roof:widen");
        logits = wide;
    }
    const bool trains = build.settings.trains;
    Tensor gradient = build.map(last);
    const int classes = gradient.channels;
    gradient.channels = logits.channels;
    gradient = trains ? build.list.tensor(gradient) : Tensor{};
    build.add_flops(Flops{model::loss_flops(trains) * static_cast<double>(logits.elements())});
    build.list.append(Loss{logits, build.labels, gradient, classes, build.row_losses}, "roof:softmax");
    if (trains) build.give(last, gradient);
}

void descend(Builder& build)
{
    const Parameters& all = build.parameters;
    const bool is_scaled = build.settings.storage() == Precision::fp16;
    const std::string by(name(build.settings.optimizer));
    build.list.begin(by, by, Phase::update);
    if (is_scaled) build.list.append(CheckFinite{all.gradients}, "roof:finite");
    std::size_t updated = 0;
    const std::vector<model::Parameter> parameters = build.graph.parameters();
    for (const model::Parameter& parameter : parameters) updated += static_cast<std::size_t>(parameter.elements());
    build.add_flops(Flops{model::cost_of(build.settings.optimizer).flops * static_cast<double>(updated)});
    build.list.append(Descend{all.values, all.gradients, all.momenta, all.squares, all.copies,
                              build.settings.learning_rate, is_scaled},
                      "roof:" + by);
    build.list.append(Advance{is_scaled}, "roof:advance");
}

// The memory of a step by its plan.

namespace {

/// What saves maps: the library's convolutions take over what they may of batch norms, or moments serve wherever they
/// can.
enum class Saving { none, fused, moments };

std::size_t planned_bytes(const model::Graph& graph, Settings settings, int batch, Saving saving)
{
    settings.batch = batch;
    const auto choose = [saving](const ConvolutionPass&) {
        Choice choice;
        choice.fused = saving == Saving::fused;
        return choice;
    };
    Choosers nobody{choose, [](const Product&) { return Choice{}; }};
    nobody.moments = [saving](const ConvolutionPass&) { return saving == Saving::moments; };
    return write_step(graph, settings, nobody).bytes;
}

}  // namespace

int largest_batch(const model::Graph& graph, const Settings& settings, std::size_t bytes)
{
    constexpr int most = 65536;
    if (planned_bytes(graph, settings, 1, Saving::none) > bytes) return 0;
    int fits = 1;
    int fails = most + 1;
    while (fails - fits > 1) {
        const int middle = fits * 2 < fails ? fits * 2 : fits + (fails - fits) / 2;
        (planned_bytes(graph, settings, middle, Saving::none) <= bytes ? fits : fails) = middle;
    }
    return fits;
}

void require_room(const model::Graph& graph, const Settings& settings, std::size_t available)
{
    const std::size_t wanted = std::min(planned_bytes(graph, settings, settings.batch, Saving::fused),
                                        planned_bytes(graph, settings, settings.batch, Saving::moments));
    if (wanted <= available) return;
    throw OutOfMemory(Bytes{static_cast<double>(wanted)}, Bytes{static_cast<double>(available)},
                      "training " + graph.name() + " at batch " + std::to_string(settings.batch) +
                          " (by the plan of memory, the largest batch that fits is " +
                          std::to_string(largest_batch(graph, settings, available)) + ")");
}

}  // namespace roof::ir
