// The MPI transport of roof_mpi.so (workloads/parallel/world.cpp). Gradients use their own communicator, so that
// one thread can reduce while another uses the world. Waits poll with pauses, because MPI's own occupy a processor.
#include "ert/base/error.hpp"
#include "ert/base/wait_limit.hpp"

#include "workloads/parallel/communicator.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace roof::parallel {
namespace {

void check(int status, const char* what)
{
    if (status == MPI_SUCCESS) return;
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    MPI_Error_string(status, text.data(), &length);
    throw Error(std::string(what) + ": " + text.data());
}

/// Which ranks still answer. A rank that waits answers the others' questions; one that ended, froze or lost its node
/// does not.
class Watch {
  public:
    /// MPI has one world in a process, so there is one watch.
    static Watch& over_world()
    {
        static Watch watch;
        return watch;
    }
    /// Once a rank is lost nothing is collective any more.
    bool has_lost() const { return has_lost_; }
    double limit() const { return limit_; }

    void answer() const
    {
        for (int from = arrived(question); from >= 0; from = arrived(question)) put(from, reply);
    }

    /// Asks the other ranks and throws an Error that names those that do not answer.
    [[noreturn]] void give_up(const std::string& what)
    {
        constexpr double seconds_to_answer = 5;
        const std::scoped_lock lock(mutex_);
        if (has_lost_) throw Error(lost_);
        std::vector<bool> answers(hosts_.size(), false);
        answers[static_cast<std::size_t>(rank_)] = true;
        for (int rank = 0; rank < static_cast<int>(answers.size()); ++rank)
            if (rank != rank_) put(rank, question);
        const auto begin = std::chrono::steady_clock::now();
        while (std::chrono::steady_clock::now() - begin < std::chrono::duration<double>(seconds_to_answer)) {
            answer();
            for (int from = arrived(reply); from >= 0; from = arrived(reply))
                answers[static_cast<std::size_t>(from)] = true;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        std::string silent;
        for (std::size_t rank = 0; rank < answers.size(); ++rank)
            if (!answers[rank])
                silent += (silent.empty() ? "rank " : ", rank ") + std::to_string(rank) + " on " + hosts_[rank];
        lost_ = (silent.empty() ? "all ranks answer, but not all came" : "no answer from " + silent) + ": waited " +
                std::to_string(static_cast<int>(limit_)) + " s for " + what;
        has_lost_ = true;
        throw Error(lost_);
    }

  private:
    static constexpr int question = 1;
    static constexpr int reply = 2;

    Watch()
    {
        check(MPI_Comm_dup(MPI_COMM_WORLD, &ranks_), "MPI_Comm_dup");
        int size = 1;
        MPI_Comm_rank(ranks_, &rank_);
        MPI_Comm_size(ranks_, &size);
        limit_ = wait_limit(rank_).value;
        using Name = std::array<char, MPI_MAX_PROCESSOR_NAME>;
        Name own{};
        int length = 0;
        MPI_Get_processor_name(own.data(), &length);
        std::vector<Name> names(static_cast<std::size_t>(size));
        check(MPI_Allgather(own.data(), MPI_MAX_PROCESSOR_NAME, MPI_CHAR, names.data(), MPI_MAX_PROCESSOR_NAME,
                            MPI_CHAR, ranks_),
              "MPI_Allgather");
        for (const Name& name : names) hosts_.emplace_back(name.data());
    }

    /// The rank whose message of that tag has arrived, or -1.
    int arrived(int tag) const
    {
        int found = 0;
        MPI_Message message = MPI_MESSAGE_NULL;
        MPI_Status status;
        MPI_Improbe(MPI_ANY_SOURCE, tag, ranks_, &found, &message, &status);
        if (found == 0) return -1;
        MPI_Mrecv(nullptr, 0, MPI_BYTE, &message, MPI_STATUS_IGNORE);
        return status.MPI_SOURCE;
    }

    void put(int to, int tag) const
    {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Isend(nullptr, 0, MPI_BYTE, to, tag, ranks_, &request);
        if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
    }

    MPI_Comm ranks_ = MPI_COMM_NULL;
    int rank_ = 0;
    double limit_ = 0;
    std::vector<std::string> hosts_;
    std::atomic<bool> has_lost_{false};
    std::mutex mutex_;
    std::string lost_;  ///< why; each row after it has the same reason
};

/// Waits for the request by polling: a few thousand times without a pause, then every 20 microseconds.
void wait_for(MPI_Request request, const char* what)
{
    constexpr long polls_between_answers = 64;
    Watch& watch = Watch::over_world();
    constexpr int polls_without_pause = 2000;
    const auto begin = std::chrono::steady_clock::now();
    int done = 0;
    for (long polls = 0; done == 0; ++polls) {
        check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), what);
        if (polls < polls_without_pause)
            std::this_thread::yield();
        else
            std::this_thread::sleep_for(std::chrono::microseconds(20));
        if (polls % polls_between_answers == 0) watch.answer();
        if (watch.has_lost() || std::chrono::steady_clock::now() - begin > std::chrono::duration<double>(watch.limit()))
            watch.give_up(what);
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
    /// Frees `ranks` at its end, unless it is the world.
    MpiCommunicator(int own_rank, int count, std::string name, MPI_Comm ranks)
        : Communicator(own_rank, count, std::move(name)), ranks_(ranks)
    {
    }
    ~MpiCommunicator() override
    {
        int finished = 0;
        MPI_Finalized(&finished);
        if (finished != 0 || Watch::over_world().has_lost()) return;
        if (gradients_ != MPI_COMM_NULL) MPI_Comm_free(&gradients_);
        if (ranks_ != MPI_COMM_WORLD) MPI_Comm_free(&ranks_);
    }

