#include "workloads/parallel/network_bench.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/clock.hpp"
#include "ert/method/bench/node.hpp"
#include "workloads/parallel/world.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace roof::parallel {
namespace {

constexpr double seconds_of_launch = 0.004;
constexpr int most_messages = 1000;

class NetworkSubject : public Subject {
  public:
    /// Collective over all ranks; `operation`: pair, ring or allreduce, over `members`.
    NetworkSubject(World world, std::string operation, const std::vector<int>& members, const Machine& machine,
                   std::size_t bytes)
        : world_(std::move(world)),
          operation_(std::move(operation)),
          first_(members.front()),
          members_(static_cast<int>(members.size())),
          bytes_(bytes)
    {
        std::set<std::string> nodes;
        const std::vector<std::string> of_ranks = rank_nodes(machine);
        for (const int rank : members) nodes.insert(of_ranks.at(static_cast<std::size_t>(rank)));
        nodes_ = join(std::vector<std::string>(nodes.begin(), nodes.end()), " ");
        shares_a_node_ = nodes.size() == 1;
        part_ = world_.made_by_all([&] {
            auto part =
                world_.communicator->part(std::ranges::find(members, world_.communicator->rank) != members.end());
            if (part != nullptr) {
                out_ = part->block(bytes / sizeof(float));
                in_.resize(operation_ == "allreduce" ? 0 : out_.size());
            }
            return part;
        });
        fill();
        run(2);  // connects
        agree(*world_.communicator, is_right() ? nullptr : std::make_exception_ptr(Error(wrong_values())));
        const double once = run(2) / 2;
        messages_ = static_cast<int>(std::clamp(std::ceil(seconds_of_launch / once), 1.0, double{most_messages}));
        fill();
    }

    /// All ranks free `part_`, which may wait for the others.
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
        world_.launch();
        trace.took({run(messages_)});
    }

    void check() override
    {
        if (!is_right()) throw Error(wrong_values());
    }

    std::string variant() const override { return nodes_ + ", " + world_.communicator->transport; }

    std::vector<std::string> remarks() const override
    {
        if (shares_a_node_) return {"ranks on one node: their messages cross its memory, not a network"};
        return {};
    }

    Bytes memory() const override { return {2 * static_cast<double>(bytes_)}; }

  private:
    std::string wrong_values() const { return operation_ + " delivered other values than were sent"; }

    /// Each member sends its number, from 1.
    bool is_right() const
    {
        if (part_ == nullptr) return true;
        const bool reduces = operation_ == "allreduce";
        const int from = (part_->rank + members_ - 1) % members_;
        const float wanted = reduces ? 0.5F * static_cast<float>(members_ + 1) : static_cast<float>(from + 1);
        const auto is_near = [&](float value) { return std::abs(value - wanted) <= 1e-4F * wanted; };
        return std::ranges::all_of(reduces ? std::span<const float>(out_) : std::span<const float>(in_), is_near);
    }

    void fill()
    {
        if (part_ != nullptr) std::ranges::fill(out_, static_cast<float>(part_->rank + 1));
    }

    void message()
    {
        Communicator& members = *part_;
        if (operation_ == "allreduce") return members.mean(out_, Reach::all);
        const auto out = std::as_bytes(out_);
        const auto in = std::as_writable_bytes(std::span(in_));
        if (operation_ == "ring")
            return members.exchange(out, (members.rank + 1) % members_, in, (members.rank + members_ - 1) % members_);
        const int other = 1 - members.rank;
        if (members.rank == 0) members.exchange(out, other, {}, -1);
        members.exchange({}, -1, in, other);
        if (members.rank == 1) members.exchange(out, other, {}, -1);
    }

    /// Seconds on the first member. Collective over all ranks: they begin together, and learn the time.
    double run(int messages)
    {
        double seconds = 0;
        if (part_ != nullptr) {
            double none = 0;
            part_->sum({&none, 1});
            const Seconds begin = clock_();
            for (int i = 0; i < messages; ++i) message();
            seconds = (clock_() - begin).value;
        }
        world_.communicator->broadcast(std::as_writable_bytes(std::span(&seconds, 1)), first_);
        return seconds;
    }

    World world_;
    std::string operation_;
    int first_;
    int members_;
    std::size_t bytes_;
    std::string nodes_;
    bool shares_a_node_ = false;
    std::unique_ptr<Communicator> part_;
    std::span<float> out_;  ///< of `part_`
    std::vector<float> in_;
    int messages_ = 1;
    Clock clock_ = steady_clock();
};

}  // namespace

NetworkBench::NetworkBench(Messages kind)
    : Bench(kind == Messages::pair
                ? BenchTraits{"network_pair", Role::bandwidth, "cpu",
                              "Two ranks send each other a message in turns: bytes of a message over half of a round "
                              "trip."}
                : BenchTraits{"network", Role::bandwidth, "cpu",
                              "What each rank sends over the time: in a ring, where each rank sends to the next one, "
                              "or in "
                              "the all-reduce of training (the message times 2(n-1)/n for n ranks)."}),
      kind_(kind)
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
        all.push_back({.name = "operation",
                       .meaning = "ring: to the next rank; allreduce: the mean of gradients",
                       .defaults = {"ring", "allreduce"},
                       .allowed = {"ring", "allreduce"}});
    all.push_back({.name = "path",
                   .meaning = kind_ == Messages::pair ? "the two ranks" : "nodes and ranks on each",
                   .defaults = kind_ == Messages::pair ? or_else(paths.pairs, "0-1") : or_else(paths.groups, "2x1"),
                   .allowed = {}});
    all.push_back({.name = "size",
                   .meaning = "bytes of a message, a multiple of 4",
                   .defaults = {"64", "4096", "65536", "1048576", "4194304", "16777216"},
                   .allowed = {},
                   .numeric = true,
                   .min = 4,
                   .max = 1LL << 30});
    return all;
}

std::optional<std::string> NetworkBench::unsupported_reason(const Point& point, const Machine& machine,
                                                            const Device&) const
{
    if (point.integer("size") % 4 != 0) throw InputError("size: " + point.text("size") + " is no multiple of 4");
    if (place_of_process().launcher != Launcher::mpi || rank_nodes(machine).size() < 2)
        return "messages between ranks need several that mpirun or srun starts: mpirun -n 2 roof …";
    const bool is_group = point.text("path").find('x') != std::string::npos;
    if (is_group != (kind_ == Messages::group))
        throw InputError("path: " + point.text("path") + ": " + name() + " takes " + (is_group ? "0-1" : "2x1"));
    ranks_on(point.text("path"), rank_nodes(machine));
    return std::nullopt;
}

std::unique_ptr<Subject> NetworkBench::create(const Point& point, const Machine& machine, const Device& device) const
{
    return std::make_unique<NetworkSubject>(
        open_world(assignment_of(name(), device, point), static_cast<int>(rank_nodes(machine).size())),
        kind_ == Messages::pair ? "pair" : point.text("operation"), ranks_on(point.text("path"), rank_nodes(machine)),
        machine, static_cast<std::size_t>(point.integer("size")));
}

}  // namespace roof::parallel
