#include "workloads/parallel/network_bench.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/clock.hpp"
#include "ert/method/bench/identity.hpp"
#include "workloads/parallel/shared_memory.hpp"
#include "workloads/parallel/world.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <span>
#include <utility>

namespace roof::parallel {

namespace {

class HostMessenger : public Messenger {
  public:
    HostMessenger(std::shared_ptr<Communicator> members, std::size_t count)
        : members_(std::move(members)), out_(members_->block(count)), in_(count)
    {
    }

    void fill(float value) override { std::ranges::fill(out_, value); }
    void reduce() override { members_->mean(out_, Reach::all); }
    void exchange(int to, int from) override
    {
        const auto in = std::as_writable_bytes(std::span(in_));
        members_->exchange(std::as_bytes(out_), to, in, from);
    }
    void wait() override {}  // each call waits
    std::vector<float> mean() const override { return {out_.begin(), out_.end()}; }
    std::vector<float> received() const override { return in_; }

  private:
    std::shared_ptr<Communicator> members_;
    std::span<float> out_;  ///< of `members_`
    std::vector<float> in_;
};

constexpr double seconds_of_launch = 0.004;
constexpr int most_messages = 1000;

/// The node of each rank: of those that mpirun or srun started, else of those that roof starts for the path, "1x4".
std::vector<std::string> nodes_for(const std::string& path, const Machine& machine)
{
    std::vector<std::string> started = rank_nodes(machine);
    if (!started.empty() || !path.starts_with("1x")) return started;
    const int ranks = parse_number<int>(path.substr(2)).value_or(0);
    return {static_cast<std::size_t>(std::clamp(ranks, 0, SharedMemory::most_ranks)), machine.node};
}

class NetworkSubject : public Subject {
  public:
    /// Collective over all ranks; `operation`: pair, ring or allreduce, over `members`.
    NetworkSubject(World world, const Carrier& carrier, std::string operation, const std::vector<int>& members,
                   const std::vector<std::string>& of_ranks, const Device& device, std::size_t bytes)
        : world_(std::move(world)),
          operation_(std::move(operation)),
          first_(members.front()),
          members_(static_cast<int>(members.size())),
          bytes_(bytes),
          library_(carrier.library(*world_.communicator)),
          within_node_(carrier.within_node)
    {
        std::set<std::string> nodes;
        for (const int rank : members) nodes.insert(of_ranks.at(static_cast<std::size_t>(rank)));
        nodes_ = join(std::vector<std::string>(nodes.begin(), nodes.end()), " ");
        shares_a_node_ = nodes.size() == 1;
        messenger_ = world_.made_by_all([&] {
            part_ = world_.communicator->part(std::ranges::find(members, world_.communicator->rank) != members.end());
            return part_ == nullptr ? nullptr : carrier.make(part_, bytes / sizeof(float), device);
        });
        fill();
        run(2);  // connects
        agree(*world_.communicator, is_right() ? nullptr : std::make_exception_ptr(Error(wrong_values())));
        const double once = run(2) / 2;
        messages_ = static_cast<int>(std::clamp(std::ceil(seconds_of_launch / once), 1.0, double{most_messages}));
        fill();
    }

    /// All ranks free `messenger_` and `part_`, which may wait for the others.
    ~NetworkSubject() override
    {
        if (world_.followers != nullptr) world_.followers->release();
    }
    NetworkSubject(const NetworkSubject&) = delete;
    NetworkSubject& operator=(const NetworkSubject&) = delete;

    Work work() const override
    {
        const double share = operation_ == "allreduce" ? 2.0 * (members_ - 1) / members_ : operation_ == "pair" ? 2 : 1;
        const Bytes all{share * static_cast<double>(bytes_) * messages_};
        return {.flops = {}, .compulsory = all, .no_reuse = all};
    }

    void launch(Trace& trace) override
    {
        world_.tell(CommandKind::launch);
        trace.took({run(messages_)});
    }

    void check() override
    {
        if (!is_right()) throw Error(wrong_values());
    }

    std::string variant() const override { return nodes_ + ", " + library_; }

    std::vector<std::string> remarks() const override
    {
        if (shares_a_node_) return {"ranks on one node: their messages cross its " + within_node_ + ", not a network"};
        return {};
    }

    Bytes memory() const override { return {2 * static_cast<double>(bytes_)}; }

  private:
    std::string wrong_values() const { return operation_ + " delivered other values than were sent"; }

    /// Each member sends its number, from 1.
    bool is_right() const
    {
        if (messenger_ == nullptr) return true;
        const bool reduces = operation_ == "allreduce";
        const int from = (part_->rank + members_ - 1) % members_;
        const float wanted = reduces ? 0.5F * static_cast<float>(members_ + 1) : static_cast<float>(from + 1);
        const auto is_near = [&](float value) { return std::abs(value - wanted) <= 1e-4F * wanted; };
        return std::ranges::all_of(reduces ? messenger_->mean() : messenger_->received(), is_near);
    }

    void fill()
    {
        if (messenger_ != nullptr) messenger_->fill(static_cast<float>(part_->rank + 1));
    }

