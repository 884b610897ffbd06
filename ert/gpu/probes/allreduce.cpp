// Bench "allreduce" of several GPUs: what each GPU's links carry while NCCL sums the arrays of all of them.
//
// Launched    ncclAllReduce of floats, out of place, one rank on each GPU. This one thread enqueues all ranks. Messages
//             of at most 1 MiB are 16 to a CUDA graph, which has no part of the host's calls in its time.
// Saturates   the links between the GPUs; for small messages the time of a step between them.
// Bytes       "bus": the message times 2(N-1)/N, which each of N GPUs must send and receive. "algorithm": the message
//             once. "alone": the message once, with this GPU as the only rank. It shows that the function works, and is
//             neither a bandwidth of any link nor a ceiling.
// Time        device events on the first GPU; the other streams are forked from its stream and joined to it.
// Falsified   if any GPU has other sums than the host. The sums are whole numbers, exact in any order.
#include "ert/base/error.hpp"
#include "ert/base/text.hpp"
#include "ert/gpu/check.hpp"
#include "ert/gpu/communicators.hpp"
#include "ert/gpu/kernels/numbers.hpp"
#include "ert/gpu/kernels/stream.hpp"
#include "ert/gpu/probes/arrays.hpp"
#include "ert/gpu/probes/gpu_bench.hpp"
#include "ert/gpu/probes/tuning.hpp"
#include "ert/gpu/stream.hpp"
#include "ert/method/bench/machine.hpp"

#include <cmath>
#include <memory>
#include <optional>

namespace roof::gpu {

namespace {

constexpr long long max_sums = 1 << 12;
constexpr int sums_of_graph = 16;
constexpr double largest_in_graph = 1 << 20;

/// Those that a path such as "nccl:0,1" names, else the one of the row. Throws InputError.
std::vector<DeviceId> gpus_of(const Point& point, const Machine& machine, const Device& device)
{
    const std::string& path = point.text("path");
    const std::size_t colon = path.find(':');
    if (path.substr(0, colon) != "nccl")
        throw InputError("path: '" + printable(path) + "' is not of the form nccl:0,1");
    if (colon == std::string::npos) return {id_of(device)};
    std::vector<DeviceId> ids;
    for (const std::string& name : devices_in("gpu" + path.substr(colon))) ids.push_back(id_of(machine.device(name)));
    return ids;
}

/// Powers of four, from messages that cost no more than the steps between GPUs to those that fill the links.
std::vector<std::string> default_sizes()
{
    std::vector<std::string> sizes;
    for (long long bytes = 1 << 10; bytes <= 1 << 30; bytes *= 4) sizes.push_back(std::to_string(bytes));
    return sizes;
}

/// The memory and stream of one rank. Made while its GPU is current.
struct RankMemory {
    RankMemory(DeviceId of, std::size_t vectors, int rank)
        : id(of),
          send(vectors * words_of_vector, "a message to sum"),
          receive(vectors * words_of_vector, "a sum of messages")
    {
        enqueue_fill(send.data(), vectors, rank, 0, stream.get());
    }

    /// Overwrites the last sum, so that only a later one can be right.
    void clear_result() const
    {
        const CurrentDevice current(id);
        check(cudaMemset(receive.data(), 0xFF, receive.bytes()));
        check(cudaDeviceSynchronize());
    }

    void compare(int ranks) const
    {
        const CurrentDevice current(id);
        check_words(receive, "the sum on gpu:" + std::to_string(id.value),
                    [ranks](std::size_t index) { return sum_of_ranks(index, ranks); });
    }

    DeviceId id;
    Stream stream;
    Event fork{false};
    Buffer<float> send;
    Buffer<float> receive;
};

std::unique_ptr<RankMemory> memory_on(DeviceId id, std::size_t vectors, int rank)
{
    const CurrentDevice current(id);
    return std::make_unique<RankMemory>(id, vectors, rank);
}

std::vector<int> numbers_of(const std::vector<DeviceId>& ids)
{
    std::vector<int> numbers;
    for (const DeviceId id : ids) numbers.push_back(id.value);
    return numbers;
}

class AllreduceSubject final : public TunedSubject {
  public:
    /// `factor`: bytes that count for each byte of the message.
    AllreduceSubject(std::string version, Communicators& communicators, const std::vector<DeviceId>& ids, double factor,
                     const GpuPoint& at)
        : TunedSubject(at), version_(std::move(version))
    {
        const std::size_t vectors = static_cast<std::size_t>(at.point.integer("size")) / vector_bytes;
        for (std::size_t i = 0; i < ids.size(); ++i) {
            memories_.push_back(memory_on(ids[i], vectors, static_cast<int>(i)));
            const RankMemory& own = *memories_.back();
            ranks_.push_back({own.send.data(), own.receive.data(), own.stream.get()});
        }
        communicator_ = communicators.on(numbers_of(ids));
        watch([this](Seconds waited) { communicator_->watch(ranks_, waited); });
        if (message() <= largest_in_graph) {
            stream().time([this] { enqueue_sums(1); },
                          [] {});  // connects the GPUs, which no capture may; nothing is held
            graph_.emplace(stream().get(), [this] { enqueue_sums(sums_of_graph); });
        }
        const int sums = graph_ ? sums_of_graph : 1;
        settle_on_fastest({{"", work_of_bytes(factor * message() * sums), [this](long long times) { enqueue(times); }}},
                          max_sums / sums);
    }

