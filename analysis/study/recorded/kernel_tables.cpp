// Kernels of a run: by category, and with counted work.
#include "analysis/study/recorded/counted_kernels.hpp"
#include "analysis/study/recorded/recorded_rows.hpp"
#include "analysis/study/tables.hpp"
#include "analysis/table/quantities.hpp"
#include "ert/base/text.hpp"
#include "ert/recording/record_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace roof::analysis {
namespace {

constexpr std::size_t most_kernels = 20;  ///< people see at most this many of a row

Bytes bytes_at(const CountedWork& work, const std::string& level)
{
    const auto found = work.bytes.find(level);
    return found == work.bytes.end() ? Bytes{} : found->second;
}

Cell bytes_cell(const CountedWork& work, const std::string& level)
{
    return only_if(work.bytes.contains(level), amount(bytes_at(work, level).value, "B"));
}

Cell counted_flops(const CountedWork& work)
{
    return only_if(!work.flops.empty(), amount(work.total().value, "FLOP"));
}

struct Category {
    std::string name;
    const Measurement* row;
    std::string device;
    double seconds = 0;
    std::size_t launches = 0;
    double share = 0;  ///< share of the device's kernel time

    bool is_too_much_unclassified() const { return name == no_category && share > most_unclassified; }
};

/// Categories by row and device; unclassified kernels first, then the longest.
std::vector<Category> categories_of(const Study& study)
{
    const RowsById rows(study);
    std::map<std::pair<std::string, std::string>, std::map<std::string, Category>> devices;
    for (const KernelTotal& total : kernels_of(study).digest.totals) {
        const Measurement* const row = rows.find(total.row);
        if (row == nullptr) continue;
        const std::string name = total.category + (total.algorithm.empty() ? "" : ", " + total.algorithm);
        auto& categories = devices[{total.row, total.device}];
        Category& category =
            categories.try_emplace(name, Category{name, row, total.device.empty() ? row->device : total.device})
                .first->second;
        category.seconds += total.seconds;
        category.launches += total.launches;
    }
    std::vector<Category> all;
    for (const auto& [key, categories] : devices) {
        double sum = 0;
        for (const auto& [name, category] : categories) sum += category.seconds;
        const std::size_t begin = all.size();
        for (const auto& [name, category] : categories) {
            all.push_back(category);
            all.back().share = sum > 0 ? category.seconds / sum : 0;
        }
        std::stable_sort(all.begin() + static_cast<std::ptrdiff_t>(begin), all.end(),
                         [](const Category& a, const Category& b) {
                             const bool a_first = a.name == no_category, b_first = b.name == no_category;
                             return a_first != b_first ? a_first : a.seconds > b.seconds;
                         });
    }
    return all;
}

}  // namespace

DataTable kernel_categories_table(const Study& study)
{
    static const std::vector<ColumnOf<Category>> columns{
        {"category", "", [](const Category& c) { return warning_if(c.is_too_much_unclassified(), word(c.name)); }},
        {"model", "", [](const Category& c) { return step_cell(c.row); }},
        {"device", "", [](const Category& c) { return word(c.device); }},
        {"launches", "", [](const Category& c) { return count(c.launches); }},
        {"time", "", [](const Category& c) { return seconds(Seconds{c.seconds}); }},
        {"share", "", [](const Category& c) { return share(c.share); }},
    };
    const KernelDigest& digest = kernels_of(study).digest;
    const std::string launches = digest.launches == 1 ? "1 launch" : fmt::format("{} launches", digest.launches);
    return table_of(columns, categories_of(study),
                    {.title = "Kernels by category (measured)",
                     .note = fmt::format("{}, added up by name to {} and by category here.", launches,
                                         how_many(digest.totals.size(), "kernel")),
                     .expendable = {"device"}});
}

DataTable kernels_table(const Study& study)
{
    static const std::vector<ColumnOf<KernelTotal>> columns{
        {"", "row", [](const KernelTotal& t) { return word(t.row); }},
        {"", "device", [](const KernelTotal& t) { return word(t.device); }},
        {"", "category", [](const KernelTotal& t) { return word(t.category); }},
        {"", "kernel", [](const KernelTotal& t) { return word(t.name); }},
        {"", "launches", [](const KernelTotal& t) { return count(t.launches); }},
        {"", "time_s", [](const KernelTotal& t) { return number(t.seconds); }},
        {"", "known", [](const KernelTotal&) { return measured(); }},
    };
    return table_of(columns, kernels_of(study).digest.totals);
}

