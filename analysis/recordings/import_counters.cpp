#include "analysis/recordings/import_counters.hpp"

namespace roof::analysis {

ImportedRow processor_row(const std::string& name, Seconds seconds, const CountedWork& work, Imported& imported)
{
    ImportedRow row;
    row.measurement.bench = "import";
    row.measurement.device = "cpu";
    row.measurement.point.set("model", name);
    if (!work.precision().empty()) row.measurement.point.set("precision", work.precision());
    row.measurement.work.flops = work.total();
    row.measurement.work.known = Known::counter;
    if (const auto memory = work.bytes.find("DRAM"); memory != work.bytes.end())
        row.measurement.work.compulsory = row.measurement.work.no_reuse = memory->second;
    else
        imported.missing.push_back("bytes at DRAM: there is no metric");
    if (seconds.value > 0) row.measurement.seconds = Estimate<Seconds>::of(std::vector<double>{seconds.value});
    imported.missing.insert(imported.missing.end(), work.missing.begin(), work.missing.end());
    return row;
}

CounterRecord step_counter(const std::string& metric, const Metric& value)
{
    return {"cpu", CounterScope::step, {}, {}, {}, {}, metric, value.value, value.unit};
}

}  // namespace roof::analysis
