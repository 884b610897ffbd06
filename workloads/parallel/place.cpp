#include "workloads/parallel/place.hpp"

#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/text.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>

namespace roof::parallel {

namespace {

std::optional<int> number_in(const char* variable)
{
    const char* const text = std::getenv(variable);
    if (text == nullptr) return std::nullopt;
    const std::string word = text;
    const std::optional<int> number = parse_number<int>(word);
    if (!number) throw InputError(std::string(variable) + ": '" + printable(word) + "' is no whole number");
    return *number;
}

Place checked(const Place& place)
{
    if (place.rank < 0 || place.rank >= place.ranks)
        throw InputError("the environment says this is rank " + std::to_string(place.rank) + " of " +
                         std::to_string(place.ranks));
    if (place.ranks_here < 1 || place.ranks_here > place.ranks || place.rank_here < 0)
        throw InputError("the environment says that " + std::to_string(place.ranks_here) + " of " +
                         std::to_string(place.ranks) + " ranks are on this machine");
    return place;
}

/// Of a step of Slurm; machines may have different numbers of tasks.
int tasks_here(int ranks)
{
    const char* const counts = std::getenv("SLURM_STEP_TASKS_PER_NODE");
    const auto machine = number_in("SLURM_NODEID");
    if (counts != nullptr && machine) return tasks_of_machine(counts, *machine);
    const int machines = number_in("SLURM_STEP_NUM_NODES").value_or(1);
    return (ranks + machines - 1) / machines;
}

/// Started by srun, if its step has an MPI plug-in.
std::optional<Place> place_in_slurm_step()
{
    const auto rank = number_in("SLURM_PROCID");
    const auto ranks = number_in("SLURM_STEP_NUM_TASKS");
    const bool has_mpi = std::getenv("PMIX_RANK") != nullptr || std::getenv("PMI_RANK") != nullptr;
    if (!has_mpi || !rank || !ranks) return std::nullopt;
    return checked({Launcher::mpi, *rank, *ranks, tasks_here(*ranks), number_in("SLURM_LOCALID").value_or(0)});
}

int whole_number(const std::string& text, const std::string& whole)
{
    const int number = parse_number<int>(text).value_or(0);
    if (number < 1) throw InputError("'" + printable(whole) + "' is no list of tasks per machine, as 2(x3),1 is");
    return number;
}

}  // namespace

std::vector<int> cpus_of(int rank, int ranks, const std::vector<int>& all)
{
    const auto count = static_cast<int>(all.size());
    if (count < ranks) return {};
    return {all.begin() + count * rank / ranks, all.begin() + count * (rank + 1) / ranks};
}

int core_of(int cpu)
{
    std::ifstream siblings =
        open_if_there("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list");
    int first = cpu;
    return siblings >> first ? first : cpu;
}

std::vector<int> cores_first(const std::vector<int>& cpus, const std::function<int(int cpu)>& core)
{
    std::map<int, int> taken;  // hardware threads of a core
    std::multimap<int, int> by_turn;
    for (const int cpu : cpus) by_turn.emplace(taken[core(cpu)]++, cpu);
    std::vector<int> order;
    for (const auto& [turn, cpu] : by_turn) order.push_back(cpu);
    return order;
}

int threads_of_rank(int threads, int ranks_here)
{
    return std::max(1, threads / ranks_here);
}

int tasks_of_machine(const std::string& counts, int number)
{
    for (const std::string& group : split(counts, ',')) {
        const std::size_t cut = group.find("(x");
        const int tasks = whole_number(group.substr(0, cut), counts);
        int machines = 1;
        if (cut != std::string::npos) {
            const std::string times = group.substr(cut + 2);
            if (!times.ends_with(')')) throw InputError("'" + printable(counts) + "' is no list of tasks per machine");
            machines = whole_number(times.substr(0, times.size() - 1), counts);
        }
        if (number < machines) return tasks;
        number -= machines;
    }
    throw InputError("'" + printable(counts) + "' lists fewer machines than the job has");
}

std::string remark_on_machines(const Place& place)
{
    if (!place.spans_machines()) return {};
    return std::to_string(place.ranks) + " ranks on several machines, " + std::to_string(place.ranks_here) +
           " on this one: FLOPs, bytes and images are those of all";
}

void check_place(const Place& place, int rank, int ranks)
{
    if (place.rank == rank && place.ranks == ranks) return;
    throw InputError("the environment says that this process is rank " + std::to_string(place.rank) + " of " +
                     std::to_string(place.ranks) + " of MPI, but roof's MPI says rank " + std::to_string(rank) +
                     " of " + std::to_string(ranks) +
                     ": the variables (OMPI_COMM_WORLD_RANK, PMI_RANK, …) are of another job or of another MPI; unset "
                     "them, or start roof by the mpirun of the MPI that it was built with");
}

Place place_of_process()
{
    if (const auto rank = number_in(rank_variable)) {
        const int ranks = number_in(ranks_variable).value_or(0);
        return checked({Launcher::roof, *rank, ranks, ranks, *rank, number_in(memory_variable).value_or(-1)});
    }
    if (const auto ranks = number_in("OMPI_COMM_WORLD_SIZE")) {
        return checked({Launcher::mpi, number_in("OMPI_COMM_WORLD_RANK").value_or(-1), *ranks,
                        number_in("OMPI_COMM_WORLD_LOCAL_SIZE").value_or(*ranks),
                        number_in("OMPI_COMM_WORLD_LOCAL_RANK").value_or(0)});
    }
    if (const auto place = place_in_slurm_step()) return *place;
    const auto rank = number_in("PMI_RANK");
    const auto ranks = number_in("PMI_SIZE");
    if (!rank || !ranks) return {};
    return checked({Launcher::mpi, *rank, *ranks, number_in("MPI_LOCALNRANKS").value_or(*ranks),
                    number_in("MPI_LOCALRANKID").value_or(0)});
}

// The paths that the bench `network` measures, from the nodes of the ranks.

namespace {

constexpr std::size_t most_nodes_with_all_pairs = 16;
constexpr int pairings = 5;

/// The ranks of each node, the nodes in order of their first ranks.
std::vector<std::vector<int>> ranks_of_nodes(const std::vector<std::string>& nodes)
{
    std::map<std::string, std::size_t> place;
    std::vector<std::vector<int>> ranks;
    for (int rank = 0; rank < static_cast<int>(nodes.size()); ++rank) {
        const auto [at, is_new] = place.try_emplace(nodes[static_cast<std::size_t>(rank)], ranks.size());
        if (is_new) ranks.emplace_back();
        ranks[at->second].push_back(rank);
    }
    return ranks;
}

/// The same on every rank: the generator has a fixed seed.
std::set<std::pair<int, int>> pairs_of(std::vector<int> members)
{
    std::set<std::pair<int, int>> pairs;
    const auto add = [&](int a, int b) { pairs.insert(std::minmax(a, b)); };
    if (members.size() <= most_nodes_with_all_pairs) {
        for (std::size_t i = 0; i < members.size(); ++i)
            for (std::size_t k = i + 1; k < members.size(); ++k) add(members[i], members[k]);
        return pairs;
    }
    std::mt19937 random(members.size());
    for (int pairing = 0; pairing < pairings; ++pairing) {
        for (std::size_t i = members.size() - 1; i > 0; --i) std::swap(members[i], members[random() % (i + 1)]);
        for (std::size_t i = 0; i + 1 < members.size(); i += 2) add(members[i], members[i + 1]);
        if (members.size() % 2 == 1) add(members.front(), members.back());
    }
    return pairs;
}

/// 1, 2, 4, … and `most`.
std::vector<std::size_t> doublings(std::size_t most)
{
    std::vector<std::size_t> all;
    for (std::size_t n = 1; n < most; n *= 2) all.push_back(n);
    all.push_back(most);
    return all;
}

}  // namespace

Paths paths_between(const std::vector<std::string>& nodes)
{
    const auto ranks = ranks_of_nodes(nodes);
    std::vector<int> members(nodes.size());
    std::iota(members.begin(), members.end(), 0);
    if (ranks.size() > 1) {
        members.clear();
        for (const std::vector<int>& of_node : ranks) members.push_back(of_node.front());
    }
    Paths paths;
    for (const auto& [a, b] : pairs_of(members)) paths.pairs.push_back(std::to_string(a) + "-" + std::to_string(b));
    std::size_t fewest = nodes.size();
    for (const std::vector<int>& of_node : ranks) fewest = std::min(fewest, of_node.size());
    for (const std::size_t number : doublings(ranks.size()))
        for (const std::size_t each : doublings(fewest))
            if (number * each > 1 && (number > 1 || ranks.size() == 1))
                paths.groups.push_back(std::to_string(number) + "x" + std::to_string(each));
    return paths;
}

std::vector<int> ranks_on(const std::string& path, const std::vector<std::string>& nodes)
{
    const char sign = path.find('x') == std::string::npos ? '-' : 'x';
    const std::vector<std::string> words = split(path, sign);
    const auto number = [&](std::size_t i) { return words.size() == 2 ? parse_number<int>(words[i]) : std::nullopt; };
    const auto first = number(0);
    const auto second = number(1);
    if (!first || !second || *first < 0 || *second < 1)
        throw InputError("path: '" + printable(path) + "' is neither two ranks, 0-1, nor nodes and ranks each, 2x1");
    if (sign == '-') {
        if (*first >= *second || *second >= static_cast<int>(nodes.size()))
            throw InputError("path: " + path + ": there are " + std::to_string(nodes.size()) +
                             " ranks, from 0, and the smaller one is written first");
        return {*first, *second};
    }
    const auto of_nodes = ranks_of_nodes(nodes);
    std::vector<int> ranks;
    for (std::size_t node = 0; node < of_nodes.size() && static_cast<int>(node) < *first; ++node)
        for (std::size_t i = 0; i < of_nodes[node].size() && static_cast<int>(i) < *second; ++i)
            ranks.push_back(of_nodes[node][i]);
    if (static_cast<int>(ranks.size()) != *first * *second || ranks.size() < 2)
        throw InputError("path: " + path + ": there are no " + words[0] + " nodes with " + words[1] + " ranks each");
    std::ranges::sort(ranks);
    return ranks;
}

}  // namespace roof::parallel
