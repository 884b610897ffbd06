// The MPI transport of roof_mpi.so (workloads/parallel/mpi_object.hpp). Gradients use their own communicator, so that
// one thread can reduce while another uses the world. Waits poll with pauses, because MPI's own occupy a processor.
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

constexpr double wait_limit_seconds = 300;

void check(int status, const char* what)
{
    if (status == MPI_SUCCESS) return;
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    MPI_Error_string(status, text.data(), &length);
    throw Error(std::string(what) + ": " + text.data());
}

/// Waits for the request by polling: a few thousand times without a pause, then every 20 microseconds.
void wait_for(MPI_Request request, const char* what)
{
    constexpr int polls_without_pause = 2000;
    const auto begin = std::chrono::steady_clock::now();
    int done = 0;
    for (long polls = 0; done == 0; ++polls) {
        check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), what);
        if (polls < polls_without_pause)
            std::this_thread::yield();
        else
            std::this_thread::sleep_for(std::chrono::microseconds(20));
        if (std::chrono::steady_clock::now() - begin > std::chrono::duration<double>(wait_limit_seconds))
            throw Error(std::string(what) + ": the other ranks did not come");
    }
}

/// Calls each(begin, count) for pieces whose counts fit into an int.
template <class Each>
void in_pieces(std::size_t count, const Each& each)
{
    constexpr std::size_t most = std::size_t{1} << 28;
    for (std::size_t begin = 0; begin < count; begin += most)
        each(begin, static_cast<int>(std::min(most, count - begin)));
}

class MpiCommunicator : public Communicator {
  public:
    using Communicator::Communicator;
    ~MpiCommunicator() override
    {
        int finished = 0;
        MPI_Finalized(&finished);
        if (finished == 0 && gradients_ != MPI_COMM_NULL) MPI_Comm_free(&gradients_);
    }

    std::span<float> block(std::size_t count) override
    {
        check(MPI_Comm_dup(MPI_COMM_WORLD, &gradients_), "MPI_Comm_dup");
        block_.assign(count, 0);
        return block_;
    }

    void mean(std::span<float> range, Reach reach) override
    {
        in_pieces(range.size(), [&](std::size_t begin, int count) { add(range.data() + begin, count, reach); });
        if (reach == Reach::first && rank != 0) return;
        const float share = 1 / static_cast<float>(size);
        for (float& value : range) value *= share;
    }

    void sum(std::span<double> values) override
    {
        MPI_Request request = MPI_REQUEST_NULL;
        check(MPI_Iallreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM,
                             MPI_COMM_WORLD, &request),
              "MPI_Iallreduce");
        wait_for(request, "MPI_Iallreduce");
    }

    void broadcast(std::span<std::byte> bytes, int root) override
    {
        in_pieces(bytes.size(), [&](std::size_t begin, int count) {
            MPI_Request request = MPI_REQUEST_NULL;
            check(MPI_Ibcast(bytes.data() + begin, count, MPI_BYTE, root, MPI_COMM_WORLD, &request), "MPI_Ibcast");
            wait_for(request, "MPI_Ibcast");
        });
    }

    /// Ends all ranks.
    void fail(const std::string& message) override
    {
        std::cerr << "roof: " << message << '\n';
        MPI_Abort(MPI_COMM_WORLD, 1);
        std::abort();
    }
    void throw_if_failed() override {}  // a failing rank aborts all ranks

  private:
    void add(float* values, int count, Reach reach) const
    {
        MPI_Request request = MPI_REQUEST_NULL;
        if (reach == Reach::all) {
            check(MPI_Iallreduce(MPI_IN_PLACE, values, count, MPI_FLOAT, MPI_SUM, gradients_, &request),
                  "MPI_Iallreduce");
        } else {
            const void* const from = rank == 0 ? MPI_IN_PLACE : values;
            check(MPI_Ireduce(from, values, count, MPI_FLOAT, MPI_SUM, 0, gradients_, &request), "MPI_Ireduce");
        }
        wait_for(request, "the mean of gradients by MPI");
    }

    MPI_Comm gradients_ = MPI_COMM_NULL;
    std::vector<float> block_;
};

/// Returns "Open MPI v4.1.4".
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

}  // namespace
}  // namespace roof::parallel

extern "C" void roof_mpi_join(std::shared_ptr<roof::parallel::Communicator>& to)
{
    using namespace roof::parallel;
    join_ranks();
    int rank = 0;
    int size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    to = std::make_shared<MpiCommunicator>(rank, size, library_version());
}

extern "C" void roof_mpi_finish()
{
    MPI_Finalize();
}
