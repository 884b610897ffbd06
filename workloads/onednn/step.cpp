#include "workloads/onednn/step.hpp"

#include "ert/base/checksum.hpp"
#include "ert/base/process.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/measurement.hpp"
#include "ert/method/bench/process_limits.hpp"
#include "workloads/engine/initial.hpp"
#include "workloads/engine/step.hpp"
#include "workloads/kernels/attention/isa.hpp"
#include "workloads/kernels/isa/isa.hpp"
#include "workloads/kernels/linear/products.hpp"
#include "workloads/kernels/parallel.hpp"
#include "workloads/kernels/refetch.hpp"
#include "workloads/model/hashed.hpp"
#include "workloads/onednn/operations/binding.hpp"

#include <omp.h>

#include <algorithm>
#include <numeric>
#include <thread>

namespace roof::onednn {

namespace {

Settings with_images(Settings settings, const std::string& data, const model::Graph& graph)
{
    settings.images = data::bytes_of_source(data, settings.batch, data::Form::of(graph), settings.share());
    return settings;
}

}  // namespace

Step::Step(const model::Graph& graph, const Settings& settings, const std::string& data, int workers,
           const parallel::Place& place)
    : engine::Step(graph, settings),
      threads_(settings.ranks == nullptr ? PinnedThreads(settings.threads) : PinnedThreads(place, settings.threads)),
      network_(graph, with_images(settings, data, graph)),
      source_(threads_.starting_free_threads([&] {
          return data::open_source(data, settings.batch, data::Form::of(graph), workers, engine::data_seed,
                                   settings.share());
      }))
{
}

void Step::join(const parallel::Options& options)
{
    parallel::require_same(*world()->communicator, network_.exchanged_layouts(), parallel::differ_in_layout);
    exchange_.emplace(world()->communicator, parallel::pack(network_.gradient_sizes(), options.bucket_bytes),
                      options.mode, clock_);
    network_.place_gradients([this](std::size_t parameter) { return exchange_->gradient(parameter); });
}

double Step::train(Trace& trace)
{
    if (exchange_) exchange_->begin(network_.trained_bytes());
    const data::Batch batch = trace.waiting_for_data([this] { return source_.next(); });
    const double loss = network_.forward(batch.images, batch.labels, trace);
    if (!settings().trains) return loss;
    if (!exchange_) {
        network_.backward(trace);
        network_.update(trace);
        return loss;
    }
    network_.backward(trace, [this](std::size_t parameter) { exchange_->ready(parameter); });
    trace.communicated(exchange_->finish());
    if (exchange_->updates())
        network_.update(trace);
    else
        network_.leave_update_to_another();
    return loss;
}

void Step::differentiate(Phase last, Trace& trace)
{
    const data::Batch batch = trace.waiting_for_data([this] { return source_.next(); });
    network_.forward(batch.images, batch.labels, trace);
    if (last == Phase::backward) network_.backward(trace);
}

std::string Step::checksums()
{
    exchange_->begin(network_.trained_bytes());
    return network_.checksums();
}

std::string Step::how() const
{
    const bool is_widened = settings().precision == Precision::bf16 && kernels::widest_isa() < kernels::Isa::avx512;
    return (exchange_ ? world()->describe(exchange_->packing().buckets.size()) : threads_.describe()) +
           (is_widened ? "; bf16 widened to fp32" : "");
}

std::string Step::taking_turns() const
{
    const bool are_many = world()->place.ranks_here > static_cast<int>(std::thread::hardware_concurrency());
    return are_many ? "more ranks than processors: " + std::string(ranks_take_turns) : "";
}

std::unique_ptr<engine::Step> make_step(const engine::StepRequest& request)
{
    return std::make_unique<Step>(request.graph, request.settings, request.point.text("data"), request.workers,
                                  request.world == nullptr ? parallel::Place{} : request.world->place);
}

// libgomp reuses its threads in parallel regions of one size, so an affinity that one sets remains in the next.

PinnedThreads::PinnedThreads(int threads) : allowed_(processors_of_thread())
{
    if (threads == 0 || allowed_.size() < static_cast<std::size_t>(threads)) return;
    threads_ = threads;
    const std::vector<int> order = parallel::cores_first(allowed_, parallel::core_of);
    processors_.assign(order.begin(), order.begin() + threads);
#pragma omp parallel num_threads(threads)
    keep_thread_to({processors_[static_cast<std::size_t>(omp_get_thread_num())]});
}

PinnedThreads::PinnedThreads(const parallel::Place& place, int threads) : allowed_(processors_of_thread())
{
    if (place.launcher != parallel::Launcher::roof) return;  // MPI's launcher places its ranks
    const std::vector<int> own = place.rank > 0 ? allowed_ : parallel::cpus_of(place.rank, place.ranks, allowed_);
    if (own == allowed_ || own.empty()) return;
    threads_ = threads;
    keep_threads_to(own);
}

PinnedThreads::~PinnedThreads()
{
    if (threads_ > 0) keep_threads_to(allowed_);
}

void PinnedThreads::keep_threads_to(const std::vector<int>& cpus) const
{
#pragma omp parallel num_threads(threads_)
    keep_thread_to(cpus);
}

std::string PinnedThreads::describe() const
{
    if (!hold()) return "threads not pinned";
    std::vector<std::string> numbers;
    for (const int processor : processors_) numbers.push_back(std::to_string(processor));
    return "threads on processors " + join(numbers, ", ");
}

namespace {

/// What a step takes beside its tensors, an allowance: code that is loaded as it first runs, samples, messages; and
/// each thread: panels of linear layers (kernels/linear), sums of batch norms, more of its stack.
constexpr Bytes of_running{4 << 20}, of_thread{1 << 20};

/// Sets `values` to those from number `first` on, in PyTorch's order.
using Fill = std::function<void(std::span<float> values, std::size_t first)>;

/// The rows [begin, begin + rows) of the tensor's first dimension, in its memory and layout.
dnnl::memory rows_of(const Tensor& tensor, const dnnl::engine& engine, Dim begin, Dim rows)
{
    Dims dims = dims_of(tensor.desc());
    if (rows == dims[0]) return tensor.memory;
    Dims from(dims.size(), 0);
    dims[0] = rows;
    from[0] = begin;
    return {tensor.desc().submemory_desc(dims, from), engine, tensor.memory.get_data_handle()};
}

/// The number of values of a row of the first dimension, and how many rows are filled at a time.
std::pair<std::size_t, Dim> rows_at_a_time(const Dims& dims)
{
    constexpr std::size_t piece = std::size_t{1} << 20;  // values: 4 MiB
    constexpr Dim block = 64;                            // oneDNN's blocks along a dimension divide it
    const auto row =
        static_cast<std::size_t>(std::accumulate(dims.begin() + 1, dims.end(), Dim{1}, std::multiplies<>()));
    return {row, std::min(dims[0], (static_cast<Dim>(piece / row) / block + 1) * block)};
}

/// Fills the tensors, which have these dimensions in any layouts and precisions, some rows of the first dimension at a
/// time: a copy of the largest weights would be as large as the rest of a network.
void fill_by_rows(const Program& program, const Dims& dims, const std::vector<Tensor>& tensors, const Fill& fill)
{
    const auto [row, most] = rows_at_a_time(dims);
    std::vector<float> values;
    for (Dim begin = 0; begin < dims[0]; begin += most) {
        Dims some = dims;
        some[0] = std::min(most, dims[0] - begin);
        values.resize(static_cast<std::size_t>(some[0]) * row);
        fill(values, static_cast<std::size_t>(begin) * row);
        dnnl::memory from(plain(some), program.engine(), values.data());
        // Each from the values: oneDNN 3.7 reorders weights whose rows have gaps as if they were contiguous.
        for (const Tensor& tensor : tensors) {
            if (!tensor) continue;
            dnnl::memory to = rows_of(tensor, program.engine(), begin, some[0]);
            dnnl::reorder(from, to).execute(program.stream(), from, to);
        }
    }
}

std::span<std::byte> bytes_of(const Tensor& tensor)
{
    return {static_cast<std::byte*>(tensor.memory.get_data_handle()), tensor.desc().get_size()};
}

/// Memory is allocated near the thread that touches it first, so the threads divide memory that all of them read.
void touch(const Trained& trained)
{
    const std::size_t count = trained.value.stored();
    const bool has_gradient = trained.gradient.block >= 0;
    for_ranges(count, [&](std::size_t begin, std::size_t end) {
        std::fill(trained.value.data() + begin, trained.value.data() + end, 0.0F);
        for (const Tensor& average : {trained.momentum, trained.square})
            if (average) std::fill(average.data() + begin, average.data() + end, 0.0F);
        if (has_gradient) std::fill(trained.gradient.data() + begin, trained.gradient.data() + end, 0.0F);
    });
}

ir::Choosers choosers_of(Convolutions& convolutions, const Settings& settings)
{
    return {.convolution = [&](const ConvolutionPass& shape) { return convolutions.choose(shape); },
            .product =
                [&](const ir::Product& of) {
                    const kernels::LinearShape shape{.batch = of.batch, .inputs = of.inputs, .outputs = of.outputs};
                    return ir::Choice{
                        .refetched = kernels::linear_refetched(shape, of.pass, settings.precision, settings.threads)};
                },
            .attention =
                [&](const ir::AttentionPass& pass) {
                    const kernels::AttentionShape of{
                        .positions = pass.positions, .channels = pass.channels, .causal = pass.causal};
                    const double each = 2.0 * (pass.backward ? 5 : 2) * pass.batch * pass.heads * pass.channels;
                    const double heads = 1.0 * pass.batch * pass.heads;
                    return ir::Choice{.executed = Flops{each * static_cast<double>(of.pairs())},
                                      .refetched = kernels::refetches({{settings.threads * of.kept_words(pass.backward),
                                                                        heads * of.refetched_words(pass.backward)}})};
                },
            .reads_images = true,
            .whole_norms = true,
            .whole_gradients = true,
            .convolves_positions = true,
            .updates_from_factors = updates_from_factors(settings)};
}

}  // namespace

Network::Network(const model::Graph& graph, const Settings& settings)
    : settings_(settings),
      classes_(graph.classes()),
      labels_(static_cast<std::size_t>(settings.batch * graph.labels_each())),
      parameters_(graph.parameters()),
      program_(dnnl::engine(dnnl::engine::kind::cpu, 0))
{
    require_generated_code();  // oneDNN says no more than that it could not execute
    kernels::require_team(settings_.threads);
    const ThreadCount threads(settings_.threads);
    Convolutions convolutions(program_.engine(), settings_);
    const ir::StepProgram list = ir::write_step(graph, settings_, choosers_of(convolutions, settings_));
    Binding binding(list, convolutions, settings_, program_, state_);
    binding.append();
    images_ = binding.read(list.images);
    trained_ = std::move(binding.trained);
    for (const ir::Running& one : list.running)
        running_.push_back({one.layer, binding.read(one.mean), binding.read(one.variance)});
    algorithms_ = list.algorithms;
    std::vector<Tensor> caches;
    for (const ir::Tensor& cache : list.caches) caches.push_back(binding.read(cache));
    const std::string what = "training " + graph.name() + " at batch " + std::to_string(settings_.batch);
    const std::size_t shared = settings_.ranks == nullptr ? 0 : parallel::pack(gradient_sizes(), 0).count;
    std::size_t filled = 0;  // values at a time; the allocator may keep their memory
    const auto is_filled = [&](const Dims& dims) {
        const auto [row, most] = rows_at_a_time(dims);
        filled = std::max(filled, row * static_cast<std::size_t>(most));
    };
    for (const Trained& trained : trained_) is_filled(trained.dims);
    for (const Tensor& cache : caches) is_filled(dims_of(cache.desc()));
    memory_ = {.held = resident_memory(),
               .taken = Bytes{static_cast<double>(program_.lay_out() + (shared + filled) * sizeof(float))} +
                        settings_.images + of_running + of_thread * settings_.threads,
               .ranks = settings_.ranks_here};
    if (settings_.share().rank == 0) memory_.require(what);
    program_.place(what);

    for (const Trained& trained : trained_) touch(trained);
    for (const Running& statistics : running_)
        std::fill_n(statistics.variance.data(), statistics.variance.stored(), 1.0F);
    for (std::size_t k = 0; k < caches.size(); ++k) {
        fill_by_rows(program_, dims_of(caches[k].desc()), {caches[k]},
                     [cache = model::hashed_cache(static_cast<int>(k))](std::span<float> values, std::size_t first) {
                         cache.fill(values, first);
                     });
    }
    for (std::size_t k = 0; k < parameters_.size(); ++k) {
        set(k, [&](std::span<float> values, std::size_t first) {
            engine::fill_initial(graph, static_cast<int>(k), settings_.parameters, values, first);
        });
    }
}

double Network::forward(const float* images, const int* labels, Trace& trace)
{
    engine::require_labels(labels, labels_, classes_);
    const ThreadCount threads(settings_.threads);
    images_.memory.set_data_handle(const_cast<float*>(images));  // read only; oneDNN's handles have no const
    state_.labels = labels;
    converting_errors("the forward pass", [&] { program_.run(Phase::forward, trace); });
    return state_.loss;
}

void Network::backward(Trace& trace, const std::function<void(std::size_t parameter)>& ready)
{
    const ThreadCount threads(settings_.threads);
    const auto done = [&](std::size_t stage) {
        if (ready) std::ranges::for_each(program_.stages()[stage].ready, ready);
    };
    converting_errors("the backward pass", [&] { program_.run(Phase::backward, trace, done); });
}

std::vector<parallel::GradientSize> Network::gradient_sizes() const
{
    std::vector<parallel::GradientSize> sizes(trained_.size());
    for (std::size_t stage = 0; stage < program_.stages().size(); ++stage) {
        for (const std::size_t k : program_.stages()[stage].ready) sizes[k] = {trained_[k].value.stored(), stage};
    }
    return sizes;
}

std::string Network::exchanged_layouts() const
{
    const std::vector<parallel::GradientSize> sizes = gradient_sizes();
    std::string lines;
    for (std::size_t k = 0; k < trained_.size(); ++k)
        lines += parameters_[k].name + " " + layout_name(trained_[k].gradient.desc()) + ", value " +
                 layout_name(trained_[k].value.desc()) + ", " + std::to_string(sizes[k].count) + " numbers, stage " +
                 std::to_string(sizes[k].stage) + "\n";
    return lines;
}

void Network::place_gradients(const std::function<float*(std::size_t parameter)>& place)
{
    for (std::size_t k = 0; k < trained_.size(); ++k) trained_[k].gradient.memory.set_data_handle(place(k));
}

std::string Network::checksums() const
{
    std::string lines;
    for (std::size_t k = 0; k < trained_.size(); ++k)
        lines += parameters_[k].name + " " + std::to_string(crc32_of(bytes_of(trained_[k].value))) + "\n";
    return lines;
}

std::vector<std::span<std::byte>> Network::trained_bytes() const
{
    std::vector<std::span<std::byte>> all;
    for (const Trained& trained : trained_) {
        all.push_back(bytes_of(trained.value));
        if (trained.copy) all.push_back(bytes_of(trained.copy));
    }
    return all;
}

void Network::update(Trace& trace)
{
    const ThreadCount threads(settings_.threads);
    program_.run(Phase::update, trace);
    state_.adam = after_update(state_.adam);
    ++state_.step;
}

void Network::set(std::size_t parameter, const Fill& fill)
{
    const Trained& trained = trained_[parameter];
    fill_by_rows(program_, trained.dims, {trained.value, trained.copy}, fill);
}

}  // namespace roof::onednn