DataTable counted_kernels_table(const Study& study)
{
    struct AtLevel {
        const CountedKernel& kernel;
        const Measurement* row;
        std::string level;  ///< empty for a kernel without counted bytes
        bool is_first;

        const CountedWork& work() const { return kernel.work; }
        Cell if_bound(Cell cell) const { return only_if(!kernel.binds.empty(), std::move(cell)); }
    };
    using A = const AtLevel&;
    static const std::vector<ColumnOf<AtLevel>> columns{
        {"", "row", [](A a) { return word(a.kernel.row); }},
        {"name", "kernel", [](A a) { return word(a.kernel.name); }},
        {"category", "category", [](A a) { return word(a.kernel.category); }},
        {"step", "", [](A a) { return step_cell(a.row); }},
        {"device", "device", [](A a) { return device_cell(a.kernel.device, a.row); }},
        {"launches", "launches",
         [](A a) {
             if (a.kernel.is_function()) return absent();
             Cell cell = count(a.kernel.launches);
             if (a.kernel.counted != a.kernel.launches) cell.text += fmt::format(", {} counted", a.kernel.counted);
             return cell;
         }},
        {"", "counted_launches", [](A a) { return count(a.kernel.counted); }},
        {"time", "time_s",
         [](A a) {
             Cell cell = seconds(a.kernel.seconds);
             if (a.kernel.time_known == Known::counter) cell.text += " (counter)";
             return cell;
         }},
        {"FLOPs", "flops", [](A a) { return counted_flops(a.work()); }},
        {"most by", "most_flops_by", [](A a) { return name_cell(a.kernel.most_flops); }},
        {"", "level", [](A a) { return name_cell(a.level); }},
        {"", "bytes", [](A a) { return bytes_cell(a.work(), a.level); }},
        {"L1", "", [](A a) { return bytes_cell(a.work(), "L1"); }},
        {"L2", "", [](A a) { return bytes_cell(a.work(), "L2"); }},
        {"DRAM", "", [](A a) { return bytes_cell(a.work(), "DRAM"); }},
        {"FLOP/B", "",
         [](A a) {
             const bool known = !a.work().flops.empty() && !a.kernel.levels.empty();
             return known ? plain(a.kernel.levels.back().intensity_low.value) : absent();
         }},
        {"rate", "", [](A a) { return only_if(!a.work().flops.empty(), amount(a.kernel.rate().value, "FLOP/s")); }},
        {"", "compute_roof_flop_per_s",
         [](A a) { return only_if(a.kernel.compute_roof.value > 0, number(a.kernel.compute_roof.value)); }},
        {"roof", "binds", [](A a) { return a.if_bound(word(a.kernel.binds)); }},
        {"", "attainable_s", [](A a) { return a.if_bound(number(a.kernel.attainable.value)); }},
        {"reached", "", [](A a) { return a.if_bound(share(a.kernel.fraction())); }},
        {"", "known", [](A a) { return word(name(a.kernel.known)); }},
        {"", "time_known", [](A a) { return word(name(a.kernel.time_known)); }},
    };
    const RowsById by_id(study);
    const std::vector<CountedKernel> kernels = counted_kernels(study);
    std::vector<AtLevel> rows;
    for (const CountedKernel& kernel : kernels) {
        const std::size_t begin = rows.size();
        const auto add = [&](const std::string& level) {
            rows.push_back({kernel, by_id.find(kernel.row), level, rows.size() == begin});
        };
        for (const auto& [level, bytes] : kernel.work.bytes) add(level);
        if (kernel.work.bytes.empty()) add("");
    }
    const bool has_functions = std::ranges::any_of(kernels, &CountedKernel::is_function);
    DataTable table =
        table_of(columns, rows,
                 {.title = has_functions ? "Functions under the roofs (work simulated; time measured, by samples)"
                                         : "Kernels under the roofs (work counted; time measured unless marked)",
                  .expendable = {"L1", "L2", "device", "category", "launches", "rate", "step", "most by"}});
    std::map<const Measurement*, std::size_t> shown;
    for (std::size_t i = 0; i < rows.size(); ++i)
        table.rows[i].is_for_programs_only =
            !rows[i].is_first || rows[i].row == nullptr || shown[rows[i].row]++ >= most_kernels;
    hide_if_empty(table, "most by");
    hide_if_empty(table, "launches");
    return table;
}

