// The kernels that a run's rows launched: a line per row and kernel.
#include "analysis/study/recording.hpp"

#include "analysis/study/data_tables.hpp"
#include "analysis/table/rows.hpp"

namespace roof::analysis {

DataTable kernels_table(const Study& study)
{
    static const std::vector<DataColumn<KernelTotal>> columns{
        {"row", [](const KernelTotal& t) { return text(t.row); }},
        {"category", [](const KernelTotal& t) { return text(t.category); }},
        {"kernel", [](const KernelTotal& t) { return text(t.name); }},
        {"launches", [](const KernelTotal& t) { return Value(t.launches); }},
        {"time_s", [](const KernelTotal& t) { return number(t.seconds); }},
        {"known", [](const KernelTotal&) { return text(name(Known::measured)); }},
    };
    return table_of(columns, kernels_of(study).totals);
}

}  // namespace roof::analysis