    std::span<float> block(std::size_t count) override
    {
        check(MPI_Comm_dup(ranks_, &gradients_), "MPI_Comm_dup");
        block_.assign(count, 0);
        return block_;
    }

    void mean(std::span<float> range, Reach reach) override
    {
        if (sums_.size() < range.size()) sums_.resize(range.size());
        in_pieces(range.size(),
                  [&](std::size_t begin, int count) { add(range.data() + begin, sums_.data() + begin, count, reach); });
        if (reach == Reach::first && rank != 0) return;
        const float share = 1 / static_cast<float>(size);
        for (std::size_t i = 0; i < range.size(); ++i) range[i] = share * sums_[i];
    }

    void sum(std::span<double> values) override
    {
        MPI_Request request = MPI_REQUEST_NULL;
        check(MPI_Iallreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM, ranks_,
                             &request),
              "MPI_Iallreduce");
        wait_for(request, "MPI_Iallreduce");
    }

    void broadcast(std::span<std::byte> bytes, int root) override
    {
        in_pieces(bytes.size(), [&](std::size_t begin, int count) {
            MPI_Request request = MPI_REQUEST_NULL;
            check(MPI_Ibcast(bytes.data() + begin, count, MPI_BYTE, root, ranks_, &request), "MPI_Ibcast");
            wait_for(request, "MPI_Ibcast");
        });
    }

    void exchange(std::span<const std::byte> out, int to, std::span<std::byte> in, int from) override
    {
        std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        if (from >= 0)
            check(MPI_Irecv(in.data(), static_cast<int>(in.size()), MPI_BYTE, from, 0, ranks_, requests.data()),
                  "MPI_Irecv");
        if (to >= 0)
            check(MPI_Isend(out.data(), static_cast<int>(out.size()), MPI_BYTE, to, 0, ranks_, requests.data() + 1),
                  "MPI_Isend");
        for (const MPI_Request request : requests) wait_for(request, "a message by MPI");
    }

    std::unique_ptr<Communicator> part(bool takes_part) override
    {
        MPI_Comm ranks = MPI_COMM_NULL;
        check(MPI_Comm_split(ranks_, takes_part ? 0 : MPI_UNDEFINED, rank, &ranks), "MPI_Comm_split");
        if (ranks == MPI_COMM_NULL) return nullptr;
        int own = 0;
        int count = 0;
        MPI_Comm_rank(ranks, &own);
        MPI_Comm_size(ranks, &count);
        return std::make_unique<MpiCommunicator>(own, count, transport, ranks);
    }

    /// Ends all ranks; once a rank is lost rank 0 still writes its row, and roof_mpi_finish() ends them.
    void fail(const std::string& message) override
    {
        if (rank == 0 && Watch::over_world().has_lost()) return;
        std::cerr << "roof: " << message << '\n';
        MPI_Abort(MPI_COMM_WORLD, 1);
        std::abort();
    }
    /// A rank that fails ends all; one that froze does not.
    void watch(Seconds waited, const std::string& what) override
    {
        Watch& ranks = Watch::over_world();
        ranks.answer();
        if (ranks.has_lost() || waited.value > ranks.limit()) ranks.give_up(what);
    }

  private:
    /// Not in place: Open MPI sends sums in place along a tree, whole at each step, and other large ones in a ring of
    /// parts.
    void add(const float* values, float* sums, int count, Reach reach) const
    {
        MPI_Request request = MPI_REQUEST_NULL;
        if (reach == Reach::all)
            check(MPI_Iallreduce(values, sums, count, MPI_FLOAT, MPI_SUM, gradients_, &request), "MPI_Iallreduce");
        else
            check(MPI_Ireduce(values, sums, count, MPI_FLOAT, MPI_SUM, 0, gradients_, &request), "MPI_Ireduce");
        wait_for(request, "the mean of gradients by MPI");
    }

    MPI_Comm ranks_;
    MPI_Comm gradients_ = MPI_COMM_NULL;
    std::vector<float> block_;
    std::vector<float> sums_;
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

/// MPI_Init of Open MPI has two fences, with data and without. Slurm's PMIx plug-in (seen with 22.05) runs them by two
/// methods, and then a rank may pass the second fence while another one waits in the first, which crashes when the
/// message of the former arrives. Without data both fences run by one method. The variable is that of Open MPI; a value
/// that is set already stays.
void keep_fences_in_order()
{
    const bool is_by_srun = std::getenv("PMIX_RANK") != nullptr && std::getenv("SLURM_PROCID") != nullptr;
    if (is_by_srun) setenv("OMPI_MCA_pmix_base_collect_data", "0", 0);
}

void join_ranks()
{
    int joined = 0;
    MPI_Initialized(&joined);
    if (joined != 0) return;
    keep_fences_in_order();
    int granted = MPI_THREAD_SINGLE;
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &granted), "MPI_Init_thread");
    if (granted != MPI_THREAD_MULTIPLE) throw Error(library_version() + " does not serve several threads at once");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    Watch::over_world();
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
    to = std::make_shared<MpiCommunicator>(rank, size, library_version(), MPI_COMM_WORLD);
}

extern "C" void roof_mpi_finish()
{
    if (!roof::parallel::Watch::over_world().has_lost()) {
        MPI_Finalize();
        return;
    }
    std::cout.flush();  // MPI_Abort does not
    MPI_Abort(MPI_COMM_WORLD, 1);
}
