#include "workloads/onednn/program/program.hpp"

#include "ert/base/names.hpp"
#include "workloads/kernels/parallel.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace roof::onednn {
namespace {

/// Before the layout of a primitive's argument in the list of operations.
constexpr std::array<Named<int>, 10> argument_names{{{DNNL_ARG_SRC, "from "},
                                                     {DNNL_ARG_DST, "to "},
                                                     {DNNL_ARG_WEIGHTS, "weights "},
                                                     {DNNL_ARG_BIAS, "bias "},
                                                     {DNNL_ARG_DIFF_SRC, "to gradient "},
                                                     {DNNL_ARG_DIFF_DST, "from gradient "},
                                                     {DNNL_ARG_DIFF_WEIGHTS, "to weights' gradient "},
                                                     {DNNL_ARG_DIFF_BIAS, "to bias' gradient "},
                                                     {DNNL_ARG_SCRATCHPAD, "scratch "},
                                                     {DNNL_ARG_WORKSPACE, ""}}};

/// Adds the tensor to the operation's operands.
void describe(Operation& operation, std::string_view name, const Tensor& tensor)
{
    const Desc desc = tensor.desc();
    operation.operands += (operation.operands.empty() ? "" : ", ") + std::string(name) + layout_name(desc);
    operation.bytes += Bytes{static_cast<double>(desc.get_size())};
}

template <class From, class To>
[[gnu::always_inline]] inline void copy_in(const From* from, To* to, std::size_t begin, std::size_t end)
{
#pragma omp simd
    for (std::size_t i = begin; i < end; ++i) narrow(widen(from[i]), to[i]);
}

[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]] void round_to(const Elements& to,
                                                                                    const Elements& from,
                                                                                    std::size_t begin, std::size_t end)
{
    if (from.precision == Precision::fp32)
        to.precision == Precision::fp32 ? copy_in(from.as<float>(), to.as<float>(), begin, end)
                                        : copy_in(from.as<float>(), to.as<BFloat16>(), begin, end);
    else
        to.precision == Precision::fp32 ? copy_in(from.as<BFloat16>(), to.as<float>(), begin, end)
                                        : copy_in(from.as<BFloat16>(), to.as<BFloat16>(), begin, end);
}

}  // namespace

Tensor Program::tensor(const Desc& desc)
{
    tensors_.push_back({dnnl::memory(desc, engine_, DNNL_MEMORY_NONE), plan().add(desc.get_size())});
    return tensors_.back();
}

Tensor Program::resident(const Desc& desc)
{
    Tensor kept = tensor(desc);
    plan().keep(kept.block);
    return kept;
}

Tensor Program::part(const Tensor& of, const Dims& dims, const Dims& begin)
{
    tensors_.push_back({dnnl::memory(of.desc().submemory_desc(dims, begin), engine_, DNNL_MEMORY_NONE), of.block});
    return tensors_.back();
}

Tensor Program::view(const Tensor& of, const Desc& desc)
{
    tensors_.push_back({dnnl::memory(desc, engine_, DNNL_MEMORY_NONE), of.block});
    return tensors_.back();
}

void Program::append(std::function<void()> run, const std::vector<Tensor>& used, const std::string& implementation)
{
    Operation operation{implementation, {}, {}};
    for (const Tensor& tensor : used) {
        if (!tensor) continue;
        use(tensor);
        describe(operation, "", tensor);
    }
    add_operation(std::move(run), std::move(operation));
}

void Program::append(const Implementation& implementation, Arguments arguments)
{
    if (implementation.scratchpad.get_size() > 0)
        arguments.emplace_back(DNNL_ARG_SCRATCHPAD, tensor(implementation.scratchpad));
    std::unordered_map<int, dnnl::memory> memories;
    Operation operation{implementation.name, {}, {}};
    for (const auto& [argument, tensor] : arguments) {
        if (!tensor) continue;
        memories.emplace(argument, tensor.memory);
        use(tensor);
        describe(operation, name_in(argument_names, argument), tensor);
    }
    add_operation([this, primitive = implementation.make(),
                   memories = std::move(memories)] { primitive.execute(stream_, memories); },
                  std::move(operation));
}

Tensor Program::in_layout(const Tensor& from, const Desc& desc)
{
    if (from.desc() == desc) return from;
    Tensor to = tensor(desc);
    reorder(from, to);
    return to;
}

void Program::reorder(const Tensor& from, const Tensor& to)
{
    // oneDNN has no vector loops for bf16 without AVX-512.
    if (dims_of(from.desc()) == dims_of(to.desc()) && is_in_order(from.desc()) && is_in_order(to.desc()))
        return copy(from, to, "reorder roof");
    const dnnl::reorder::primitive_desc description(engine_, from.desc(), engine_, to.desc(), attributes());
    append({"reorder " + std::string(description.impl_info_str()), description.scratchpad_desc(),
            [&] { return dnnl::reorder(description); }},
           {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
}

void Program::copy(const Tensor& from, const Tensor& to, const std::string& implementation)
{
    append(
        [from, to] {
            for_ranges(from.stored(),
                       [&](auto begin, auto end) { round_to(to.elements(), from.elements(), begin, end); });
        },
        {from, to}, implementation);
}

std::size_t Program::lay_out()
{
    bytes_ = plan().lay_out();
    return in_huge_pages(bytes_);
}

void Program::place(const std::string& what_for)
{
    if (bytes_ == 0) lay_out();
    arena_ = Buffer(bytes_, what_for);
    for (const Tensor& tensor : tensors_) tensor.memory.set_data_handle(arena_.data() + plan().offset(tensor.block));
    tensors_.clear();
}

void Program::fill(std::byte value)
{
    for_ranges(bytes_, [&](std::size_t begin, std::size_t end) {
        std::fill(arena_.data() + begin, arena_.data() + end, value);
    });
}

void Program::run(Phase phase, Trace& trace, const std::function<void(std::size_t stage)>& done)
{
    for (std::size_t index = 0; index < stages().size(); ++index) {
        if (stages()[index].part.phase != phase) continue;
        run_stage(index, trace);
        if (done) done(index);
    }
}

void Program::run_stage(std::size_t index, Trace& trace)
{
    const Trace::Span span = trace.part(index);
    for (const std::function<void()>& operation : stages()[index].operations) operation();
}

void Program::use(const Tensor& tensor)
{
    if (tensor.block >= 0) engine::Program<std::function<void()>>::use(tensor.block);
}

}  // namespace roof::onednn
