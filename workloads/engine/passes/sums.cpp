// Passes of residual sums with their batch norms and their ReLU.
#include "workloads/engine/passes/passes.hpp"

#include <list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace roof::ir {
namespace {

/// A batch norm that a sum normalises.
struct NormOfSum {
    Tensor source{}, weight{};
    ChannelNumbers channels{};
    List::Stage* stage = nullptr;  ///< of its statistics
    ListPlace reduction{};         ///< of its gradient; none if the list has no backward pass
    bool is_by_moments = false;
};

/// A sum that normalises one or two batch norms, the first of them in its place of the source.
struct NormingSum {
    List::Stage* stage = nullptr;
    Normalise* sum = nullptr;
    List::Stage* backward = nullptr;
    NormOfSum first{};
    std::optional<NormOfSum> second{};
};

class NormingSums {
  public:
    explicit NormingSums(List& list) : uses(list)
    {
        for_each_of<ReduceGradient>(list, [&](const ListPlace& place, const ReduceGradient& reduction) {
            if (place.stage->part.phase == Phase::backward) reductions_[reduction.sum.begin] = place;
        });
        for (List::Stage& stage : list.stages)
            if (stage.part.phase == Phase::backward) backward_[stage.part.layer] = &stage;
        for_each_of<Normalise>(list, [&](const ListPlace& place, Normalise& sum) {
            if (!sum.other || !sum.scale) return;
            NormingSum one{.stage = place.stage, .sum = &sum, .first = norm_of(sum.source, sum.scale)};
            if (sum.other_scale) one.second = norm_of(sum.other, sum.other_scale);
            const auto backward = backward_.find(place.stage->part.layer);
            if (backward != backward_.end()) one.backward = backward->second;
            all.push_back(one);
        });
    }

    const Uses uses;
    std::vector<NormingSum> all;

  private:
    NormOfSum norm_of(const Tensor& source, const Tensor& scale) const
    {
        NormOfSum norm{.source = source};
        const auto take = [&](const auto* const statistics, const ListPlace& place) {
            if (statistics == nullptr || statistics->channels.scale.block != scale.block) return;
            norm.weight = statistics->weight;
            norm.channels = statistics->channels;
            norm.stage = place.stage;
            const auto reduction = reductions_.find(statistics->bias.begin);
            if (reduction != reductions_.end()) norm.reduction = reduction->second;
        };
        for (const ListPlace& user : uses.users(scale)) {
            take(user.as<Statistics>(), user);
            take(user.as<MomentStatistics>(), user);
            norm.is_by_moments = norm.is_by_moments || user.as<MomentStatistics>() != nullptr;
        }
        return norm;
    }

    std::map<std::size_t, ListPlace> reductions_;  ///< by the first byte of a bias gradient, which is that of the bias
    std::map<std::string, List::Stage*> backward_;
};

bool is_by_moments(const Uses& uses, const Tensor& scale)
{
    return uses.first<MomentStatistics>(scale) != nullptr;
}

}  // namespace

void normalise_in_sums(List& list, bool only_whole)
{
    const Uses uses(list);
    for_each_of<Normalise>(list, [&](const ListPlace& place, const Normalise& norm) {
        auto* const sum = uses.only_reader(norm.result).as<Normalise>();
        if (!norm.scale || norm.relu || norm.other || sum == nullptr || !sum->other) return;
        if (only_whole && (!sum->relu || sum->source.block == sum->other.block)) return;
        const int result = norm.result.block;
        if (sum->other.block == result) {
            sum->other = norm.source;
            sum->other_scale = norm.scale;
            sum->other_shift = norm.shift;
        }
        if (sum->source.block == result) {
            sum->source = norm.source;
            sum->scale = norm.scale;
            sum->shift = norm.shift;
        }
        place.entry->is_removed = true;
        list.program().write_over(norm.result, sum->result);  // never written: its gradient has the layout of the sum
    });
    // The first, whose sums are found with the mask, is a batch norm; one that is read for its sums where there is one.
    for_each_of<Normalise>(list, [&](const ListPlace&, Normalise& sum) {
        const bool is_better =
            sum.other_scale &&
            (!sum.scale || (is_by_moments(uses, sum.scale) && !is_by_moments(uses, sum.other_scale)));
        if (!is_better) return;
        std::swap(sum.source, sum.other);
        std::swap(sum.scale, sum.other_scale);
        std::swap(sum.shift, sum.other_shift);
    });
    list.sweep();
}

