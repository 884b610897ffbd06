#include "ert/base/part_file.hpp"

#include "ert/base/error.hpp"

#include <fmt/format.h>

namespace roof {

namespace fs = std::filesystem;

fs::path part_file(const std::string& name, const fs::path& program_folder)
{
    const fs::path library_folder = (program_folder / "../lib/roof").lexically_normal();
    for (const fs::path& folder : {program_folder, library_folder})
        if (fs::exists(folder / name)) return folder / name;
    throw Unsupported(fmt::format("{} is missing: it is neither in {} nor in {}", name, program_folder.string(),
                                  library_folder.string()));
}

fs::path part_file(const std::string& name)
{
    return part_file(name, fs::read_symlink("/proc/self/exe").parent_path());
}

}  // namespace roof
