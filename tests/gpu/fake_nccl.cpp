// An NCCL without GPUs, as strict as the real one about order: the ranks of one process sum within a group, each once, and
// a communicator is not used after its end.
#include <set>

struct ncclComm {
    int ranks;
};

namespace {

constexpr int invalid_argument = 4;
constexpr int invalid_usage = 5;

int made = 0;
int depth = 0;
bool fails_next = false;
std::set<ncclComm*> alive;
std::set<ncclComm*> in_group;

}  // namespace

extern "C" {

int fake_nccl_made()
{
    return made;
}

int fake_nccl_alive()
{
    return static_cast<int>(alive.size());
}

void fake_nccl_fail_next()
{
    fails_next = true;
}

int ncclGetVersion(int* version)
{
    *version = 22809;
    return 0;
}

const char* ncclGetErrorString(int)
{
    return "a failure";
}

int ncclCommInitAll(ncclComm** ranks, int count, const int* devices)
{
    if (count < 1 || std::set<int>(devices, devices + count).size() != static_cast<unsigned>(count))
        return invalid_argument;
    ++made;
    for (int i = 0; i < count; ++i) alive.insert(ranks[i] = new ncclComm{count});
    return 0;
}

int ncclCommDestroy(ncclComm* rank)
{
    if (alive.erase(rank) == 0) return invalid_argument;
    delete rank;
    return 0;
}

int ncclGroupStart()
{
    ++depth;
    return 0;
}

int ncclGroupEnd()
{
    if (depth-- == 0) return invalid_usage;
    const bool whole = in_group.empty() || static_cast<int>(in_group.size()) == (*in_group.begin())->ranks;
    in_group.clear();
    return whole ? 0 : invalid_usage;
}

int ncclAllReduce(const void*, void*, unsigned long, int type, int operation, ncclComm* rank, void*)
{
    if (fails_next) {
        fails_next = false;
        return 1;
    }
    if (alive.count(rank) == 0 || type != 7 || operation != 0) return invalid_argument;
    return depth == 0 || !in_group.insert(rank).second ? invalid_usage : 0;
}
}