DataTable phase_counts_table(const Study& study)
{
    struct Amount {
        const PhaseCount& of;
        const Measurement* row;
        std::string what;
        double value;
        const char* unit;
        bool is_first;
    };
    using A = const Amount&;
    static const std::vector<ColumnOf<Amount>> columns{
        {"", "row", [](A a) { return word(a.of.row); }},
        {"phase", "phase", [](A a) { return word(a.of.phase.empty() ? "no phase" : a.of.phase, a.of.phase); }},
        {"step", "", [](A a) { return step_cell(a.row); }},
        {"device", "device", [](A a) { return device_cell(a.of.device, a.row); }},
        {"counted", "kernels_added_up",
         [](A a) {
             return a.of.kernels > 0 ? count(a.of.kernels, how_many(a.of.kernels, "kernel") + ", added up")
                                     : Cell{.text = "as a whole"};
         }},
        {"", "of", [](A a) { return word(a.what); }},
        {"", "amount", [](A a) { return number(a.value); }},
        {"", "unit", [](A a) { return word(a.unit); }},
        {"FLOPs", "", [](A a) { return counted_flops(a.of.work); }},
        {"most of", "", [](A a) { return only_if(!a.of.work.flops.empty(), word(a.of.work.precision())); }},
        {"L1", "", [](A a) { return bytes_cell(a.of.work, "L1"); }},
        {"shared", "", [](A a) { return bytes_cell(a.of.work, "shared"); }},
        {"L2", "", [](A a) { return bytes_cell(a.of.work, "L2"); }},
        {"DRAM", "", [](A a) { return bytes_cell(a.of.work, "DRAM"); }},
        {"FLOP/B", "",
         [](A a) {
             const Bytes moved = bytes_at(a.of.work, "DRAM");
             return only_if(!a.of.work.flops.empty() && moved.value > 0, plain((a.of.work.total() / moved).value));
         }},
        {"", "known", [](A) { return word(name(Known::counter)); }},
    };
    const RowsById by_id(study);
    const std::vector<PhaseCount> counts = phase_counts(study);
    std::vector<Amount> rows;
    for (const PhaseCount& of : counts) {
        const std::size_t begin = rows.size();
        const auto add = [&](const std::string& what, double value, const char* unit) {
            rows.push_back({of, by_id.find(of.row), what, value, unit, rows.size() == begin});
        };
        for (const auto& [precision, flops] : of.work.flops) add(precision, flops.value, "FLOP");
        for (const auto& [level, bytes] : of.work.bytes) add(level, bytes.value, "byte");
    }
    DataTable table =
        table_of(columns, rows,
                 {.title = "Counted in each phase (counter)", .expendable = {"device", "shared", "L1", "most of"}});
    for (std::size_t i = 0; i < rows.size(); ++i)
        table.rows[i].is_for_programs_only = !rows[i].is_first || rows[i].row == nullptr;
    return table;
}

DataTable step_counters_table(const Study& study)
{
    struct Counted {
        std::string what;  ///< "FLOPs", or a memory level
        double value;
        std::string device;
        const Measurement& row;
        bool is_flops() const { return what == "FLOPs"; }
    };
    using Row = const Counted&;
    static const std::vector<ColumnOf<Counted>> columns{
        {"counted", "", [](Row c) { return word(c.is_flops() ? c.what : "bytes at " + c.what); }},
        {"step", "", [](Row c) { return step_cell(&c.row); }},
        {"device", "", [](Row c) { return device_cell(c.device, &c.row); }},
        {"amount", "", [](Row c) { return amount(c.value, c.is_flops() ? "FLOP" : "B"); }},
        {"analytic", "",
         [](Row c) {
             const Work& work = c.row.work;
             if (work.known != Known::analytic || c.what == "shared") return absent();
             if (c.is_flops()) return amount(work.flops.value, "FLOP");
             return numeric_text(format_si(work.compulsory.value, "B") + " to " + format_si(work.no_reuse.value, "B"));
         }},
    };
    std::map<std::pair<std::string, std::string>, Metrics> metrics;  // by row and device
    bool has_lines = false;
    read_records<CounterRecord>(recorded_folder(study), [&](const std::string& id, const CounterRecord& counter) {
        if (counter.scope != CounterScope::step) return;
        Metric& metric = metrics[{id, counter.device}][counter.metric];
        metric = {metric.value + counter.value, counter.unit};
        has_lines = has_lines || counter.metric.starts_with("lines ");
    });
    const RowsById rows(study);
    std::vector<Counted> counted;
    for (const auto& [key, of] : metrics) {
        const Measurement* const row = rows.find(key.first);
        if (row == nullptr) continue;
        const CountedWork work = count_work(of);
        if (!work.flops.empty()) counted.push_back({"FLOPs", work.total().value, key.second, *row});
        for (const auto& [level, bytes] : work.bytes) counted.push_back({level, bytes.value, key.second, *row});
    }
    const bool is_simulated = std::ranges::any_of(counted, [](Row c) { return c.row.work.known == Known::simulated; });
    return table_of(columns, counted,
                    {.title = fmt::format("Counted in a step ({}), reads and writes, beside the analytic amounts{}",
                                          name(is_simulated ? Known::simulated : Known::counter),
                                          has_lines ? "; of lines only the fetches, not what is written back" : ""),
                     .expendable = {"device"}});
}

}  // namespace roof::analysis
