#include "workloads/engine/passes/passes.hpp"

#include "workloads/engine/ir/program.hpp"

#include <algorithm>
#include <iterator>

namespace roof::ir {
namespace {

/// Whether the operation reads the batch norm with this scale, of which it reads the source.
bool reads_norm(const ListPlace& reader, const Tensor& scale)
{
    const auto is_scale = [&scale](const Tensor& one) { return one && one.block == scale.block; };
    if (const auto* const norm = reader.as<Normalise>()) return is_scale(norm->scale) || is_scale(norm->other_scale);
    if (const auto* const pass = reader.as<Convolve>()) return is_scale(pass->scale);
    if (const auto* const pool = reader.as<MaxPool>()) return is_scale(pool->scale);
    return false;
}

}  // namespace

Uses::Uses(List& list)
{
    for (List::Stage& stage : list.stages) {
        for (Entry& entry : stage.entries) {
            for (const Operand& operand : operands_of(entry.operation, list.program().state(), 0)) {
                const ListPlace place{&stage, &entry};
                const auto add = [&](std::vector<ListPlace>& to) {
                    if (to.empty() || to.back().entry != &entry) to.push_back(place);
                };
                add(users_[operand.tensor.block]);
                if (operand.use == Use::read) add(readers_[operand.tensor.block]);
            }
        }
    }
}

std::vector<ListPlace> Uses::readers(const Tensor& tensor, Phase phase) const
{
    std::vector<ListPlace> some;
    std::ranges::copy_if(readers(tensor), std::back_inserter(some),
                         [&](const ListPlace& place) { return place.stage->part.phase == phase; });
    return some;
}

ListPlace Uses::only_reader(const Tensor& tensor) const
{
    const std::vector<ListPlace> forward = readers(tensor, Phase::forward);
    return forward.size() == 1 ? forward.front() : ListPlace{};
}

const std::vector<ListPlace>& Uses::of(const Places& places, const Tensor& tensor)
{
    static const std::vector<ListPlace> none;
    const auto found = places.find(tensor.block);
    return found == places.end() ? none : found->second;
}

ListPlace norm_behind(const Uses& uses, const ListPlace& convolution)
{
    const auto& pass = *convolution.as<Convolve>();
    const bool is_narrow = pass.result.precision != Precision::fp32;
    if (!is_narrow || pass.shape.bias || pass.shape.relu || convolution.stage->part.kind != "convolution") return {};
    const std::vector<ListPlace> readers = uses.readers(pass.result, Phase::forward);
    if (readers.empty()) return {};
    const auto* const statistics = readers.front().as<Statistics>();
    const auto is_of_norm = [&](const ListPlace& reader) {
        return reader.entry == readers.front().entry || reads_norm(reader, statistics->channels.scale);
    };
    return statistics != nullptr && std::ranges::all_of(readers, is_of_norm) ? readers.front() : ListPlace{};
}

void mask_by_source(const Uses& uses, const Tensor& result)
{
    const auto mask = [&result](auto* const gradient) {
        if (gradient == nullptr || gradient->output.block != result.block) return;
        gradient->output = {};
        gradient->relu = true;
    };
    for (const ListPlace& reader : uses.readers(result, Phase::backward)) {
        mask(reader.as<ReduceGradient>());
        mask(reader.as<NormGradient>());
    }
}

void join(List::Stage& from, List::Stage& to, bool at_begin)
{
    engine::add_work(to.part, from.part.work);
    to.entries.splice(at_begin ? to.entries.begin() : to.entries.end(), from.entries);
    to.ready.insert(to.ready.end(), from.ready.begin(), from.ready.end());
    from.ready.clear();
    from.part.work = {};
}

}  // namespace roof::ir
