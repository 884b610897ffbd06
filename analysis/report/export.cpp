#include "analysis/report/export.hpp"

#include "analysis/tables/tables.hpp"
#include "ert/base/error.hpp"
#include "ert/method/files.hpp"

namespace roof::analysis {

void write_csv(const Study& study, const std::filesystem::path& folder)
{
    std::error_code failure;
    std::filesystem::create_directories(folder, failure);
    if (failure) throw InputError("cannot make folder '" + folder.string() + "': " + failure.message());
    write_file(folder / "placements.csv", to_csv(placements_table(study)));
    write_file(folder / "ceilings.csv", to_csv(ceilings_table_of(study)));
}

}  // namespace roof::analysis
