// libnccl.so.2 on emulated GPUs, with the calls that the program uses. As strict as the real one: what it would refuse is
// refused with its status, and what would hang or give junk there is a fault of the device: ranks that call different
// collectives, and memory or streams of another device. The sums are done on the host when the stream reaches them.
#include "tests/emulated_gpu/nccl/meeting.hpp"
#include "tests/emulated_gpu/runtime/machine.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <set>
#include <stdexcept>
#include <thread>

using namespace roof::emulated;

struct ncclComm {
    std::unique_ptr<Meeting> meeting;
    int device = 0;
    bool is_grouped = false;  ///< one of several ranks of this thread
    std::shared_ptr<bool> is_aborted = std::make_shared<bool>(false);
};

namespace {

enum Status { success = 0, internal_error = 3, invalid_argument = 4, invalid_usage = 5, remote_error = 6 };
enum Kind { all_reduce, reduce, broadcast, message };
constexpr int bytes_type = 0, fp16_type = 6, fp32_type = 7, bf16_type = 9;
constexpr int sum_operation = 0, mean_operation = 4;
constexpr std::chrono::seconds patience{60};

struct UniqueId {
    std::array<char, 128> name;
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
int depth = 0;
std::vector<Call> of_group;

std::size_t bytes_of_type(int type)
{
    return type == fp32_type ? 4 : type == bytes_type ? 1 : 2;
}

double number(int type, const std::byte* at)
{
    const auto as = [at]<class T>(T value) {
        std::memcpy(&value, at, sizeof(value));
        return value;
    };
    return type == fp32_type ? as(f32{}) : type == fp16_type ? widen(as(f16{})) : widen(as(bf16{}));
}

void put(int type, std::byte* at, double value)
{
    const auto store = [at](auto stored) { std::memcpy(at, &stored, sizeof(stored)); };
    if (type == fp32_type)
        store(static_cast<f32>(value));
    else if (type == fp16_type)
        store(narrow<f16>(value));
    else
        store(narrow<bf16>(value));
}

std::vector<std::byte> result_of(const Meeting& meeting, const Collective& what)
{
    if (what.kind == broadcast) return meeting.bytes_of(what.root);
    std::vector<double> sums(what.count);
    const std::size_t size = bytes_of_type(what.type);
    std::vector<std::byte> bytes;
    for (int rank = 0; rank < meeting.ranks(); ++rank) {
        bytes = meeting.bytes_of(rank);
        for (std::size_t i = 0; i < what.count; ++i) sums[i] += number(what.type, bytes.data() + i * size);
    }
    const double share = what.operation == mean_operation ? 1.0 / meeting.ranks() : 1;
    for (std::size_t i = 0; i < what.count; ++i) put(what.type, bytes.data() + i * size, share * sums[i]);
    return bytes;
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

/// First a rank says what it has; when all have, it reads the others'. Messages, too, wait for all ranks: those of the program go from all to
/// all, or between two that are alone.
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
    machine.enqueue(
        in, {.run =
                 [=, what = what, send = send](double&) {
                     if (*is_aborted) return;
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
                                 const std::vector<std::byte> result = !is_message ? result_of(*meeting, what)
                                                                       : takes     ? meeting->bytes_of(from)
                                                                                   : std::vector<std::byte>();
                                 if (takes) std::memcpy(receive, result.data(), result.size());
                                 meeting->has_read();
                                 seconds += seconds_of(roof::emulated::machine().device(device).card, *meeting, bytes);
                             },
                         .is_ready = [=] { return *is_aborted || meeting->has_heard(); },
                         .awaits_others = true});
}

bool is_memory_of(const void* memory, std::size_t bytes, int device)
{
    const auto range = machine().memory().find(reinterpret_cast<std::uintptr_t>(memory), bytes);
    return range.begin < range.end && range.device == device;
}

int call(const Call& what)
{
    if (!alive.contains(what.comm)) return invalid_argument;
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
    enqueue(what);
    return success;
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
    for (const Call& each : of_group) enqueue(each);
    return success;
}

std::string host()
{
    const char* const named = std::getenv("NCCL_HOSTID");
    return named == nullptr ? "" : named;
}

template <class Condition>
bool wait_for(const Condition& condition)
{
    const auto end = std::chrono::steady_clock::now() + patience;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    return true;
}

}  // namespace

extern "C" {

int ncclGetVersion(int* version)
{
    *version = 22809;
    return success;
}

const char* ncclGetErrorString(int status)
{
    switch (status) {
        case success:
            return "no error";
        case invalid_argument:
            return "invalid argument (emulated)";
        case invalid_usage:
            return "invalid usage (emulated)";
        case remote_error:
            return "remote process exited or there was a network error (emulated)";
        default:
            return "internal error (emulated)";
    }
}

int ncclGetUniqueId(UniqueId* id)
{
    const std::string name = Meeting::make();
    *id = {};
    std::memcpy(id->name.data(), name.data(), name.size());
    return success;
}

int ncclCommInitRank(ncclComm** comm, int ranks, UniqueId id, int rank)
{
    try {
        auto made = std::make_unique<ncclComm>();
        made->device = current_device();
        made->meeting = std::make_unique<Meeting>(id.name.data(), ranks, rank, made->device, host());
        if (!wait_for([&] { return made->meeting->is_complete(); })) return remote_error;
        made->meeting->begin();
        if (made->meeting->shares_device()) return invalid_usage;
        alive.insert(*comm = made.release());
        return success;
    } catch (const std::invalid_argument&) {
        return invalid_argument;
    } catch (const std::exception&) {
        return internal_error;
    }
}

int ncclCommInitAll(ncclComm** comms, int count, const int* devices)
{
    const std::set<int> different(devices, devices + std::max(count, 0));
    if (count < 1 || different.size() != static_cast<std::size_t>(count)) return invalid_argument;
    if (*different.begin() < 0 || *different.rbegin() >= machine().count()) return invalid_argument;
    const std::string name = Meeting::make();
    for (int rank = 0; rank < count; ++rank) {
        comms[rank] = new ncclComm;  // freed by ncclCommDestroy
        comms[rank]->device = devices[rank];
        comms[rank]->is_grouped = count > 1;
        comms[rank]->meeting = std::make_unique<Meeting>(name, count, rank, devices[rank], host());
        alive.insert(comms[rank]);
    }
    for (int rank = 0; rank < count; ++rank) comms[rank]->meeting->begin();
    return success;
}

/// Waits for the work of its device, and for the ranks of other processes, as the real one does.
int ncclCommDestroy(ncclComm* comm)
{
    if (alive.erase(comm) == 0) return invalid_argument;
    machine().finish_device(comm->device);
    comm->meeting->leave(false);
    const bool are_gone = wait_for([comm] { return comm->meeting->is_alone(); });
    delete comm;
    return are_gone ? success : remote_error;
}

int ncclCommAbort(ncclComm* comm)
{
    if (alive.erase(comm) == 0) return invalid_argument;
    *comm->is_aborted = true;
    comm->meeting->leave(true);
    machine().finish_device(comm->device);
    delete comm;
    return success;
}

int ncclCommGetAsyncError(ncclComm* comm, int* status)
{
    if (!alive.contains(comm)) return invalid_argument;
    *status = comm->meeting->has_abort() ? remote_error : success;
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
