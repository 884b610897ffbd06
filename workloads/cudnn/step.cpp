#include "workloads/cudnn/step.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"
#include "ert/gpu/check.hpp"
#include "workloads/engine/step_facts.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace roof::cudnn {
namespace {

/// The times of the parts are measured once in this many launches.
constexpr int launches_per_look = 4;

Input::Target target_of(const DeviceProgram& program, int classes)
{
    const Tensor& images = program.written().images();
    return {program.images(), program.labels(), static_cast<std::size_t>(images.batch), images.elements(), classes};
}

/// Returns the index of the phase's first stage.
std::size_t first_of(const Program& program, Phase phase)
{
    const auto is_of = [phase](const Program::Stage& stage) { return stage.part.phase == phase; };
    const auto found = std::ranges::find_if(program.stages(), is_of);
    return static_cast<std::size_t>(found - program.stages().begin());
}

}  // namespace

Step::Step(const model::Graph& graph, const Settings& settings, const StepOptions& options)
    : current_(options.device),
      graph_(graph),
      settings_(settings),
      options_(options),
      program_(graph, settings, stream_, options.choices, options.device_model),
      input_(data::open_source(options.data, settings.batch, graph.layer(0).output, graph.classes(), options.workers,
                               engine::data_seed, settings.share),
             target_of(program_, graph.classes())),
      work_(engine::step_work(graph, settings.batch, settings.precision, parts(), settings.share.ranks)),
      first_update_(first_of(program_.written().program(), Phase::update)),
      between_(program_.written().program().stages().size() + 1),
      part_seconds_(program_.written().program().stages().size()),
      state_(sizeof(StepState), gpu::HostBuffer::Pages::pinned),
      watched_device_(gpu::device_in(options.nvml.get(), options.device)),
      clocks_(gpu::highest_clock(options.device))
{
}

void Step::train_with(const parallel::World& world, std::shared_ptr<const gpu::Nccl> library,
                      const parallel::Options& options, bool shares_gpu)
{
    const gpu::CurrentDevice current(options_.device);
    ranks_.emplace(program_, world, std::move(library), options, shares_gpu, stream_.get());
    options_.gradients = ranks_->hooks();
}

std::vector<TimedPart> Step::parts() const
{
    std::vector<TimedPart> all = program_.written().program().parts();
    for (TimedPart& part : all) part.work = part.work * settings_.share.ranks;
    return all;
}

void Step::launch(Trace& trace)
{
    const gpu::CurrentDevice current(options_.device);
    if (!ranks_) return train(trace);
    try {
        ranks_->begin();
        train(trace);
    } catch (const std::exception& error) {
        step_graph_.reset();
        watched_graph_.reset();
        ranks_->fail(error.what());
        throw;
    }
}

void Step::train(Trace& trace)
{
    const Seconds waited = carried_ + (launches_ > 0 ? input_.arrive(end_) : Seconds{});
    carried_ = {};
    exposed_ += waited;
    trace.waited_for_data(waited);

    const bool is_graph = trace.recording() != Recording::counted && prepare_graph(trace);
    begin_.record(stream_.get());
    if (is_graph)
        step_graph_->launch(stream_.get());
    else
        enqueue(trace);
    end_.record(stream_.get());
    gpu::check(
        cudaMemcpyAsync(state_.data(), program_.state(), sizeof(StepState), cudaMemcpyDeviceToHost, stream_.get()));
    input_.fetch(images_read_);
    trace.communicated(wait());
    trace.took(is_graph ? graph_end_.since(graph_begin_) : end_.since(begin_));
    look(trace);

    StepState state;
    std::memcpy(&state, state_.data(), sizeof(state));
    last_loss_ = static_cast<double>(state.loss);
    if (ranks_) last_loss_ = ranks_->mean(last_loss_);
    if (!first_loss_) first_loss_ = last_loss_;
    trace.saw_loss(last_loss_);

    if (launches_ % launches_per_look == 0 && trace.recording() == Recording::none) run_watched(trace);
    for (std::size_t i = 0; i < part_seconds_.size(); ++i) trace.part_took(i, part_seconds_[i]);
    ++launches_;
}

/// Returns whether this launch uses the graph; if needed, captures and uploads it outside the timed step. The first
/// launch loads kernels, which is not possible in a capture. The graph's own events exclude the host's launch time.
bool Step::prepare_graph(const Trace& trace)
{
    if (!options_.graph || launches_ == 0) return false;
    if (step_graph_) return true;
    step_graph_.emplace(stream_.get(), [&] {
        graph_begin_.record(stream_.get());
        enqueue(trace);
        graph_end_.record(stream_.get());
    });
    stream_.synchronize();
    return true;
}

