#include "ert/gpu/probes/allreduce.hpp"

#include "ert/base/error.hpp"
#include "ert/gpu/check.hpp"
#include "ert/gpu/fork.hpp"
#include "ert/gpu/kernels/stream.hpp"
#include "ert/gpu/probes/capability.hpp"
#include "ert/gpu/probes/gpu_bench.hpp"
#include "ert/gpu/probes/rank_numbers.hpp"
#include "ert/gpu/probes/tuning.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

namespace roof::gpu {

namespace {

constexpr long long most_sums = 1 << 12;

std::vector<DeviceId> gpus_of(const Machine& machine)
{
    std::vector<DeviceId> ids;
    for (const Device& device : machine.devices) {
        if (device.kind == "gpu") ids.push_back(id_of(device));
    }
    return ids;
}

/// Powers of four, from messages that cost no more than the steps between GPUs to those that fill the links.
std::vector<std::string> usual_sizes()
{
    std::vector<std::string> sizes;
    for (long long bytes = 1 << 10; bytes <= 1 << 30; bytes *= 4) sizes.push_back(std::to_string(bytes));
    return sizes;
}

/// One GPU's part of it. Made while that GPU is current.
struct RankMemory {
    RankMemory(DeviceId of, std::size_t vectors, int rank)
        : id(of),
          send(vectors * words_of_vector, "a message to sum"),
          receive(vectors * words_of_vector, "a sum of messages")
    {
        enqueue_fill(send.data(), vectors, rank, 0, stream.get());
        stream.synchronize();
    }

    /// So that only a sum after it can be right.
    void forget() const
    {
        const CurrentDevice current(id);
        check(cudaMemset(receive.data(), 0xFF, receive.bytes()));
        check(cudaDeviceSynchronize());
    }

    void compare(int ranks) const
    {
        constexpr std::size_t most = std::size_t{1} << 18;
        const CurrentDevice current(id);
        const std::size_t count = std::min(receive.size(), most);
        for (const std::size_t first : {std::size_t{0}, (receive.size() - count) / 2, receive.size() - count}) {
            const std::vector<float> found = receive.read(first, count);
            for (std::size_t i = 0; i < count; ++i) {
                const float due = due_sum(first + i, ranks);
                if (found[i] == due) continue;
                throw Error("word " + std::to_string(first + i) + " of the sum on gpu:" + std::to_string(id.value) +
                            " is " + std::to_string(found[i]) + ", not " + std::to_string(due));
            }
        }
    }

    DeviceId id;
    Stream stream;
    Fork fork;
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

class AllreduceSubject final : public Subject {
  public:
    /// `factor`: bytes that count for each byte of the message.
    AllreduceSubject(const std::shared_ptr<const Nccl>& library, const std::vector<DeviceId>& ids, std::size_t vectors,
                     double factor, std::shared_ptr<const Nvml> nvml)
        : tuned_(ids.front(), std::move(nvml)), version_(library->version()), factor_(factor)
    {
        for (std::size_t i = 0; i < ids.size(); ++i)
            memories_.push_back(memory_on(ids[i], vectors, static_cast<int>(i)));
        communicator_ = std::make_unique<Communicator>(library, numbers_of(ids));
        tuned_.settle_on_fastest({{"", 1, [this](long long sums) { enqueue(sums); }}}, most_sums);
    }

    Work work() const override
    {
        const Bytes moved{factor_ * message() * tuned_.work()};
        return {{}, moved, moved, Known::analytic};
    }
    void launch(Trace& trace) override { tuned_.launch(trace); }

    void check() override
    {
        for (const auto& memory : memories_) memory->forget();
        tuned_.run(1);
        for (const auto& memory : memories_) memory->compare(ranks());
    }

    std::string variant() const override
    {
        return "NCCL " + version_ + ", " + std::to_string(ranks()) + (ranks() == 1 ? " rank" : " ranks");
    }

