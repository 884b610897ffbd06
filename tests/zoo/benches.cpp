#include "tests/zoo/benches.hpp"

#include "cpu/kernels/forms.hpp"
#include "cpu/probes/choices.hpp"
#include "cpu/probes/probes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace roof::zoo {
namespace {

/// Bytes that one thread writes per second where memory was not used before.
constexpr double first_writes = 3e9;
constexpr double line = 64;

class SimulatedSubject : public Subject {
  public:
    SimulatedSubject(std::shared_ptr<World> world, const Work& work, const Task& task, const std::string& key)
        : world_(std::move(world)), work_(work), task_(task), kept_(key.empty() ? nullptr : &world_->kept(key))
    {
    }
    Work work() const override { return work_; }
    void launch(Trace& trace) override
    {
        const Timing launch = world_->launch(task_);
        trace.took(Seconds{launch.seconds});
        if (launch.clock > 0) trace.ran_at(Hertz{launch.clock});
        if (!launch.disturbed.empty()) trace.disturbed(launch.disturbed);
        if (kept_ != nullptr && is_checked_) kept_->push_back(static_cast<float>(launch.kept));
    }
    void check() override { is_checked_ = true; }  // what follows are no warm-ups
    std::string variant() const override { return "simulated"; }

  private:
    std::shared_ptr<World> world_;
    Work work_;
    Task task_;
    std::vector<float>* kept_;
    bool is_checked_ = false;
};

/// A real bench whose subjects are simulated.
class SimulatedBench : public Bench {
  public:
    SimulatedBench(std::unique_ptr<Bench> real, std::shared_ptr<World> world)
        : Bench({real->name(), real->role(), real->device_kind(), real->description()}),
          real_(std::move(real)),
          world_(std::move(world))
    {
    }
    std::vector<Axis> axes(const Machine& machine) const override { return real_->axes(machine); }
    std::optional<std::string> unsupported_reason(const Point& point, const Machine& machine,
                                                  const Device& device) const override
    {
        return real_->unsupported_reason(point, machine, device);
    }
    std::unique_ptr<Subject> create(const Point& point, const Machine&, const Device&) const override
    {
        Random& random = world_->random();
        const Model& model = world_->model();
        world_->pass(limits::making_seconds);
        Task task;
        task.threads = point.has("threads") ? static_cast<int>(point.integer("threads")) : 1;
        task.packs_cores = point.text_or("placement", "cores") == "siblings";
        if (random.chance(model.slow_rows)) task.slower = 1 + random.within(limits::slow_row_by);
        if (model.kind->luck == Luck::loops && has_two_rates(point, model) && random.chance(model.slow_loops))
            task.slower *= 1 + limits::slow_loop_by;
        if (random.chance(model.misread_rows)) task.clock_read_as = 1 - random.within(limits::misread_by);
        auto subject = name() == "bandwidth" || name() == "numa" ? streaming(point, task)
                       : name() == "latency"                     ? chasing(point, task)
                                                                 : computing(point, task);
        world_->rest();
        return subject;
    }

  private:
    /// Scales the task to the usual time of a launch; returns the number of units that take so long.
    static double fill(Task& task, const Parts& unit)
    {
        const double count = limits::launch_seconds / unit.sum();
        task.parts = unit * count;
        return count;
    }
    std::unique_ptr<Subject> made(const Work& work, const Task& task, const std::string& key) const
    {
        return std::make_unique<SimulatedSubject>(world_, work, task, key);
    }
    void write_set(double set) const
    {
        if (set <= written_) return;
        world_->pass((set - written_) / first_writes);
        written_ = set;
    }
    /// One loop in three, by the machine.
    bool has_two_rates(const Point& point, const Model& model) const
    {
        std::uint64_t hash = model.seed;
        for (const char c : point.text_or("operation", "") + point.text_or("isa", "") + point.text_or("precision", ""))
            hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
        return role() != Role::latency && Random(hash).chance(1.0 / 3);
    }
    /// What the pages of a round add to each part of the time.
    Parts of_round(Parts parts) const
    {
        Random& random = world_->random();
        const Model& model = world_->model();
        parts.shared *= 1 + model.round_noise_shared * random.normal();
        parts.memory *= 1 + model.round_noise_memory * random.normal();
        if (model.kind->luck == Luck::slices && random.chance(limits::slow_slices))
            parts.shared *= 1 + random.within(limits::slice_slower_by);
        return parts;
    }
    /// The level that serves the whole set, if one does.
    std::optional<std::size_t> only_level(double set, int threads) const
    {
        const std::vector<double> served = world_->model().served(set, threads);
        for (std::size_t level = 0; level < served.size(); ++level)
            if (served[level] > 0.9999) return level;
        return std::nullopt;
    }