/// Runs one more step and times each part. It reads the same batch as the next launch.
void Step::run_watched(const Trace& trace)
{
    carried_ = input_.arrive(end_);
    run(watched_graph_, [&] { enqueue(trace, &between_); });
    wait();
    read_parts();
}

/// As a graph, unless the options have none.
void Step::run(std::optional<StepGraph>& graph, const std::function<void()>& work)
{
    if (options_.graph && !graph) graph.emplace(stream_.get(), work);
    if (graph)
        graph->launch(stream_.get());
    else
        work();
}

/// Waits for the stream.
Communication Step::wait() const
{
    if (ranks_) return ranks_->wait();
    stream_.synchronize();
    return {};
}

bool Step::launch_to(Phase last, Trace& trace)
{
    if (ranks_) return false;
    const gpu::CurrentDevice current(options_.device);
    trace.waited_for_data(input_.arrive(end_));
    const std::size_t end =
        last == Phase::forward ? first_of(program_.written().program(), Phase::backward) : first_update_;
    begin_.record(stream_.get());
    run(graphs_to_[last], [&] { enqueue(trace, nullptr, end); });
    end_.record(stream_.get());
    stream_.synchronize();
    trace.took(end_.since(begin_));
    look(trace);
    return true;
}

void Step::enqueue(const Trace& trace, const std::vector<gpu::Event>* between, std::size_t end)
{
    const auto record = [&](const gpu::Event& event) { event.record(stream_.get()); };
    const GradientHooks& hooks = options_.gradients;
    const auto& stages = program_.written().program().stages();
    if (hooks.before_step) hooks.before_step(stream_.get());
    for (std::size_t stage = 0; stage < std::min(end, stages.size()); ++stage) {
        if (between != nullptr) record((*between)[stage]);
        if (stage == first_update_ && hooks.before_update) hooks.before_update(stream_.get());
        if (stage == first_update_ && between != nullptr) record(update_begin_);
        if (stage < first_update_ || hooks.updates) {
            const Trace::Launching launching = trace.launching(stage);
            program_.enqueue(stage);
        }
        if (stage == 0) record(images_read_);
        if (!hooks.ready) continue;
        for (const std::size_t parameter : stages[stage].ready) hooks.ready(parameter, stream_.get());
    }
    if (between != nullptr) record(between->back());
}

void Step::read_parts()
{
    for (std::size_t i = 0; i < part_seconds_.size(); ++i)
        part_seconds_[i] = between_[i + 1].since(i == first_update_ ? update_begin_ : between_[i]);
}

/// Call it right after the launch, while the driver's averages still cover the launch.
void Step::look(Trace& trace)
{
    if (watched_device_ == nullptr) return;
    const gpu::GpuState state = options_.nvml->look(watched_device_);
    clocks_.look(trace, state, state.clock);
}

void Step::check()
{
    engine::check_losses(settings_.parameters, graph_.classes(), first_loss_, last_loss_);
    const gpu::CurrentDevice current(options_.device);
    if (ranks_) ranks_->compare(program_);
}

std::string Step::variant() const
{
    return engine::describe_passes(program_.written().algorithms()) +
           (options_.graph ? "; one CUDA graph" : "; launch by launch") + (ranks_ ? "; " + ranks_->describe() : "");
}

std::vector<std::string> Step::remarks() const
{
    std::vector<std::string> all = engine::remarks_on(input_.facts());
    if (ranks_) std::ranges::move(ranks_->remarks(), std::back_inserter(all));
    if (input_.copies() > 0) {
        const Seconds each = input_.copying() / input_.copies();
        const double rate = static_cast<double>(input_.bytes_each()) / each.value;
        all.push_back("a batch was copied in " + format_duration(each.value) + ", at " + format_si(rate, "B/s") +
                      ", beside the step; the step waited " + format_duration((exposed_ / launches_).value) +
                      " for it on average");
    }
    std::ranges::move(clocks_.remarks(), std::back_inserter(all));
    StepState state;
    std::memcpy(&state, state_.data(), sizeof(state));
    if (launches_ > 0 && state.skipped > 0) {
        all.push_back(std::to_string(state.skipped) + " updates were left out while the loss scale was found; it is " +
                      format_exact(static_cast<double>(state.loss_scale)));
    }
    return all;
}

}  // namespace roof::cudnn
