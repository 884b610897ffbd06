// libnccl.so.2 on emulated GPUs, with the calls that the program uses. As strict as the real one: what it would refuse
// is refused with its status, and what would hang or give junk there is a fault of the device: ranks that call
// different collectives, and memory or streams of another device. The host sums when the stream reaches the call.
#include "tests/emulated_gpu/nccl/meeting.hpp"
#include "tests/emulated_gpu/nccl/sums.hpp"
#include "tests/emulated_gpu/runtime/machine.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <stdexcept>
#include <thread>

using namespace roof::emulated;

enum Status {
    success = 0,
    internal_error = 3,
    invalid_argument = 4,
    invalid_usage = 5,
    remote_error = 6,
    in_progress = 7
};

struct ncclComm {
    std::unique_ptr<Meeting> meeting;
    int device = 0;
    bool is_grouped = false;  ///< one of several ranks of this thread
    bool waits = false;       ///< its calls return when they are over
    bool is_finalized = false;
    Status state = success;
    std::function<Status()> job;  ///< while the state is in_progress
    std::shared_ptr<bool> is_aborted = std::make_shared<bool>(false);
};

namespace {

struct UniqueId {
    std::array<char, 128> name;
};

/// Of version 2.14, with which later ones begin.
struct Config {
    std::size_t size;
    unsigned magic, version;
    int blocking;
};

struct Call {
    ncclComm* comm;
    Collective what;
    const void* send;
    void* receive;
    cudaStream_t stream;
    int from = -1;  ///< of a message, whose root is the rank that it goes to; -1: none
};

std::set<ncclComm*> alive;
/// Where a group's communicators go at its end: as up to 2.17, the caller's place is kept until then.
std::vector<std::pair<ncclComm**, ncclComm*>> of_init;
int depth = 0;
std::vector<Call> of_group;

/// Does what a call asks for: now, or where its communicators do not wait, when they are asked for their state the
/// second time, so that what the program does before that comes before it.
int later(const std::vector<ncclComm*>& comms, const std::function<Status()>& work)
{
    if (comms.front()->waits) {
        Status status = work();
        for (; status == in_progress; status = work()) std::this_thread::sleep_for(std::chrono::microseconds(100));
        return status;
    }
    const auto looks = std::make_shared<int>(0);
    const auto status = std::make_shared<Status>(in_progress);
    for (ncclComm* const comm : comms) {
        comm->state = in_progress;
        comm->job = [=] {
            if (*status == in_progress && ++*looks > 1) *status = work();
            return *status;
        };
    }
    return in_progress;
}

/// A communicator is not used before its last call is over, and not after a failure.
bool is_usable(ncclComm* comm)
{
    return alive.contains(comm) && comm->state == success;
}

/// Of a ring.
double seconds_of(const Card& card, const Meeting& meeting, std::size_t bytes)
{
    const double sent = 2.0 * (meeting.ranks() - 1) / meeting.ranks() * static_cast<double>(bytes);
    return (card.launch_cycles + sent / card.link_bytes_per_cycle) / card.clock_hz;
}

/// Whether the two belong together. `rank`: who calls the first.
bool fit(const Collective& own, int rank, int from, const Collective& other, int other_rank)
{
    if (own.kind != message) return own == other;
    const bool sends_here = other.root == rank;
    return other.kind == message && other.count == own.count && sends_here == (other_rank == from);
}

/// First a rank says what it has; when all have, it reads the others'. Messages, too, wait for all ranks: those of the
/// program go from all to all, or between two that are alone.
void enqueue(const Call& call)
{
    const auto [comm, what, send, receive, stream, from] = call;
    Machine& machine = roof::emulated::machine();
    const std::lock_guard lock(machine.mutex());
    Stream& in = machine.stream(stream, comm->device);
    Meeting* const meeting = comm->meeting.get();
    const std::shared_ptr<bool> is_aborted = comm->is_aborted;
    const std::size_t bytes = what.count * bytes_of_type(what.type);
    const bool is_message = what.kind == message;
    const bool says = is_message ? what.root >= 0 : what.kind != broadcast || meeting->rank() == what.root;
    const bool takes = is_message ? from >= 0 : what.kind != reduce || meeting->rank() == what.root;
    const std::string place = in.capture == nullptr ? "run" : "graph";
    const auto hangs = std::make_shared<bool>(false);
    machine.enqueue(
        in, {.run =
                 [=, what = what, send = send](double&) {
                     if (*is_aborted) return;
                     *hangs = has_accident(place, meeting->rank());
                     const auto* const begin = static_cast<const std::byte*>(send);
                     meeting->say(what, says ? std::vector<std::byte>(begin, begin + bytes) : std::vector<std::byte>());
                 },
             .is_ready = [=] { return *is_aborted || meeting->may_say(); },
             .awaits_others = true});
    machine.enqueue(in, {.run =
                             [=, what = what, receive = receive, from = from, device = comm->device](double& seconds) {
                                 if (*is_aborted) return;
                                 for (int rank = 0; rank < meeting->ranks(); ++rank) {
                                     if (!fit(what, meeting->rank(), from, meeting->said_by(rank), rank))
                                         throw Fault(Fault::Kind::launch, "NCCL: the ranks call different collectives");
                                 }
                                 std::vector<std::byte> result = !is_message ? result_of(*meeting, what)
                                                                 : takes     ? meeting->bytes_of(from)
                                                                             : std::vector<std::byte>();
                                 if (has_accident(place, meeting->rank(), "wrong"))
                                     result[bytes_of_type(what.type) - 1] ^= std::byte{0x80};
                                 if (takes && !has_accident(place, meeting->rank(), "lost"))
                                     std::memcpy(receive, result.data(), result.size());
                                 meeting->has_read();
                                 seconds += seconds_of(roof::emulated::machine().device(device).card, *meeting, bytes);
                             },
                         .is_ready = [=] { return *is_aborted || (!*hangs && meeting->has_heard()); },
                         .awaits_others = true});
}

bool is_memory_of(const void* memory, std::size_t bytes, int device)
{
    const auto range = machine().memory().find(reinterpret_cast<std::uintptr_t>(memory), bytes);
    return range.begin < range.end && range.device == device;
}

int call(const Call& what)
{
    if (!is_usable(what.comm)) return invalid_argument;
    const ncclComm& comm = *what.comm;
    const Collective& asked = what.what;
    const std::set<int> types{bytes_type, fp16_type, fp32_type, bf16_type};
    const int peer = asked.kind == message && what.from >= 0 ? what.from : asked.root;
    if (!types.contains(asked.type) || peer < 0 || peer >= comm.meeting->ranks()) return invalid_argument;
    const bool adds = asked.kind == all_reduce || asked.kind == reduce;
    if (adds && asked.operation != sum_operation && asked.operation != mean_operation) return invalid_argument;
    if (adds && asked.type == bytes_type) return invalid_argument;
    if (asked.count == 0) return success;
    const std::lock_guard lock(machine().mutex());
    const std::size_t bytes = asked.count * bytes_of_type(asked.type);
    const bool is_message = asked.kind == message;
    const bool says = !is_message || asked.root >= 0;
    const bool takes = is_message ? what.from >= 0 : asked.kind != reduce || comm.meeting->rank() == asked.root;
    if (says && !is_memory_of(what.send, bytes, comm.device)) return invalid_argument;
    if (takes && !is_memory_of(what.receive, bytes, comm.device)) return invalid_argument;
    if (what.stream != nullptr && machine().stream(what.stream, comm.device).device != comm.device)
        return invalid_usage;
    if (depth > 0) {
        of_group.push_back(what);
        return success;
    }
    if (comm.is_grouped) return invalid_usage;  // the real one would wait for the other ranks for ever
    const bool hangs = has_accident("call", comm.meeting->rank());
    return later({what.comm}, [what, hangs] {
        if (!hangs) enqueue(what);
        return hangs ? in_progress : success;
    });
}

long calls_of(const ncclComm& comm)
{
    return std::count_if(of_group.begin(), of_group.end(), [&](const Call& each) { return each.comm == &comm; });
}

/// What a rank sends and what it receives in a group are one message each way.
void join_messages()
{
    std::vector<Call> joined;
    for (const Call& each : of_group) {
        const auto other = std::find_if(joined.begin(), joined.end(), [&](const Call& earlier) {
            const bool sends_twice = (earlier.what.root >= 0) == (each.what.root >= 0);
            return earlier.comm == each.comm && earlier.what.kind == message && each.what.kind == message &&
                   !sends_twice;
        });
        if (other == joined.end()) {
            joined.push_back(each);
        } else if (each.from >= 0) {
            other->from = each.from;
            other->receive = each.receive;
        } else {
            other->what.root = each.what.root;
            other->send = each.send;
        }
    }
    of_group = joined;
}

/// All ranks of a thread take part in what it calls in a group, each as often.
int call_group()
{
    join_messages();
    for (const Call& each : of_group) {
        if (!each.comm->is_grouped) continue;
        for (const ncclComm* const other : alive) {
            if (other->meeting->name() == each.comm->meeting->name() && calls_of(*other) != calls_of(*each.comm))
                return invalid_usage;
        }
    }
    std::vector<ncclComm*> comms;
    for (const Call& each : of_group) comms.push_back(each.comm);
    if (comms.empty()) return success;
    for (const ncclComm* const comm : comms) {
        if (comm->waits != comms.front()->waits) return invalid_argument;
    }
    return later(comms, [calls = of_group] {
        bool hangs = false;
        for (const Call& each : calls) hangs |= has_accident("call", each.comm->meeting->rank());
        if (hangs) return in_progress;
        for (const Call& each : calls) enqueue(each);
        return success;
    });
}

std::string host()
{
    const char* const named = std::getenv("NCCL_HOSTID");
    return named == nullptr ? "" : named;
}

/// As from 2.30 on.
bool may_share_device()
{
    const char* const said = std::getenv("NCCL_MULTI_RANK_GPU_ENABLE");
    return said != nullptr && std::string(said) == "1";
}

}  // namespace