    void check() override
    {
        for (const auto& memory : memories_) memory->clear_result();
        run();
        for (const auto& memory : memories_) memory->compare(ranks());
    }

    std::string variant() const override
    {
        return "NCCL " + version_ + ", " + std::to_string(ranks()) + (ranks() == 1 ? " rank" : " ranks") +
               (graph_ ? ", in a graph" : "");
    }

    std::vector<std::string> remarks() const override
    {
        std::vector<std::string> all = TunedSubject::remarks();
        if (ranks() == 1) {
            all.emplace_back("one rank alone: NCCL works here; this is no bandwidth of any link");
            return all;
        }
        const std::string percent = std::to_string(std::lround(100 * bus_factor(ranks())));
        all.push_back("bus bandwidth is algorithm bandwidth (message over time) times 2(N-1)/N: " + percent +
                      "% of it for " + std::to_string(ranks()) + " GPUs");
        return all;
    }

    Bytes memory() const override { return {2 * message() * ranks()}; }

  private:
    int ranks() const { return static_cast<int>(memories_.size()); }
    double message() const { return static_cast<double>(memories_.front()->send.bytes()); }

    void enqueue(long long times) const
    {
        if (!graph_) return enqueue_sums(times);
        for (long long i = 0; i < times; ++i) graph_->launch(stream().get());
    }

    void enqueue_sums(long long sums) const
    {
        const cudaStream_t timed = stream().get();
        for (const auto& memory : memories_) begin_.order(timed, memory->stream.get());
        for (long long i = 0; i < sums; ++i) communicator_->enqueue_sum(ranks_, memories_.front()->send.size());
        for (const auto& memory : memories_) memory->fork.order(memory->stream.get(), timed);
    }

    Event begin_{false};
    std::string version_;
    std::vector<std::unique_ptr<RankMemory>> memories_;
    std::vector<Communicator::Rank> ranks_;
    std::shared_ptr<Communicator> communicator_;
    std::optional<Graph> graph_;  ///< ends before the communicator
};

bool is_alone(const Point& point)
{
    return point.text("operation") == "alone";
}

std::optional<std::string> missing_ranks(const Point& point, const Machine& machine, const Device& device)
{
    const std::vector<DeviceId> ids = gpus_of(point, machine, device);
    if (ids.size() < 2) return "one GPU: nothing to reduce with; --device gpu:0,1 sums on two, path nccl:0,1 of a plan";
    if (ids.size() > most_ranks) return "more than " + std::to_string(most_ranks) + " GPUs: sums would not be exact";
    if (ids.front().value != id_of(device).value)
        return "measured with gpu:" + std::to_string(ids.front().value) + ", the first of its path";
    return std::nullopt;
}

std::vector<Axis> axes(const Machine&)
{
    return {
        {.name = "operation",
         .meaning = "bytes that count: the message times 2(N-1)/N for N GPUs, the message, or that of one GPU alone",
         .defaults = {"bus"},
         .allowed = {"bus", "algorithm", "alone"}},
        {.name = "path", .meaning = "the GPUs, such as nccl:0,1", .defaults = {"nccl"}, .allowed = {}},
        number_axis("size", "bytes of the message, on each GPU", default_sizes(), vector_bytes, 1LL << 36)};
}

}  // namespace

GpuBench allreduce_bench(const Libraries& libraries)
{
    return {.name = "allreduce",
            .role = Role::bandwidth,
            .description =
                "Several GPUs sum their arrays by NCCL: what each one's links carry each way (bus), the "
                "message over the time (algorithm), or one GPU with itself, which shows that it works and is no "
                "ceiling (alone).",
            .axes = axes,
            .unsupported_reason = [nccl = libraries.nccl](const Point& point, const Machine& machine,
                                                          const Device& device) -> std::optional<std::string> {
                if (!is_alone(point)) {
                    if (auto reason = missing_ranks(point, machine, device)) return reason;
                }
                if (nccl == nullptr)
                    return "libnccl.so.2 was not found: install NCCL, or put its folder on LD_LIBRARY_PATH";
                return std::nullopt;
            },
            .create =
                [nccl = libraries.nccl,
                 communicators = std::make_shared<Communicators>(libraries.nccl)](const GpuPoint& at) {
                    const std::vector<DeviceId> ids =
                        is_alone(at.point) ? std::vector{at.id} : gpus_of(at.point, at.machine, at.device);
                    const bool is_bus = at.point.text("operation") == "bus";
                    const double factor = is_bus ? bus_factor(static_cast<int>(ids.size())) : 1;
                    return std::make_unique<AllreduceSubject>(nccl->version(), *communicators, ids, factor, at);
                }};
}

}  // namespace roof::gpu
