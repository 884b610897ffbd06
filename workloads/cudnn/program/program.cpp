#include "workloads/cudnn/program/program.hpp"

#include "workloads/engine/step_facts.hpp"

namespace roof::cudnn {
namespace {

/// "bf16 32x64x56x56".
std::string describe(const Tensor& tensor)
{
    const auto word = [](int value) { return std::to_string(value); };
    return std::string(traits(tensor.precision).name) + " " + word(tensor.batch) + "x" + word(tensor.channels) + "x" +
           word(tensor.height) + "x" + word(tensor.width);
}

}  // namespace

Program::Program()
    : state_(resident_bytes(sizeof(StepState))), counters_(resident_bytes(counters_there * sizeof(unsigned)))
{
}

Tensor Program::tensor(Tensor shape)
{
    shape.block = plan_.add(shape.bytes());
    return shape;
}

Tensor Program::resident(Tensor shape)
{
    const Tensor kept = tensor(shape);
    plan_.keep(kept.block);
    return kept;
}

Tensor Program::resident_bytes(std::size_t bytes)
{
    return resident({.batch = 1, .channels = static_cast<int>(bytes), .precision = Precision::int8});
}

Tensor Program::scratch(std::size_t bytes)
{
    constexpr std::size_t page = 4096;
    if (bytes == 0) return {};
    const auto pages = static_cast<int>((bytes + page - 1) / page);
    return tensor({.batch = pages, .channels = static_cast<int>(page), .precision = Precision::int8});
}

void Program::begin(const std::string& layer, const std::string& kind, Phase phase)
{
    stages_.push_back({{.layer = layer, .kind = kind, .phase = phase, .work = {}, .implementation = {}}, {}, {}});
}

void Program::add_work(const Work& work)
{
    Work& sum = stages_.back().part.work;
    sum.executed += work.executed.value > 0 ? work.executed : work.flops;
    sum.flops += work.flops;
    sum.compulsory += work.compulsory;
    sum.no_reuse += work.no_reuse;
}

void Program::append(const Operation& operation, const std::vector<Tensor>& used, const std::string& implementation)
{
    roof::Operation said{implementation, {}, {}};
    for (const Tensor& tensor : used) {
        if (!tensor) continue;
        plan_.use(tensor.block, moment_);
        said.operands += (said.operands.empty() ? "" : ", ") + describe(tensor);
        said.bytes += Bytes{static_cast<double>(tensor.bytes())};
    }
    ++moment_;
    Stage& stage = stages_.back();
    stage.operations.push_back(operation);
    std::string& names = stage.part.implementation;
    if ((" + " + names + " + ").find(" + " + implementation + " + ") == std::string::npos)
        names += (names.empty() ? "" : " + ") + implementation;
    stage.part.operations.push_back(std::move(said));
}

std::vector<TimedPart> Program::parts() const
{
    return engine::parts_of(stages_);
}

}  // namespace roof::cudnn
