// Where gradients of weights are found, and what updates them.
#include "workloads/engine/passes/passes.hpp"
#include "workloads/model/work.hpp"
#include "workloads/parallel/exchange.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace roof::ir {
namespace {

/// The piece of the block that has these places in the block of gradients, which is fp32.
Tensor piece_at(const Tensor& block, const Tensor& gradient)
{
    Tensor piece = block;
    piece.channels = static_cast<int>(gradient.elements());
    piece.begin = gradient.begin / sizeof(float) * static_cast<std::size_t>(traits(block.precision).storage_bytes);
    return block ? piece : Tensor{};
}

/// Gradients of weights that wait to be widened, with their parameters.
class Waiting {
  public:
    void add(const Tensor& narrow, const Tensor& gradient, std::size_t parameter)
    {
        all_.from.push_back(narrow);
        all_.to.push_back(gradient);
        parameters_.push_back(parameter);
        bytes_ += gradient.bytes();
    }
    std::size_t size() const { return parameters_.size(); }
    std::size_t bytes() const { return bytes_; }
    /// Widens all of them at the begin or the end of the stage, which completes their gradients.
    void widen(List::Stage& stage, bool at_begin = false)
    {
        if (parameters_.empty()) return;
        stage.entries.insert(at_begin ? stage.entries.begin() : stage.entries.end(), Entry{all_, "roof:widen"});
        stage.ready.insert(at_begin ? stage.ready.begin() : stage.ready.end(), parameters_.begin(), parameters_.end());
        *this = {};
    }

  private:
    Widen all_{};
    std::vector<std::size_t> parameters_{};
    std::size_t bytes_ = 0;
};

}  // namespace

void take_whole_gradients(List& list)
{
    for (List::Stage& stage : list.stages) {
        if (stage.part.phase != Phase::backward) continue;
        Tensor bias;
        bool has_relu = false;
        for (Entry& entry : stage.entries) {
            if (const auto* const mask = std::get_if<MaskGradient>(&entry.operation))
                has_relu = has_relu || mask->output;
            if (auto* const pass = std::get_if<Convolve>(&entry.operation)) {
                pass->shape.bias = static_cast<bool>(bias);
                pass->shape.relu = has_relu;
                if (pass->shape.pass == Pass::backward_weights) pass->bias = bias;
            }
            const auto* const reduction = std::get_if<ReduceGradient>(&entry.operation);
            const auto is_pass = [](const Entry& one) { return std::holds_alternative<Convolve>(one.operation); };
            if (reduction == nullptr || std::ranges::none_of(stage.entries, is_pass)) continue;
            bias = reduction->sum;
            has_relu = static_cast<bool>(reduction->output);
            const MaskGradient mask{reduction->share, reduction->other_share, reduction->output, reduction->result};
            entry.is_removed = !mask.result;
            entry.operation = mask;
            entry.implementation = has_relu ? "roof:relu" : "roof:sum";
        }
    }
    for_each_of<Descend>(list, [](const ListPlace&, Descend& descent) { descent.copies = {}; });
    list.sweep();
}

void sum_in_products(List& list, const Choosers& choosers)
{
    for (List::Stage& stage : list.stages) {
        for (Entry& entry : stage.entries) {
            const auto* const reduction = std::get_if<ReduceGradient>(&entry.operation);
            if (reduction == nullptr || reduction->result || reduction->output || reduction->winners ||
                reduction->source)
                continue;
            for (Entry& behind : stage.entries) {
                const auto* const product = std::get_if<Multiply>(&behind.operation);
                if (product == nullptr || product->pass != Pass::backward_weights ||
                    product->weights.block != reduction->sum.block || product->result.begin != reduction->share.begin ||
                    product->result.block != reduction->share.block)
                    continue;
                Multiply both = *product;
                both.bias = reduction->sum;
                if (!choosers.product(product_of(both)).fused) continue;
                behind.operation = both;
                entry.is_removed = true;
                break;
            }
        }
    }
    list.sweep();
}

