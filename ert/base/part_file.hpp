// Where this program's shared objects lie: beside the executable in a build, in ../lib/roof of an installed one. Both
// are found from the executable, so that an installation can be moved.
#pragma once

#include <filesystem>
#include <string>

namespace roof {

/// `name` beside the program in `program_folder`, else in ../lib/roof of that folder. Throws Unsupported that names
/// both places if it is in neither.
std::filesystem::path part_file(const std::string& name, const std::filesystem::path& program_folder);

/// The same for the running program.
std::filesystem::path part_file(const std::string& name);

}  // namespace roof