extern "C" {

int ncclGetVersion(int* version)
{
    *version = 23007;
    return success;
}

const char* ncclGetErrorString(int status)
{
    return status == success            ? "no error"
           : status == invalid_argument ? "invalid argument (emulated)"
           : status == invalid_usage    ? "invalid usage (emulated)"
           : status == remote_error     ? "remote process exited or there was a network error (emulated)"
                                        : "internal error (emulated)";
}

int ncclGetUniqueId(UniqueId* id)
{
    const std::string name = Meeting::make();
    *id = {};
    std::memcpy(id->name.data(), name.data(), name.size());
    return success;
}

/// A communicator that waits is made by one rank of a process: in a group only those that do not wait are.
int ncclCommInitRankConfig(ncclComm** comm, int ranks, UniqueId id, int rank, const Config* config)
{
    if (config == nullptr || config->size < sizeof(Config) || config->magic != 0xcafebeef || config->version < 21400)
        return invalid_argument;
    if (config->blocking != 0 && config->blocking != 1) return invalid_argument;
    try {
        auto made = std::make_unique<ncclComm>();
        made->device = current_device();
        made->waits = config->blocking == 1;
        made->is_grouped = depth > 0 && ranks > 1;
        if (made->waits && made->is_grouped) return invalid_usage;
        made->meeting = std::make_unique<Meeting>(id.name.data(), ranks, rank, made->device, host());
        const bool hangs = has_accident("init", rank);
        ncclComm* const own = made.release();
        alive.insert(own);
        *comm = depth > 0 ? nullptr : own;
        if (depth > 0) of_init.emplace_back(comm, own);
        return later({own}, [own, hangs] {
            if (hangs || !own->meeting->is_complete()) return in_progress;
            own->meeting->begin();
            return own->meeting->shares_device() && !may_share_device() ? invalid_usage : success;
        });
    } catch (const std::invalid_argument&) {
        return invalid_argument;
    } catch (const std::exception&) {
        return internal_error;
    }
}

/// Over when the ranks of other processes leave, too.
int ncclCommFinalize(ncclComm* comm)
{
    if (!is_usable(comm) || comm->is_finalized) return invalid_argument;
    comm->is_finalized = true;
    const bool hangs = has_accident("leave", comm->meeting->rank());
    if (!hangs) comm->meeting->leave(false);
    return later({comm}, [comm, hangs] { return !hangs && comm->meeting->is_alone() ? success : in_progress; });
}

/// Without ncclCommFinalize() before it, it would wait for the ranks of other processes for ever.
int ncclCommDestroy(ncclComm* comm)
{
    if (!is_usable(comm) || !comm->is_finalized) return invalid_argument;
    machine().finish_device(comm->device);
    alive.erase(comm);
    delete comm;
    return success;
}

int ncclCommAbort(ncclComm* comm)
{
    if (alive.erase(comm) == 0) return invalid_argument;
    *comm->is_aborted = true;
    comm->meeting->leave(true);
    delete comm;
    return success;
}

int ncclCommGetAsyncError(ncclComm* comm, int* status)
{
    if (!alive.contains(comm)) return invalid_argument;
    if (comm->state == in_progress) comm->state = comm->job();
    *status = comm->state != success ? comm->state : comm->meeting->has_abort() ? remote_error : success;
    return success;
}

int ncclGroupStart()
{
    ++depth;
    return success;
}

int ncclGroupEnd()
{
    if (depth == 0) return invalid_usage;
    if (--depth > 0) return success;
    for (const auto& [place, made] : of_init) *place = made;
    of_init.clear();
    const int status = call_group();
    of_group.clear();
    return status;
}

int ncclAllReduce(const void* send, void* receive, std::size_t count, int type, int operation, ncclComm* comm,
                  cudaStream_t stream)
{
    return call({comm, {all_reduce, type, operation, 0, count}, send, receive, stream});
}

int ncclReduce(const void* send, void* receive, std::size_t count, int type, int operation, int root, ncclComm* comm,
               cudaStream_t stream)
{
    return call({comm, {reduce, type, operation, root, count}, send, receive, stream});
}

int ncclBroadcast(const void* send, void* receive, std::size_t count, int type, int root, ncclComm* comm,
                  cudaStream_t stream)
{
    return call({comm, {broadcast, type, 0, root, count}, send, receive, stream});
}

int ncclSend(const void* send, std::size_t count, int type, int to, ncclComm* comm, cudaStream_t stream)
{
    return call({comm, {message, type, 0, to, count}, send, nullptr, stream});
}

int ncclRecv(void* receive, std::size_t count, int type, int from, ncclComm* comm, cudaStream_t stream)
{
    return call({comm, {message, type, 0, -1, count}, nullptr, receive, stream, from});
}
}