    std::unique_ptr<Subject> streaming(const Point& point, Task task) const
    {
        const Model& model = world_->model();
        const std::string operation = point.text_or("operation", "load");
        const double set = point.number("working_set");
        const bool has_small_pages = point.text_or("pages", "huge") == "small";
        write_set(set);
        Parts byte = model.byte_of(set, operation, task.threads, world_->random().uniform(), world_->cache_held());
        task.is_in_cores = byte.shared == 0 && byte.memory == 0;
        if (has_small_pages) {
            byte.shared /= model.small_pages;
            byte.memory /= model.small_pages;
        }
        const double bytes = fill(task, byte) * task.threads;
        task.parts = of_round(task.parts);
        const ArrayOperation stream = parse_array_operation(operation);
        const Bytes moved{bytes};
        const Work work{.flops = {},
                        .compulsory = moved,
                        .no_reuse = moved,
                        .read = moved * (static_cast<double>(stream.loads()) / stream.moves()),
                        .written = moved * (static_cast<double>(stream.stores) / stream.moves())};
        const auto level = only_level(set, task.threads);
        return made(work, task, level ? key_of_bandwidth(operation, task.threads, has_small_pages, *level) : "");
    }

    std::unique_ptr<Subject> chasing(const Point& point, Task task) const
    {
        const double set = point.number("working_set");
        const bool has_small_pages = point.text_or("pages", "huge") == "small";
        write_set(set);
        task.is_waiting = true;
        const double loads =
            fill(task, world_->model().chase_of(set, world_->random().uniform(), world_->cache_held()));
        task.parts = of_round(task.parts);
        const auto level = only_level(set, 1);
        return made({{}, Bytes{loads * line}, Bytes{loads * line}}, task,
                    level ? key_of_latency(has_small_pages, *level) : "");
    }

    /// Arithmetic on registers; the other benches are none of the zoo's ceilings and only take time.
    std::unique_ptr<Subject> computing(const Point& point, Task task) const
    {
        const Model& model = world_->model();
        const bool is_arithmetic = name() == "flops";
        const std::string operation = point.text_or("operation", "fma");
        const std::string isa = point.text_or("isa", "avx2");
        const std::string precision = point.text_or("precision", "fp64");
        const int busy = task.packs_cores ? (task.threads + model.threads_of_core() - 1) / model.threads_of_core()
                                          : std::min(task.threads, model.cores);
        task.is_wide = isa == "avx512";
        task.is_in_cores = is_arithmetic;
        const double threads_of_core = static_cast<double>(task.threads) / busy;
        // The nominal time excludes the lower clock under wide vectors.
        const double rate = model.flops(operation, isa, precision) / threads_of_core;
        const double flops = fill(task, {1 / rate, 0, 0}) * task.threads;
        if (role() == Role::latency) return made({{}, Bytes{line * 1000}, Bytes{line * 1000}}, task, "");
        return made({Flops{flops}, Bytes{1}, Bytes{1}}, task,
                    is_arithmetic ? key_of_arithmetic(operation, isa, precision, task.threads, task.packs_cores) : "");
    }

    std::unique_ptr<Bench> real_;
    std::shared_ptr<World> world_;
    mutable double written_ = 0;
};

/// Processors of core c: c, and c + cores for its second hardware thread.
cpu::Processors processors_of(const Model& model)
{
    cpu::Processors processors;
    for (int i = 0; i < model.cores * model.threads_of_core(); ++i) processors.spread.push_back(i);
    for (int core = 0; core < model.cores; ++core)
        for (int i = 0; i < model.threads_of_core(); ++i) processors.packed.push_back(core + i * model.cores);
    return processors;
}

}  // namespace

std::string key_of_arithmetic(const std::string& operation, const std::string& isa, const std::string& precision,
                              int threads, bool packs_cores)
{
    return fmt::format("{} {} {} {}{}", operation, isa, precision, threads, packs_cores ? " packed" : "");
}

std::string key_of_bandwidth(const std::string& operation, int threads, bool has_small_pages, std::size_t level)
{
    return fmt::format("{} {} {}{}", operation, threads, level, has_small_pages ? " small" : "");
}

std::string key_of_latency(bool has_small_pages, std::size_t level)
{
    return fmt::format("latency {}{}", level, has_small_pages ? " small" : "");
}

BenchRegistry registry_of(const std::shared_ptr<World>& world)
{
    const Model& model = world->model();
    cpu::ProbeContext context;
    context.processors = processors_of(model);
    context.nodes = {{0, context.processors, 0}};
    const std::set<int> counts = model.thread_counts();
    context.thread_counts.assign(counts.begin(), counts.end());
    BenchRegistry registry;
    registry.machine() = model.machine;
    for (const auto& make : {cpu::flops_bench, cpu::bandwidth_bench, cpu::latency_bench, cpu::core_to_core_bench,
                             cpu::numa_bench, cpu::ert_bench})
        registry.add(std::make_unique<SimulatedBench>(make(context), world));
    return registry;
}

}  // namespace roof::zoo
