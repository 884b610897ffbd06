// See bandwidth.hpp for what is launched and counted.
#include "cpu/probes/bandwidth.hpp"

#include "cpu/kernels/registers.hpp"
#include "cpu/kernels/stream_kernel.hpp"
#include "cpu/probes/choices.hpp"
#include "cpu/probes/stream_check.hpp"
#include "cpu/repeat.hpp"
#include "ert/base/error.hpp"

#include <algorithm>

namespace roof::cpu {

namespace {

/// Bytes of one array of one thread: its share of the working set, in whole iterations of the loop; 0 if it is less.
std::size_t array_bytes(const Isa& isa, const Stream& stream, const Point& point)
{
    const auto share = static_cast<std::size_t>(point.integer("working_set")) /
                       static_cast<std::size_t>(point.integer("threads")) / static_cast<std::size_t>(stream.arrays());
    const std::size_t iteration = StreamKernel::bytes_per_iteration(isa, stream);
    return share / iteration * iteration;
}

bool fuses(const Isa& isa, const Machine& machine)
{
    return has_feature(machine, "fma") && (isa.encoding == Encoding::vex || isa.encoding == Encoding::evex);
}

class BandwidthSubject : public Subject {
  public:
    BandwidthSubject(const Isa& isa, const Stream& stream, bool fused, std::size_t bytes,
                     const std::vector<int>& processors, std::shared_ptr<Workspace> workspace,
                     std::shared_ptr<CoreHistory> history)
        : kernel_(isa, stream, fused),
          stream_(stream),
          bytes_(bytes),
          workspace_(std::move(workspace)),
          constant_(1, isa.register_bytes, Precision::fp64),
          sums_(processors.size(), RegisterFile(kernel_.accumulators(), isa.register_bytes, Precision::fp64)),
          team_(processors, std::move(history))
    {
        constant_.broadcast(0, stream_constant);
        workspace_->reserve(team_.size(), bytes_ * stream_.arrays());
        workspace_->fill(team_.pinned(), bytes_ * stream_.arrays());
        for (int thread = 0; thread < team_.size(); ++thread) {
            const StreamArrays a = arrays(thread);
            arguments_.push_back({a.destination(), a.source(0), a.source(1), constant_.data(), sums_[thread].data()});
        }
        passes_ = repetitions_for(
            launch_target, [&](std::size_t n) { run(n); }, steady_clock());
    }

    Work work() const override
    {
        const Bytes moved = memory() * static_cast<double>(passes_);
        const double elements = moved.value / stream_.arrays() / sizeof(double);
        return {Flops{elements * stream_.flops}, moved, moved, Known::analytic};
    }

    void launch(Trace& trace) override
    {
        team_.launch(trace, [&](int thread) { kernel_.run(passes_, bytes_, arguments_[thread]); });
    }

    void check() override
    {
        run(passes_);
        const int lanes = kernel_.operand_bytes() / static_cast<int>(sizeof(double));
        team_.run(
            [&](int thread) { check_stream(arrays(thread), passes_, sums_[thread], kernel_.accumulators(), lanes); });
    }

    Bytes memory() const override { return Bytes{static_cast<double>(bytes_) * stream_.arrays() * team_.size()}; }

  private:
    StreamArrays arrays(int thread) const { return {stream_, bytes_, workspace_->slice(thread)}; }

    void run(std::size_t passes)
    {
        team_.run([&](int thread) { kernel_.run(passes, bytes_, arguments_[thread]); });
    }

    StreamKernel kernel_;
    Stream stream_;
    std::size_t bytes_;  ///< of one array of one thread
    std::shared_ptr<Workspace> workspace_;
    RegisterFile constant_;
    std::vector<RegisterFile> sums_;
    std::vector<StreamKernel::Arguments> arguments_;
    WatchedTeam team_;
    std::size_t passes_ = 1;
};

}  // namespace

BandwidthBench::BandwidthBench(std::vector<int> processors, std::shared_ptr<CoreHistory> history)
    : processors_(std::move(processors)), history_(std::move(history)), workspace_(std::make_shared<Workspace>())
{
}

std::string_view BandwidthBench::sentence() const
{
    return "Bytes that the instructions read and write, every result checked; lines read by a missing store "
           "(write-allocate) are not counted.";
}

std::vector<Axis> BandwidthBench::axes(const Machine& machine) const
{
    constexpr long long least_bytes = 1024;
    constexpr long long most_bytes = 1LL << 42;
    constexpr std::size_t usual_isas = 2;  // the widest loads are not always the fastest, the third widest never
    Axis operation{"operation", "what each element costs", {}, {}};
    for (const Stream& stream : stream_table) operation.usual.emplace_back(stream.name);
    operation.legal = operation.usual;
    std::vector<std::string> widest = machine.isa;
    if (widest.size() > usual_isas) widest.erase(widest.begin(), widest.end() - usual_isas);
    const Axis working_set{
        "working_set", "bytes, all arrays and threads together", usual_working_sets(machine), {}, true, least_bytes,
        most_bytes};
    return {operation, isa_axis(std::move(widest)), threads_axis(machine), working_set};
}

std::optional<std::string> BandwidthBench::obstacle(const Point& point, const Machine& machine, const Device&) const
{
    if (const auto reason = missing_isa(point, machine)) return reason;
    if (const auto reason = missing_threads(point, machine)) return reason;
    if (array_bytes(parse_isa(point.text("isa")), parse_stream(point.text("operation")), point) == 0) {
        return "the working set is less than one iteration of the loop for every array and thread";
    }
    return std::nullopt;
}

std::unique_ptr<Subject> BandwidthBench::make(const Point& point, const Machine& machine, const Device& device) const
{
    if (const auto reason = obstacle(point, machine, device)) throw Unsupported(*reason);
    const Isa& isa = parse_isa(point.text("isa"));
    const Stream& stream = parse_stream(point.text("operation"));
    return std::make_unique<BandwidthSubject>(isa, stream, fuses(isa, machine), array_bytes(isa, stream, point),
                                              processors_for(point, processors_), workspace_, history_);
}

std::vector<std::string> usual_working_sets(const Machine& machine)
{
    constexpr long long smallest = 8 << 10;
    constexpr double least_largest = 256 << 20;
    constexpr double coarse_share = 8;  // beyond an eighth of the largest a visit is dear, and memory's level is wide
    double caches = 0;
    for (const MemoryLevel& level : machine.device("cpu").levels) {
        if (level.name != "DRAM") caches = std::max(caches, level.capacity.value * level.instances);
    }
    const double largest = std::max(least_largest, 4 * caches);
    std::vector<std::string> sets;
    for (long long bytes = smallest; static_cast<double>(bytes) <= largest; bytes *= 2) {
        sets.push_back(std::to_string(bytes));
        if (static_cast<double>(bytes) < largest / coarse_share) sets.push_back(std::to_string(bytes + bytes / 2));
    }
    return sets;
}

}  // namespace roof::cpu