    void message()
    {
        const int rank = part_->rank;
        if (operation_ == "allreduce") return messenger_->reduce();
        if (operation_ == "ring") return messenger_->exchange((rank + 1) % members_, (rank + members_ - 1) % members_);
        const int other = 1 - rank;
        if (rank == 0) messenger_->exchange(other, -1);
        messenger_->exchange(-1, other);
        if (rank == 1) messenger_->exchange(other, -1);
    }

    /// Seconds on the first member. Collective over all ranks: they begin together, and learn the time.
    double run(int messages)
    {
        double seconds{};
        if (messenger_ != nullptr) {
            messenger_->wait();
            std::array<double, 1> none{};
            part_->sum(none);
            const Seconds begin = clock_();
            for (int i = 0; i < messages; ++i) message();
            messenger_->wait();
            seconds = (clock_() - begin).value;
        }
        world_.communicator->broadcast(bytes_in(seconds), first_);
        return seconds;
    }

    World world_;
    std::string operation_;
    int first_;
    int members_;
    std::size_t bytes_;
    std::string library_;
    std::string within_node_;
    std::string nodes_;
    bool shares_a_node_ = false;
    std::shared_ptr<Communicator> part_;
    std::unique_ptr<Messenger> messenger_;
    int messages_{};
    Clock clock_ = steady_clock();
};

}  // namespace

Carrier host_carrier()
{
    return {.device_kind = "cpu",
            .lacking = [](const Device&) { return std::nullopt; },
            .make = [](std::shared_ptr<Communicator> members, std::size_t count,
                       const Device&) { return std::make_unique<HostMessenger>(std::move(members), count); },
            .library = [](const Communicator& hosts) { return hosts.transport; },
            .within_node = "memory"};
}

NetworkBench::NetworkBench(Messages kind, Carrier carrier)
    : Bench(kind == Messages::pair
                ? BenchTraits{"network_pair", Role::bandwidth, carrier.device_kind,
                              "Two ranks send each other a message in turns: bytes of a message over half of a round "
                              "trip."}
                : BenchTraits{"network", Role::bandwidth, carrier.device_kind,
                              "What each rank sends over the time: in a ring, where each rank sends to the next one, "
                              "or in the all-reduce of training (the message times 2(n-1)/n for n ranks)."}),
      kind_(kind),
      carrier_(std::move(carrier))
{
}

std::vector<Axis> NetworkBench::axes(const Machine& machine) const
{
    const Paths paths = paths_between(rank_nodes(machine));
    const auto or_else = [](const std::vector<std::string>& all, const char* word) {
        return all.empty() ? std::vector<std::string>{word} : all;
    };
    std::vector<Axis> all;
    if (kind_ == Messages::group)
        all.push_back(
            word_axis("operation", "ring: to the next rank; allreduce: the mean of gradients", {"ring", "allreduce"}));
    all.push_back({.name = "path",
                   .meaning = kind_ == Messages::pair ? "the two ranks" : "nodes and ranks on each",
                   .defaults = kind_ == Messages::pair ? or_else(paths.pairs, "0-1") : or_else(paths.groups, "2x1"),
                   .allowed = {}});
    all.push_back(number_axis("size", "bytes of a message, a multiple of 4",
                              {"64", "4096", "65536", "1048576", "4194304", "16777216"}, 4, 1LL << 30));
    if (carrier_.device_kind == "cpu") return all;
    all.push_back(number_axis("ranks", "as many as were started; in rows of several devices",
                              {std::to_string(std::max<std::size_t>(1, rank_nodes(machine).size()))}, 1, 65'536));
    all.back().optional = true;
    return all;
}

std::optional<std::string> NetworkBench::unsupported_reason(const Point& point, const Machine& machine,
                                                            const Device& device) const
{
    if (point.integer("size") % 4 != 0) throw InputError("size: " + point.text("size") + " is no multiple of 4");
    const std::string& path = point.text("path");
    const std::vector<std::string> nodes = nodes_for(path, machine);
    if (nodes.size() < 2) return "messages between ranks need several: mpirun -n 2 roof …";
    if (place_of_process().launcher != Launcher::mpi && point.text_or("operation", "pair") != "allreduce")
        return "ranks that roof starts share memory and send each other no messages: mpirun -n 2 roof …";
    const bool is_group = path.find('x') != std::string::npos;
    if (is_group != (kind_ == Messages::group))
        throw InputError("path: " + path + ": " + name() + " takes " + (is_group ? "0-1" : "2x1"));
    ranks_on(path, nodes);
    return carrier_.lacking(device);
}

std::unique_ptr<Subject> NetworkBench::create(const Point& point, const Machine& machine, const Device& device) const
{
    const std::vector<std::string> nodes = nodes_for(point.text("path"), machine);
    return std::make_unique<NetworkSubject>(
        open_world(assignment_of(name(), device, point), static_cast<int>(nodes.size())), carrier_,
        kind_ == Messages::pair ? "pair" : point.text("operation"), ranks_on(point.text("path"), nodes), nodes, device,
        static_cast<std::size_t>(point.integer("size")));
}

}  // namespace roof::parallel
