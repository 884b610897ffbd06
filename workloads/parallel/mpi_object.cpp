#include "workloads/parallel/mpi_object.hpp"

#include "ert/base/error.hpp"
#include "ert/base/part_file.hpp"

#include <dlfcn.h>

namespace roof::parallel {
namespace {

/// Never closed: communicators keep functions that lie in it.
void* entry(const char* name)
{
    const auto file = part_file(mpi_object);
    void* const handle =
        dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);  // Open MPI opens parts of its own that need its names
    void* const found = handle == nullptr ? nullptr : dlsym(handle, name);
    if (found != nullptr) return found;
    const char* const reason = dlerror();
    throw Error("this process was started as a rank of MPI, but roof's MPI part cannot be opened: " +
                std::string(reason == nullptr ? "no reason given" : reason));
}

}  // namespace

std::shared_ptr<Communicator> mpi_communicator()
{
    std::shared_ptr<Communicator> communicator;
    reinterpret_cast<MpiJoin>(entry(mpi_join_entry))(communicator);
    return communicator;
}

void finish_mpi()
{
    reinterpret_cast<MpiFinish>(entry(mpi_finish_entry))();
}

}  // namespace roof::parallel
