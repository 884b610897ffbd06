#include "workloads/onednn/program/program.hpp"

#include "ert/base/error.hpp"
#include "ert/method/bench/process_limits.hpp"
#include "workloads/kernels/parallel.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <unordered_map>

namespace roof::onednn {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

std::string argument_name(int argument)
{
    switch (argument) {
        case DNNL_ARG_SRC:
            return "from ";
        case DNNL_ARG_DST:
            return "to ";
        case DNNL_ARG_WEIGHTS:
            return "weights ";
        case DNNL_ARG_BIAS:
            return "bias ";
        case DNNL_ARG_DIFF_SRC:
            return "to gradient ";
        case DNNL_ARG_DIFF_DST:
            return "from gradient ";
        case DNNL_ARG_DIFF_WEIGHTS:
            return "to weights' gradient ";
        case DNNL_ARG_DIFF_BIAS:
            return "to bias' gradient ";
        case DNNL_ARG_SCRATCHPAD:
            return "scratch ";
        default:
            return "";
    }
}

/// Adds the tensor to the operation's operands.
void describe(Operation& operation, const std::string& name, const Tensor& tensor)
{
    const Desc desc = tensor.desc();
    operation.operands += (operation.operands.empty() ? "" : ", ") + name + layout_name(desc);
    operation.bytes += Bytes{static_cast<double>(desc.get_size())};
}

}  // namespace

Arena::Arena(std::size_t bytes, const std::string& what_for) : size_(bytes)
{
    const Bytes wanted{static_cast<double>(bytes)};
    const Bytes available = available_memory();
    if (wanted > available) throw OutOfMemory(wanted, available, what_for);

    const std::size_t mapped = bytes + huge_page;
    void* mapping = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) throw OutOfMemory(wanted, available, what_for);
    mapping_ = std::unique_ptr<void, Unmap>(mapping, Unmap{mapped});

    void* aligned = mapping;
    std::size_t space = mapped;
    begin_ = static_cast<std::byte*>(std::align(huge_page, bytes, aligned, space));
    madvise(begin_, bytes, MADV_HUGEPAGE);  // a hint; kernels without huge pages refuse it, which is harmless
}

void Arena::Unmap::operator()(void* mapping) const
{
    munmap(mapping, bytes);
}

Tensor Program::tensor(const Desc& desc)
{
    tensors_.push_back({dnnl::memory(desc, engine_, DNNL_MEMORY_NONE), plan().add(desc.get_size())});
    return tensors_.back();
}

Tensor Program::resident(const Desc& desc)
{
    const Tensor kept = tensor(desc);
    plan().keep(kept.block);
    return kept;
}

Tensor Program::part(const Tensor& of, const Dims& dims, const Dims& begin)
{
    tensors_.push_back({dnnl::memory(of.desc().submemory_desc(dims, begin), engine_, DNNL_MEMORY_NONE), of.block});
    return tensors_.back();
}

Tensor Program::outside(const Desc& desc) const
{
    return {dnnl::memory(desc, engine_, DNNL_MEMORY_NONE)};
}

void Program::append(std::function<void()> run, const std::vector<Tensor>& used, const std::string& implementation)
{
    Operation operation{implementation, {}, {}};
    for (const Tensor& tensor : used) {
        use(tensor);
        describe(operation, "", tensor);
    }
    add_operation(std::move(run), std::move(operation));
}

void Program::append(dnnl::primitive primitive, const std::string& implementation, const Desc& scratchpad,
                     Arguments arguments)
{
    if (scratchpad.get_size() > 0) arguments.emplace_back(DNNL_ARG_SCRATCHPAD, tensor(scratchpad));
    std::unordered_map<int, dnnl::memory> memories;
    Operation operation{implementation, {}, {}};
    for (const auto& [argument, tensor] : arguments) {
        memories.emplace(argument, tensor.memory);
        use(tensor);
        describe(operation, argument_name(argument), tensor);
    }
    add_operation([this, primitive = std::move(primitive),
                   memories = std::move(memories)] { primitive.execute(stream_, memories); },
                  std::move(operation));
}

Tensor Program::in_layout(const Tensor& from, const Desc& desc)
{
    if (from.desc() == desc) return from;
    const Tensor to = tensor(desc);
    reorder(from, to);
    return to;
}

void Program::reorder(const Tensor& from, const Tensor& to)
{
    const dnnl::reorder::primitive_desc description(engine_, from.desc(), engine_, to.desc(), attributes());
    append(dnnl::reorder(description), "reorder " + std::string(description.impl_info_str()),
           description.scratchpad_desc(), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
}

void Program::place(const std::string& what_for)
{
    arena_ = Arena(plan().lay_out(), what_for);
    for (const Tensor& tensor : tensors_) tensor.memory.set_data_handle(arena_.at(plan().offset(tensor.block)));
    tensors_.clear();
}

void Program::fill(std::byte value)
{
    for_ranges(arena_.size(),
               [&](std::size_t begin, std::size_t end) { std::fill(arena_.at(begin), arena_.at(end), value); });
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
