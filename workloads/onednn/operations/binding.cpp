#include "workloads/onednn/operations/binding.hpp"

#include <algorithm>
#include <stdexcept>
#include <type_traits>
#include <variant>

namespace roof::onednn {

Binding::Binding(const ir::StepProgram& step, const Convolutions& chosen, const Settings& of, Program& into,
                 StepState& shared)
    : list(step),
      convolutions(chosen),
      settings(of),
      program(into),
      state(shared),
      trained(step.parameters.all().size())
{
    find_cuts(list, cut);
    set(list.images, program.outside(plain(list.images)));
}

void Binding::append()
{
    for (const ir::Program::Stage& stage : list.stages()) {
        const TimedPart& part = stage.part;
        program.begin(part.layer, part.kind, part.phase);
        program.add_work(part.work);
        for (const std::size_t parameter : stage.ready) program.completes(parameter);
        const auto append_one = [&](const auto& operation) {
            if constexpr (requires { bind(*this, operation); })
                bind(*this, operation);
            else if constexpr (!std::is_same_v<decltype(operation), const ir::Advance&>)
                throw std::logic_error("the CPU has no such operation");
        };
        converting_errors(part.layer, [&] {
            for (const ir::Operation& operation : stage.operations) std::visit(append_one, operation);
        });
    }
}

Tensor Binding::read(const ir::Tensor& tensor)
{
    const Tensor& place = places_.at(list.place_of(tensor.block));
    return tensor.like < 0 || tensor.like == tensor.block ? place : read(tensor, layout_of(tensor.like));
}

Tensor Binding::read(const ir::Tensor& tensor, const Desc& layout)
{
    const Tensor& place = places_.at(list.place_of(tensor.block));
    if (place.desc() == layout) return place;
    std::vector<Tensor>& copies = copies_[list.place_of(tensor.block)];
    for (const Tensor& copy : copies)
        if (copy.desc() == layout) return copy;
    return copies.emplace_back(program.in_layout(place, layout));
}

Tensor Binding::write(const ir::Tensor& tensor, const Desc& layout)
{
    Tensor& place = places_[list.place_of(tensor.block)];
    if (!place || place.desc() != layout) {
        const std::vector<Tensor>& copies = copies_[list.place_of(tensor.block)];
        const auto copy = std::ranges::find(copies, layout, &Tensor::desc);
        place = copy == copies.end() ? program.tensor(layout) : *copy;
    }
    copies_.erase(list.place_of(tensor.block));
    return place;
}

Trained& Binding::trained_of(const ir::Tensor& piece)
{
    const std::size_t first = piece.begin / static_cast<std::size_t>(traits(piece.precision).storage_bytes);
    const auto& all = list.parameters.all();
    const auto found = std::ranges::find(all, first, &ir::Trained::first);
    return trained.at(static_cast<std::size_t>(found - all.begin()));
}

Trained& Binding::train(const ir::Tensor& piece, const Desc& layout, const Dims& dims, bool stores_gradient)
{
    Trained& made = trained_of(piece);
    made = {program.resident(layout), {}, {}, dims};
    if (!settings.trains) return made;
    made.momentum = program.resident(layout);
    if (settings.optimizer == model::Optimizer::adamw) made.square = program.resident(layout);
    if (stores_gradient) made.gradient = settings.ranks == nullptr ? program.resident(layout) : program.outside(layout);
    return made;
}

}  // namespace roof::onednn
