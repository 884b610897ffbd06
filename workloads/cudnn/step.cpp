#include "workloads/cudnn/step.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"
#include "ert/gpu/check.hpp"
#include "workloads/engine/step_facts.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace roof::cudnn {
namespace {

/// The parts' times are looked at anew so often.
constexpr int launches_per_look = 4;

Input::Target target_of(const DeviceProgram& program, int classes)
{
    const Tensor& images = program.written().images();
    return {program.images(), program.labels(), static_cast<std::size_t>(images.batch), images.elements(), classes};
}

/// The number of the phase's first stage.
std::size_t first_of(const Program& program, Phase phase)
{
    const auto is_of = [phase](const Program::Stage& stage) { return stage.part.phase == phase; };
    const auto found = std::ranges::find_if(program.stages(), is_of);
    return static_cast<std::size_t>(found - program.stages().begin());
}

nvmlDevice_st* find(const gpu::Nvml* nvml, gpu::DeviceId id)
{
    if (nvml == nullptr) return nullptr;
    std::array<char, 32> bus_id{};
    gpu::check(cudaDeviceGetPCIBusId(bus_id.data(), static_cast<int>(bus_id.size()), id.value));
    return nvml->device(bus_id.data());
}

}  // namespace

Step::Step(const model::Graph& graph, const Settings& settings, const StepOptions& options)
    : current_(options.device),
      graph_(graph),
      settings_(settings),
      options_(options),
      program_(graph, settings, stream_, options.choices, options.device_model),
      input_(data::open_source(options.data, settings.batch, graph.layer(0).output, graph.classes(), options.workers,
                               engine::data_seed),
             target_of(program_, graph.classes())),
      work_(engine::step_work(graph, settings.batch, settings.precision, program_.written().program().parts())),
      first_update_(first_of(program_.written().program(), Phase::update)),
      between_(program_.written().program().stages().size() + 1),
      part_seconds_(program_.written().program().stages().size()),
      state_(sizeof(StepState), gpu::HostBuffer::Pages::pinned),
      watched_device_(find(options.nvml.get(), options.device))
{
}

void Step::launch(Trace& trace)
{
    const gpu::CurrentDevice current(options_.device);
    const Seconds waited = carried_ + (launches_ > 0 ? input_.arrive(end_) : Seconds{});
    carried_ = {};
    exposed_ += waited;
    trace.waited_for_data(waited);

    begin_.record(stream_.get());
    run_step(trace);
    end_.record(stream_.get());
    gpu::check(
        cudaMemcpyAsync(state_.data(), program_.state(), sizeof(StepState), cudaMemcpyDeviceToHost, stream_.get()));
    input_.fetch(images_read_);
    stream_.synchronize();
    trace.took(end_.since(begin_));
    look(trace);

    StepState state;
    std::memcpy(&state, state_.data(), sizeof(state));
    last_loss_ = static_cast<double>(state.loss);
    if (!first_loss_) first_loss_ = last_loss_;
    trace.saw_loss(last_loss_);

    if (launches_ % launches_per_look == 0) run_watched(trace);
    for (std::size_t i = 0; i < part_seconds_.size(); ++i) trace.part_took(i, part_seconds_[i]);
    ++launches_;
}

/// The first launch loads kernels, which a capture could not, and is none.
void Step::run_step(const Trace& trace)
{
    if (!options_.graph || launches_ == 0) return enqueue(trace, nullptr, false);
    if (!step_graph_) step_graph_.emplace(stream_.get(), [&] { enqueue(trace, nullptr, true); });
    step_graph_->launch(stream_.get());
}

/// A step more, timed part by part. It reads the batch that the next launch will read again.
void Step::run_watched(const Trace& trace)
{
    carried_ = input_.arrive(end_);
    if (!options_.graph) {
        enqueue(trace, &between_, false);
    } else {
        if (!watched_graph_) watched_graph_.emplace(stream_.get(), [&] { enqueue(trace, &between_, true); });
        watched_graph_->launch(stream_.get());
    }
    stream_.synchronize();
    read_parts();
}

void Step::enqueue(const Trace& trace, const std::vector<Event>* between, bool is_captured)
{
    const auto record = [&](const Event& event) {
        is_captured ? event.record_in_graph(stream_.get()) : event.record(stream_.get());
    };
    for (std::size_t stage = 0; stage < part_seconds_.size(); ++stage) {
        const Trace::Launching launching = trace.launching(stage);
        if (between != nullptr) record((*between)[stage]);
        if (stage == first_update_ && options_.gradients.before_update) options_.gradients.before_update(stream_.get());
        program_.enqueue(stage, options_.gradients.ready);
        if (stage == 0) record(images_read_);
    }
    if (between != nullptr) record(between->back());
}

void Step::read_parts()
{
    for (std::size_t i = 0; i < part_seconds_.size(); ++i) part_seconds_[i] = between_[i + 1].since(between_[i]);
}

/// Right after the launch, while the driver's averages still are the launch's.
void Step::look(Trace& trace)
{
    if (watched_device_ == nullptr) return;
    const gpu::GpuState state = options_.nvml->look(watched_device_);
    trace.ran_at(state.clock);
    trace.ran_under(state.conditions);
    if (const std::string_view why = gpu::disturbance_in(state.slowdowns); !why.empty()) trace.disturbed(why);
    if (gpu::is_power_capped(state.slowdowns)) ++capped_;
}

void Step::check()
{
    engine::check_losses(settings_.parameters, graph_.classes(), first_loss_, last_loss_);
}

std::string Step::variant() const
{
    std::vector<std::string> counts;
    for (const auto& [algorithm, passes] : program_.written().algorithms())
        counts.push_back(std::to_string(passes) + " " + algorithm);
    return "convolution passes: " + join(counts, ", ") + (options_.graph ? "; one CUDA graph" : "; launch by launch");
}

std::vector<std::string> Step::remarks() const
{
    std::vector<std::string> all = engine::remarks_on(input_.facts());
    if (input_.copies() > 0) {
        const Seconds each = input_.copying() / input_.copies();
        const double rate = static_cast<double>(input_.bytes_each()) / each.value;
        all.push_back("a batch was copied in " + format_duration(each.value) + ", at " + format_si(rate, "B/s") +
                      ", beside the step; the step waited " + format_duration((exposed_ / launches_).value) +
                      " for it on average");
    }
    if (capped_ > 0) {
        all.push_back("the power cap held the clock down in " + std::to_string(capped_) + " of " +
                      std::to_string(launches_) + " launches");
    }
    StepState state;
    std::memcpy(&state, state_.data(), sizeof(state));
    if (launches_ > 0 && state.skipped > 0) {
        all.push_back(std::to_string(state.skipped) + " updates were left out while the loss scale was found; it is " +
                      format_exact(static_cast<double>(state.loss_scale)));
    }
    return all;
}

}  // namespace roof::cudnn
