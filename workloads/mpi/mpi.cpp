// The transport by MPI: what roof_mpi.so exports, as workloads/parallel/mpi_object.hpp asks for it. Gradients go by a communicator of
// their own, so that a reduction may be under way in one thread while another uses the world. Nothing here waits inside MPI: its
// waits take a whole processor, which the step beside needs.
#include "ert/base/error.hpp"

#include "workloads/parallel/communicator.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <thread>
#include <vector>

namespace roof::parallel {
namespace {

constexpr double patience_seconds = 300;

void check(int status, const char* what)
{
    if (status == MPI_SUCCESS) return;
    std::array<char, MPI_MAX_ERROR_STRING> words{};
    int length = 0;
    MPI_Error_string(status, words.data(), &length);
    throw Error(std::string(what) + ": " + words.data());
}

/// Until the request is done. Short ones are worth a processor; in longer ones the thread sleeps between its looks.
void wait_for(MPI_Request request, const char* what)
{
    constexpr int short_looks = 2000;
    const auto begin = std::chrono::steady_clock::now();
    int done = 0;
    for (long looks = 0; done == 0; ++looks) {
        check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), what);
        if (looks < short_looks)
            std::this_thread::yield();
        else
            std::this_thread::sleep_for(std::chrono::microseconds(20));
        if (std::chrono::steady_clock::now() - begin > std::chrono::duration<double>(patience_seconds))
            throw Error(std::string(what) + ": the other ranks did not come");
    }
}

/// Calls each(begin, count) for pieces that MPI's int can count.
template <class Each>
void in_pieces(std::size_t count, const Each& each)
{
    constexpr std::size_t most = std::size_t{1} << 28;
    for (std::size_t begin = 0; begin < count; begin += most)
        each(begin, static_cast<int>(std::min(most, count - begin)));
}

class MpiRank {
  public:
    MpiRank()
    {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &size_);
    }
    ~MpiRank()
    {
        int finished = 0;
        MPI_Finalized(&finished);
        if (finished == 0 && gradients_ != MPI_COMM_NULL) MPI_Comm_free(&gradients_);
    }
    MpiRank(const MpiRank&) = delete;
    MpiRank& operator=(const MpiRank&) = delete;

    int rank() const { return rank_; }
    int size() const { return size_; }

    std::span<float> block(std::size_t count)
    {
        check(MPI_Comm_dup(MPI_COMM_WORLD, &gradients_), "MPI_Comm_dup");
        block_.assign(count, 0);
        return block_;
    }

    void mean(std::span<float> stretch, Reach reach) const
    {
        in_pieces(stretch.size(), [&](std::size_t begin, int count) { add(stretch.data() + begin, count, reach); });
        if (reach == Reach::first && rank_ != 0) return;
        const float share = 1 / static_cast<float>(size_);
        for (float& value : stretch) value *= share;
    }

    void sum(std::span<double> values) const
    {
        MPI_Request request = MPI_REQUEST_NULL;
        check(MPI_Iallreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM,
                             MPI_COMM_WORLD, &request),
              "MPI_Iallreduce");
        wait_for(request, "MPI_Iallreduce");
    }

    void broadcast(std::span<std::byte> bytes, int root) const
    {
        in_pieces(bytes.size(), [&](std::size_t begin, int count) {
            MPI_Request request = MPI_REQUEST_NULL;
            check(MPI_Ibcast(bytes.data() + begin, count, MPI_BYTE, root, MPI_COMM_WORLD, &request), "MPI_Ibcast");
            wait_for(request, "MPI_Ibcast");
        });
    }

  private:
    void add(float* values, int count, Reach reach) const
    {
        MPI_Request request = MPI_REQUEST_NULL;
        if (reach == Reach::all) {
            check(MPI_Iallreduce(MPI_IN_PLACE, values, count, MPI_FLOAT, MPI_SUM, gradients_, &request),
                  "MPI_Iallreduce");
        } else {
            const void* const from = rank_ == 0 ? MPI_IN_PLACE : values;
            check(MPI_Ireduce(from, values, count, MPI_FLOAT, MPI_SUM, 0, gradients_, &request), "MPI_Ireduce");
        }
        wait_for(request, "the mean of gradients by MPI");
    }

    int rank_ = 0;
    int size_ = 1;
    MPI_Comm gradients_ = MPI_COMM_NULL;
    std::vector<float> block_;
};

/// "Open MPI v4.1.4".
std::string library_version()
{
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> words{};
    int length = 0;
    MPI_Get_library_version(words.data(), &length);
    const std::string text(words.data());
    return text.substr(0, text.find_first_of(",\n"));
}

void join_ranks()
{
    int joined = 0;
    MPI_Initialized(&joined);
    if (joined != 0) return;
    int granted = MPI_THREAD_SINGLE;
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &granted), "MPI_Init_thread");
    if (granted != MPI_THREAD_MULTIPLE) throw Error(library_version() + " does not serve several threads at once");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
}

[[noreturn]] void give_up(const std::string& message)
{
    std::cerr << "roof: " << message << '\n';
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::abort();
}

}  // namespace
}  // namespace roof::parallel

extern "C" void roof_mpi_join(roof::parallel::Communicator& to)
{
    using namespace roof::parallel;
    join_ranks();
    const auto mine = std::make_shared<MpiRank>();
    to = {.rank = mine->rank(),
          .size = mine->size(),
          .transport = library_version(),
          .block = [mine](std::size_t count) { return mine->block(count); },
          .mean = [mine](std::span<float> stretch, Reach reach) { mine->mean(stretch, reach); },
          .sum = [mine](std::span<double> values) { mine->sum(values); },
          .broadcast = [mine](std::span<std::byte> bytes, int root) { mine->broadcast(bytes, root); },
          .fail = [](const std::string& message) { give_up(message); },
          .watch = [] {}};  // a rank that gives up ends them all
}

extern "C" void roof_mpi_finish()
{
    MPI_Finalize();
}