void reduce_with_mask(List& list)
{
    const NormingSums sums(list);
    for (const NormingSum& one : sums.all) {
        auto* const reduction = one.first.reduction.as<ReduceGradient>();
        if (reduction == nullptr || one.backward == nullptr) continue;
        std::list<Entry>& entries = one.backward->entries;
        if (entries.empty()) {  // the gradient of the sum is that of its reader
            entries.push_back(*one.first.reduction.entry);
        } else {
            const auto* const mask = std::get_if<MaskGradient>(&entries.back().operation);
            if (mask == nullptr || mask->result.block != reduction->share.block) continue;
            ReduceGradient both = *reduction;
            both.share = mask->share;
            both.other_share = mask->other_share;
            both.output = mask->output;
            both.result = mask->result;
            entries.back().operation = both;
            entries.back().implementation = one.first.reduction.entry->implementation;
        }
        one.first.reduction.entry->is_removed = true;
    }
    list.sweep();
}

void keep_signs(List& list)
{
    const NormingSums sums(list);
    for (const NormingSum& one : sums.all) {
        auto* const reduction = one.first.reduction.as<ReduceGradient>();
        const Tensor& result = one.sum->result;
        if (reduction == nullptr || result.channels % signs_per_byte != 0) continue;
        if (!reduction->output || reduction->output.block != result.block) continue;
        Tensor signs = result;
        signs.channels /= signs_per_byte;
        signs.precision = Precision::int8;
        one.sum->signs = reduction->signs = list.tensor(signs);
        reduction->output = {};
    }
}

void reduce_pairs(List& list, bool only_signed)
{
    const NormingSums sums(list);
    for (const NormingSum& one : sums.all) {
        auto* const first = one.first.reduction.as<ReduceGradient>();
        auto* const second = one.second ? one.second->reduction.as<ReduceGradient>() : nullptr;
        if (first == nullptr || second == nullptr || (only_signed && !first->signs)) continue;
        const Tensor& gradient = first->result ? first->result : first->share;
        if (one.first.reduction.stage != one.backward || second->share.block != gradient.block) continue;
        first->other_norm.sum = second->sum;
        if (!one.second->is_by_moments)
            first->other_norm = {.source = one.second->source,
                                 .weight = one.second->weight,
                                 .channels = one.second->channels,
                                 .sum = second->sum,
                                 .sum_of_products = second->sum_of_products};
        first->partial = list.tensor(partial_sums_of(gradient, 3));
        one.first.reduction.entry->implementation = "roof:norm_sums of two";
        one.second->reduction.entry->is_removed = true;
    }
    list.sweep();
}

void spread_pairs(List& list)
{
    std::map<int, int> partners;  // by the mean of one batch norm that of the other
    for_each_of<ReduceGradient>(list, [&](const ListPlace&, const ReduceGradient& reduction) {
        if (!reduction.source || !reduction.other_norm.source) return;
        const int first = reduction.channels.mean.block;
        const int second = reduction.other_norm.channels.mean.block;
        partners[first] = second;
        partners[second] = first;
    });
    std::map<int, ListPlace> found;
    for_each_of<NormGradient>(list, [&](const ListPlace& place, const NormGradient& own) {
        const auto partner = partners.find(own.channels.mean.block);
        if (partner == partners.end()) return;
        const auto before = found.find(partner->second);
        if (before == found.end()) {
            found[partner->first] = place;
            return;
        }
        const ListPlace& both = before->second;
        auto& spreading = *both.as<NormGradient>();
        if (spreading.gradient.block != own.gradient.block) return;
        spreading.other_norm = {own.source, own.weight, own.channels, own.sum, own.sum_of_products, own.result};
        both.entry->implementation = "roof:norm_gradient of two";
        both.stage->part.layer += "+" + place.stage->part.layer;
        place.entry->is_removed = true;
        join(*place.stage, *both.stage);
    });
    list.sweep();
}

void join_sums(List& list)
{
    const NormingSums sums(list);
    for (const NormingSum& one : sums.all) {
        std::string layers = one.stage->part.layer;
        const auto join_norm = [&](const NormOfSum& norm) {
            layers.insert(0, norm.stage->part.layer + "+");
            one.stage->part.kind = norm.stage->part.kind;
            join(*norm.stage, *one.stage, true);
            for (const ListPlace& reader : sums.uses.readers(norm.channels.mean)) {
                if (reader.as<NormGradient>() == nullptr || one.backward == nullptr) continue;
                one.backward->part.kind = norm.stage->part.kind;
                join(*reader.stage, *one.backward);
            }
        };
        if (one.second) join_norm(*one.second);
        join_norm(one.first);
        one.stage->part.layer = layers;
        if (one.backward != nullptr) one.backward->part.layer = layers;
    }
}

}  // namespace roof::ir
