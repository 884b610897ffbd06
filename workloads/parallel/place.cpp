#include "workloads/parallel/place.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <charconv>
#include <cstdlib>
#include <optional>

namespace roof::parallel {
namespace {

std::optional<int> number_in(const char* variable)
{
    const char* const text = std::getenv(variable);
    if (text == nullptr) return std::nullopt;
    const std::string word = text;
    int number = 0;
    const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc{} || rest != word.data() + word.size())
        throw InputError(std::string(variable) + ": '" + printable(word) + "' is no whole number");
    return number;
}

Place checked(const Place& place)
{
    if (place.ranks < 1 || place.rank < 0 || place.rank >= place.ranks)
        throw InputError("the environment says this is rank " + std::to_string(place.rank) + " of " +
                         std::to_string(place.ranks));
    return place;
}

}  // namespace

Place place_of_process()
{
    if (const auto rank = number_in(rank_variable)) {
        const int ranks = number_in(ranks_variable).value_or(0);
        return checked({Launcher::roof, *rank, ranks, ranks, number_in(memory_variable).value_or(-1)});
    }
    if (const auto ranks = number_in("OMPI_COMM_WORLD_SIZE")) {
        return checked({Launcher::mpi, number_in("OMPI_COMM_WORLD_RANK").value_or(-1), *ranks,
                        number_in("OMPI_COMM_WORLD_LOCAL_SIZE").value_or(*ranks)});
    }
    const auto rank = number_in("SLURM_PROCID");
    const auto ranks = number_in("SLURM_STEP_NUM_TASKS");
    const bool has_mpi = std::getenv("PMIX_RANK") != nullptr || std::getenv("PMI_RANK") != nullptr;
    if (has_mpi && rank && ranks) {
        const int nodes = number_in("SLURM_STEP_NUM_NODES").value_or(1);
        return checked({Launcher::mpi, *rank, *ranks, (*ranks + nodes - 1) / nodes});
    }
    return {};
}

}  // namespace roof::parallel