    std::vector<std::string> remarks() const override
    {
        std::vector<std::string> all = tuned_.stream().remarks();
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

    void enqueue(long long sums) const
    {
        const cudaStream_t watched = tuned_.stream().get();
        std::vector<Communicator::Rank> ranks;
        for (const auto& memory : memories_) {
            begin_.order(watched, memory->stream.get());
            ranks.push_back({memory->send.data(), memory->receive.data(), memory->stream.get()});
        }
        for (long long i = 0; i < sums; ++i) communicator_->enqueue_sum(ranks, memories_.front()->send.size());
        for (const auto& memory : memories_) memory->fork.order(memory->stream.get(), watched);
    }

    TunedStream tuned_;
    Fork begin_;
    std::string version_;
    double factor_;
    std::vector<std::unique_ptr<RankMemory>> memories_;
    std::unique_ptr<Communicator> communicator_;  ///< after the streams it works in, so that it goes before them
};

std::size_t vectors_of(const Point& point)
{
    return static_cast<std::size_t>(point.integer("size")) / vector_bytes;
}

bool is_alone(const Point& point)
{
    return point.text("operation") == "alone";
}

std::optional<std::string> lack_of_ranks(const Machine& machine, const Device& device)
{
    const std::vector<DeviceId> ids = gpus_of(machine);
    if (ids.size() < 2) return "one GPU: nothing to reduce with";
    if (ids.size() > most_ranks) return "more than " + std::to_string(most_ranks) + " GPUs: sums would not be exact";
    if (ids.front().value != id_of(device).value)
        return "all GPUs sum at once: measured with gpu:" + std::to_string(ids.front().value);
    return std::nullopt;
}

class AllreduceBench final : public GpuBench {
  public:
    AllreduceBench(std::shared_ptr<const Nccl> library, std::shared_ptr<const Nvml> nvml)
        : GpuBench({"allreduce", Role::bandwidth, "gpu",
                    "All GPUs of the machine sum their arrays by NCCL: what each one's links carry each way (bus), the "
                    "message over the time (algorithm), or one GPU with itself, which shows that it works and is no "
                    "ceiling (alone)."},
                   std::move(nvml)),
          library_(std::move(library))
    {
    }

    std::vector<Axis> axes(const Machine&) const override
    {
        return {{.name = "operation",
                 .meaning =
                     "bytes that count: the message times 2(N-1)/N for N GPUs, the message, or that of one GPU alone",
                 .defaults = {"bus"},
                 .allowed = {"bus", "algorithm", "alone"}},
                {.name = "path", .meaning = "between the GPUs", .defaults = {"nccl"}, .allowed = {"nccl"}},
                {.name = "size",
                 .meaning = "bytes of the message, on each GPU",
                 .defaults = usual_sizes(),
                 .allowed = {},
                 .numeric = true,
                 .min = vector_bytes,
                 .max = 1LL << 36}};
    }

    std::optional<std::string> unsupported_reason(const Point& point, const Machine& machine,
                                                  const Device& device) const override
    {
        if (!is_alone(point)) {
            if (auto reason = lack_of_ranks(machine, device)) return reason;
        }
        if (library_ == nullptr)
            return "libnccl.so.2 was not found: install NCCL, or put its folder on LD_LIBRARY_PATH";
        return missing_capability(device, 80, "this build");
    }

  private:
    std::unique_ptr<Subject> make_here(const Point& point, const Machine& machine, const Device&,
                                       DeviceId id) const override
    {
        const std::vector<DeviceId> ids = is_alone(point) ? std::vector{id} : gpus_of(machine);
        const double factor = point.text("operation") == "bus" ? bus_factor(static_cast<int>(ids.size())) : 1;
        return std::make_unique<AllreduceSubject>(library_, ids, vectors_of(point), factor, nvml());
    }

    std::shared_ptr<const Nccl> library_;
};

}  // namespace

std::unique_ptr<Bench> allreduce_bench(std::shared_ptr<const Nccl> library, std::shared_ptr<const Nvml> nvml)
{
    return std::make_unique<AllreduceBench>(std::move(library), std::move(nvml));
}

}  // namespace roof::gpu