void activate_in_products(List& list, const Choosers& choosers)
{
    const Uses uses(list);
    for_each_of<Activate>(list, [&](const ListPlace& place, const Activate& gelu) {
        if (gelu.kind != model::LayerKind::gelu_tanh) return;
        const bool is_forward = !gelu.gradient;
        const Tensor& between = is_forward ? gelu.source : gelu.gradient;
        for (const ListPlace& user : uses.users(between)) {
            const auto* const product = user.as<Multiply>();
            const bool writes = product != nullptr && product->written().block == between.block && !product->adds &&
                                product->pass == (is_forward ? Pass::forward : Pass::backward_data);
            if (!writes || product->relu || (is_forward ? !product->bias : uses.users(between).size() != 2)) continue;
            Multiply both = *product;
            Tensor& written = is_forward ? both.result : both.source;
            both.before_gelu = written;
            both.before_gelu.block = gelu.source.block;
            both.before_gelu.begin = gelu.source.begin;
            written.block = gelu.result.block;
            written.begin = gelu.result.begin;
            if (!choosers.product(product_of(both)).fused) return;
            user.entry->operation = both;
            place.entry->is_removed = true;
            join(*place.stage, *user.stage);
            return;
        }
    });
    list.sweep();
}

void narrow_logits(List& list)
{
    for_each_of<Loss>(list, [&](const ListPlace&, Loss& loss) {
        for_each_of<Multiply>(list, [&](const ListPlace&, Multiply& product) {
            const bool writes = product.pass == Pass::forward && product.result.block == loss.logits.block;
            if (!writes || product.bias || product.source.precision == loss.logits.precision ||
                list.program().is_kept(loss.logits))
                return;
            loss.logits.precision = product.source.precision;
            loss.logits = list.tensor(loss.logits);
            product.result.precision = loss.logits.precision;
            product.result.block = loss.logits.block;
            if (loss.gradient) list.program().write_over(loss.gradient, loss.logits);
        });
    });
}

void narrow_gradients(List& list, const Settings& settings)
{
    Waiting waiting;
    List::Stage* last = nullptr;
    for (List::Stage& stage : list.stages) {
        if (stage.part.phase != Phase::backward) continue;
        last = &stage;
        for (Entry& entry : stage.entries) {
            if (std::holds_alternative<EmbedGradient>(entry.operation)) {
                waiting.widen(stage, true);
                break;
            }
            auto* const pass = std::get_if<Convolve>(&entry.operation);
            if (pass == nullptr || pass->shape.pass != Pass::backward_weights) continue;
            const Tensor gradient = pass->weights;
            pass->weights.precision = settings.storage();
            pass->weights.begin = 0;
            pass->weights = list.tensor(pass->weights);
            for (Entry& behind : stage.entries)
                if (auto* const unused = std::get_if<ClearUnused>(&behind.operation)) unused->gradient = pass->weights;
            waiting.add(pass->weights, gradient, stage.ready.back());
            stage.ready.pop_back();
        }
        // Other ranks wait for the first of them; one rank alone waits for none.
        const bool is_bucket = settings.share().ranks > 1 && waiting.bytes() >= parallel::first_bucket_bytes;
        if (is_bucket || waiting.size() == Widen::most) waiting.widen(stage);
    }
    if (last != nullptr) waiting.widen(*last);
}

void update_from_factors(List& list, const Settings& settings)
{
    const auto update =
        std::ranges::find(list.stages, Phase::update, [](const auto& stage) { return stage.part.phase; });
    if (update == list.stages.end()) return;
    Descend descent;
    for_each_of<Descend>(list, [&](const ListPlace&, const Descend& one) { descent = one; });
    std::set<std::size_t> embedded;  // first bytes of gradients
    for_each_of<EmbedGradient>(list,
                               [&](const ListPlace&, const EmbedGradient& one) { embedded.insert(one.weights.begin); });
    for_each_of<Multiply>(list, [&](const ListPlace& place, const Multiply& product) {
        const Tensor& gradient = product.weights;
        const bool is_of_weights = product.pass == Pass::backward_weights && gradient.block == descent.gradients.block;
        if (!is_of_weights || embedded.contains(gradient.begin)) return;
        const std::string& layers = place.stage->part.layer;
        List::Stage stage{{.layer = layers.substr(0, layers.find('+')),
                           .kind = place.stage->part.kind,
                           .phase = Phase::update,
                           .work = {},
                           .implementation = {}}};
        const auto each = [&](model::Optimizer by) {
            return Flops{model::cost_of(by).flops * static_cast<double>(gradient.elements())};
        };
        engine::add_work(stage.part, {.flops = each(model::Optimizer::sgd)});
        stage.entries.push_back({DescendProduct{product.source, product.result, piece_at(descent.values, gradient),
                                                piece_at(descent.momenta, gradient), piece_at(descent.copies, gradient),
                                                descent.learning_rate},
                                 "roof:sgd", place.entry->work});
        list.stages.insert(update, std::move(stage));
        engine::add_work(update->part, {.flops = Flops{} - each(settings.optimizer)});
        place.entry->is_removed = true;
    });
    list.sweep();
}

}  // namespace roof::ir
