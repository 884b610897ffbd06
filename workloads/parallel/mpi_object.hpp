// The transport by MPI, in a shared object beside the program. It is opened only where mpirun or srun started this
// process, so that other runs need no MPI library.
#pragma once

#include "workloads/parallel/communicator.hpp"

#include <memory>

namespace roof::parallel {

/// Over all ranks there are. Joins them the first time it is called. Throws Error where the object, or its library,
/// is not there.
std::shared_ptr<Communicator> mpi_communicator();
/// Ends the use of MPI in this process. Collective.
void finish_mpi();

/// The object's entries; see workloads/mpi.
inline constexpr const char* mpi_object = "roof_mpi.so";
inline constexpr const char* mpi_join_entry = "roof_mpi_join";
inline constexpr const char* mpi_finish_entry = "roof_mpi_finish";
using MpiJoin = void (*)(std::shared_ptr<Communicator>& to);
using MpiFinish = void (*)();

}  // namespace roof::parallel
