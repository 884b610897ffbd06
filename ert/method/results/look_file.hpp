// The looks at a machine's ceilings (ert/method/ceilings/looks.hpp): looks-<identity>.csv beside its results folders,
// one file for each machine, and looks.csv in each of them, a copy of when its run ended, so that one copied folder
// carries all that its numbers need.
//   time_utc,time_s,run,machine,state,kind,device,level,operation,precision,isa,condition,threads,working_set_low,…,point,…,rounds,block_checksum
// A look is a block of lines, one for each ceiling. `run`, `machine` and `state` stand in the first of them. `rate`:
// the low end of its interval by this look alone. `rounds`: samples in units of a ten-thousandth of that, as
// "<clock in Hz>:9998 10001d 9990l;…"; d: disturbed, x: left out, l: late in their row.
#pragma once

#include "ert/method/bench/machine.hpp"
#include "ert/method/ceilings/ceiling.hpp"

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace roof {

/// Bytes of a file of looks; beyond them the second look goes, and the first and the newest stay.
inline constexpr std::size_t largest_looks = std::size_t{512} << 10;

struct Looks {
    std::vector<Look> seen;  ///< in order of time
    /// What was passed over, lines that are damaged or of another machine: sentences that begin with a file; and the
    /// last change of the machine's state, with its date.
    std::vector<std::string> remarks{};

    long long newest() const { return seen.empty() ? 0 : seen.back().time; }
};

/// The file of this machine in `home`. Its name is made of identity_of(), which has no container's random name.
std::filesystem::path looks_file_of(const std::filesystem::path& home, const Machine& machine);

/// The looks in these files, of which some may be missing.
Looks looks_in(const std::vector<std::filesystem::path>& files, const Machine& machine);

/// The looks in the folder and beside it. None where it has no copy: older versions judged calibrations alone.
Looks looks_at(const std::filesystem::path& folder, const Machine& machine);

/// Adds a look at these ceilings to the machine's file in `home`, under the folder's lock, and copies the file into the
/// run's folder. The first look makes the file only if `is_home`; else the run's folder alone has it. Without ceilings
/// the file is only copied. Emulated rates and paths between devices are left out. A look of the same run and time is
/// replaced: the run went on. Throws InputError, such as for a file that is of another version.
void add_look(const std::filesystem::path& folder, const std::filesystem::path& home, bool is_home,
              const Machine& machine, std::span<const Ceiling> ceilings, long long time);

}  // namespace roof
