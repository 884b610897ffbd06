// Prototypes and constants are those of nccl.h, unchanged since version 2.10. Machines with the library may lack the
// header.
#include "ert/gpu/nccl.hpp"

#include "ert/base/error.hpp"

namespace roof::gpu {

namespace {

constexpr int type_of_float = 7;
constexpr int operation_sum = 0;

}  // namespace

std::shared_ptr<const Nccl> Nccl::open(const std::vector<std::string>& names)
{
    const std::optional<Library> library = Library::open(names);
    if (!library) return nullptr;
    return std::shared_ptr<const Nccl>(new Nccl(*library));
}

std::string Nccl::version() const
{
    int version = 0;
    if (library_.function<int(int*)>("ncclGetVersion")(&version) != 0) return {};
    return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
           std::to_string(version % 100);
}

Communicator::Communicator(std::shared_ptr<const Nccl> library, const std::vector<int>& devices)
    : library_(std::move(library))
{
    std::vector<ncclComm*> ranks(devices.size());
    const auto create = library_->library_.function<int(ncclComm**, int, const int*)>("ncclCommInitAll");
    check(create(ranks.data(), static_cast<int>(devices.size()), devices.data()), "ncclCommInitAll");
    ranks_ = std::move(ranks);
}

Communicator::~Communicator()
{
    for (ncclComm* const rank : ranks_) library_->library_.function<int(ncclComm*)>("ncclCommDestroy")(rank);
}

void Communicator::enqueue_sum(const std::vector<Rank>& ranks, std::size_t count) const
{
    const Library& library = library_->library_;
    const auto sum =
        library.function<int(const void*, void*, std::size_t, int, int, ncclComm*, cudaStream_t)>("ncclAllReduce");
    // One thread enqueues all ranks. Without a group the first call would wait for the others for ever.
    check(library.function<int()>("ncclGroupStart")(), "ncclGroupStart");
    int status = 0;
    for (std::size_t i = 0; i < ranks_.size() && status == 0; ++i) {
        const Rank& rank = ranks[i];
        status = sum(rank.send, rank.receive, count, type_of_float, operation_sum, ranks_[i], rank.stream);
    }
    const int ended = library.function<int()>("ncclGroupEnd")();
    check(status, "ncclAllReduce");
    check(ended, "ncclGroupEnd");
}

std::shared_ptr<const Communicator> Communicators::on(const std::vector<int>& devices)
{
    std::shared_ptr<const Communicator>& known = known_[devices];
    if (known == nullptr || known->has_failed()) {
        known.reset();  // before the next is made: both would use the same devices
        known = std::make_shared<const Communicator>(library_, devices);
    }
    return known;
}

void Communicator::check(int status, const char* what) const
{
    if (status == 0) return;
    has_failed_ = true;
    const char* const words = library_->library_.function<const char*(int)>("ncclGetErrorString")(status);
    throw Error(std::string(what) + " ended with NCCL status " + std::to_string(status) + ": " + words);
}

}  // namespace roof::gpu
