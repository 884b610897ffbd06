#include "workloads/cudnn/step.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"
#include "ert/gpu/check.hpp"
#include "ert/method/bench/measurement.hpp"
#include "workloads/cudnn/ranks.hpp"

#include <algorithm>
#include <cstring>

namespace roof::cudnn {
namespace {

/// The times of the parts are measured once in this many launches.
constexpr int launches_per_look = 4;

Input::Target target_of(const DeviceProgram& program, int classes)
{
    const Tensor& images = program.list().images;
    return {program.images(), program.labels(), program.list().labels.elements(), images.elements(), classes};
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
    : engine::Step(graph, settings),
      near_(options.is_rank ? processors_near(gpu::bus_id_of(options.device)) : std::vector<int>()),
      current_(options.device),
      options_(options),
      program_(graph, settings, stream_, options.device_model),
      input_(data::open_source(options.data, settings.batch, data::Form::of(graph), options.workers, engine::data_seed,
                               settings.share()),
             target_of(program_, graph.classes())),
      first_update_(first_of(program_.list(), Phase::update)),
      between_(program_.list().stages().size() + 1),
      part_seconds_(program_.list().stages().size()),
      state_(sizeof(StepState), gpu::HostBuffer::Pages::pinned),
      watched_device_(gpu::device_in(options.nvml.get(), options.device)),
      clocks_(gpu::highest_clock(options.device))
{
}

void Step::join(const parallel::Options& options)
{
    const gpu::CurrentDevice current(options_.device);
    const auto& hosts = world()->communicator;
    try {
        parallel::require_same(*hosts, program_.list().parameters.layouts(), parallel::differ_in_layout);
        ranks_ = std::make_shared<nccl::Ranks>(options_.nccl, hosts);
        exchange_ = std::make_unique<nccl::DeviceExchange>(
            ranks_,
            nccl::DeviceExchangeOptions{.packing = pack(program_.list().parameters, options.bucket_bytes),
                                        .mode = options.mode,
                                        .gradients = program_.gradients(),
                                        .parameters = program_.updated()},
            stream_.get());
        parallel::agree(*hosts, nullptr);
    } catch (const std::exception& error) {
        hosts->fail(error.what());
        abandon();
        throw;
    }
}

/// NCCL waits for the other ranks when it is destroyed, so they are released first.
Step::~Step()
{
    if (ranks_ == nullptr) return;
    step_graph_.reset();
    watched_graph_.reset();
    exchange_.reset();
    if (world()->followers != nullptr && !world()->followers->release()) ranks_->abandon();
}

void Step::abandon()
{
    step_graph_.reset();
    watched_graph_.reset();
    if (ranks_ != nullptr) ranks_->abandon();
}

double Step::train(Trace& trace)
{
    const gpu::CurrentDevice current(options_.device);
    const Seconds waited = carried_ + input_.arrive(end_);
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

    if (launches_ % launches_per_look == 0 && trace.recording() == Recording::none) run_watched(trace);
    for (std::size_t i = 0; i < part_seconds_.size(); ++i) trace.part_took(i, part_seconds_[i]);
    ++launches_;
    return static_cast<double>(state().loss);
}

/// As the last launch left it; a watched step, which follows a launch, does not copy its own.
StepState Step::state() const
{
    StepState state;
    std::memcpy(&state, state_.data(), sizeof(state));
    return state;
}

/// Returns whether this launch uses the graph; if needed, captures and uploads it. The first launch loads kernels,
/// which is not possible in a capture. The graph's own events exclude the upload and the host's launch time.
bool Step::prepare_graph(const Trace& trace)
{
    if (!options_.graph || launches_ == 0) return false;
    if (step_graph_) return true;
    step_graph_.emplace(stream_.get(), [&] {
        graph_begin_.record(stream_.get());
        enqueue(trace);
        graph_end_.record(stream_.get());
    });
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
void Step::run(std::optional<gpu::Graph>& graph, const std::function<void()>& work)
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
    if (exchange_ != nullptr) return exchange_->cost();
    stream_.synchronize();
    return {};
}

void Step::differentiate(Phase last, Trace& trace)
{
    const gpu::CurrentDevice current(options_.device);
    trace.waited_for_data(input_.arrive(end_));
    const std::size_t end = last == Phase::forward ? first_of(program_.list(), Phase::backward) : first_update_;
    begin_.record(stream_.get());
    run(graphs_to_[last], [&] { enqueue(trace, nullptr, end); });
    end_.record(stream_.get());
    stream_.synchronize();
    trace.took(end_.since(begin_));
    look(trace);
}

void Step::enqueue(const Trace& trace, const std::vector<gpu::Event>* between, std::size_t end)
{
    const auto record = [&](const gpu::Event& event) { event.record(stream_.get()); };
    const auto& stages = program_.list().stages();
    if (exchange_ != nullptr) exchange_->begin();
    for (std::size_t stage = 0; stage < std::min(end, stages.size()); ++stage) {
        if (between != nullptr) record((*between)[stage]);
        if (stage == first_update_ && exchange_ != nullptr) exchange_->finish();
        if (stage == first_update_ && between != nullptr) record(update_begin_);
        if (stage < first_update_ || exchange_ == nullptr || exchange_->updates()) {
            const Trace::Launching launching = trace.launching(stage);
            program_.enqueue(stage);
        }
        if (stage == 0) record(images_read_);
        if (exchange_ == nullptr) continue;
        for (const std::size_t parameter : stages[stage].ready) exchange_->ready(parameter);
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

std::string Step::checksums()
{
    const gpu::CurrentDevice current(options_.device);
    exchange_->complete_parameters();
    const Parameters& parameters = program_.list().parameters;
    return parameters.checksums(program_.numbers(parameters.values));
}

std::string Step::how() const
{
    const std::string ranks =
        exchange_ == nullptr ? "" : "; " + world()->describe(exchange_->buckets(), "NCCL " + options_.nccl->version());
    return (options_.graph ? "one CUDA graph" : "launch by launch") + ranks;
}

std::string Step::taking_turns() const
{
    return options_.shares_gpu ? "several ranks on one GPU: " + std::string(ranks_take_turns) : "";
}

std::vector<std::string> Step::own_remarks() const
{
    std::vector<std::string> all;
    if (input_.copies() > 0) {
        const Seconds each = input_.copying() / input_.copies();
        const double rate = static_cast<double>(input_.bytes_each()) / each.value;
        all.push_back("a batch was copied in " + format_duration(each.value) + ", at " + format_si(rate, "B/s") +
                      ", beside the step; the step waited " + format_duration((exposed_ / launches_).value) +
                      " for it on average");
    }
    if (launches_ > 0 && state().skipped > 0) {
        all.push_back(std::to_string(state().skipped) +
                      " updates were left out while the loss scale was found; it is " +
                      format_exact(static_cast<double>(state().loss_scale)));
    }
    return all;
}

engine::MakeStep step_maker(std::shared_ptr<const gpu::Nvml> nvml)
{
    return [nvml = std::move(nvml)](const engine::StepRequest& request) {
        StepOptions options{.device = gpu::id_of(request.device),
                            .device_model = request.device.model,
                            .data = request.point.text("data"),
                            .workers = request.workers,
                            .graph = request.point.text("graph") == "on",
                            .nvml = nvml};
        if (request.world != nullptr) {
            claim_own_machine(request.world->place);
            options.nccl = gpu::Nccl::open();
            options.is_rank = true;
            options.shares_gpu = request.device.others.empty() && request.world->place.ranks_here > 1;
            if (options.nccl == nullptr) throw Unsupported(lacking_nccl);
        }
        return std::make_unique<Step>(request.graph, request.settings, options);
    };
}

}  // namespace roof::cudnn
