// Kernels of a run: by category, and with counted work.
#include "analysis/study/counted_kernels.hpp"
#include "analysis/study/phase_counts.hpp"
#include "analysis/study/recorded_rows.hpp"
#include "analysis/study/recording.hpp"
#include "analysis/study/recording_tables.hpp"
#include "analysis/study/tables.hpp"
#include "ert/base/text.hpp"
#include "ert/recording/record_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace roof::analysis {

namespace {

constexpr std::size_t most_kernels = 20;  ///< people see at most this many of a row

/// The counted bytes at this level; 0 if they were not counted.
Bytes bytes_at(const CountedWork& work, const char* level)
{
    const auto found = work.bytes.find(level);
    return found == work.bytes.end() ? Bytes{} : found->second;
}

Cell bytes_cell(const CountedWork& work, const char* level)
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
    for (const KernelTotal& total : kernels_of(study).totals) {
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
        {"category", "",
         [](const Category& c) {
             Cell cell = word(c.name);
             cell.is_warning = c.is_too_much_unclassified();
             return cell;
         }},
        {"model", "", [](const Category& c) { return step_cell(c.row); }},
        {"device", "", [](const Category& c) { return word(c.device); }},
        {"launches", "", [](const Category& c) { return count(c.launches); }},
        {"time", "", [](const Category& c) { return seconds(Seconds{c.seconds}); }},
        {"share", "", [](const Category& c) { return share(c.share); }},
    };
    const KernelDigest& digest = kernels_of(study);
    DataTable table = table_of(columns, categories_of(study));
    table.note = fmt::format("{} launches, added up by name to {} kernels and by category here.", digest.launches,
                             digest.totals.size());
    table.title = "Kernels by category (measured)";
    table.expendable = {"device"};
    return table;
}

DataTable kernels_table(const Study& study)
{
    static const std::vector<ColumnOf<KernelTotal>> columns{
        {"", "row", [](const KernelTotal& t) { return word(t.row); }},
        {"", "category", [](const KernelTotal& t) { return word(t.category); }},
        {"", "kernel", [](const KernelTotal& t) { return word(t.name); }},
        {"", "launches", [](const KernelTotal& t) { return count(t.launches); }},
        {"", "time_s", [](const KernelTotal& t) { return number(t.seconds); }},
        {"", "known", [](const KernelTotal&) { return measured(); }},
    };
    return table_of(columns, kernels_of(study).totals);
}

DataTable counted_kernels_table(const Study& study)
{
    using Row = const Of<CountedKernel>&;
    static const std::vector<ColumnOf<Of<CountedKernel>>> columns{
        {"kernel", "", [](Row k) { return word(k.record.name); }},
        {"category", "", [](Row k) { return word(k.record.category); }},
        {"step", "", [](Row k) { return step_cell(k.row); }},
        {"device", "", [](Row k) { return word(k.record.device); }},
        {"launches", "",
         [](Row k) {
             const CountedKernel& kernel = k.record;
             const bool all = kernel.counted == kernel.launches;
             return numeric_text(std::to_string(kernel.launches) +
                                 (all ? "" : fmt::format(", {} counted", kernel.counted)));
         }},
        {"time", "",
         [](Row k) {
             const bool counted = k.record.time_known == Known::counter;
             return numeric_text(format_duration(k.record.seconds.value) + (counted ? " (counter)" : ""));
         }},
        {"FLOPs", "", [](Row k) { return counted_flops(k.record.work); }},
        {"L1", "", [](Row k) { return bytes_cell(k.record.work, "L1"); }},
        {"L2", "", [](Row k) { return bytes_cell(k.record.work, "L2"); }},
        {"DRAM", "", [](Row k) { return bytes_cell(k.record.work, "DRAM"); }},
        {"FLOP/B", "",
         [](Row k) {
             const bool known = !k.record.work.flops.empty() && !k.record.levels.empty();
             return known ? plain(k.record.levels.back().intensity_low.value) : absent();
         }},
        {"rate", "",
         [](Row k) { return only_if(!k.record.work.flops.empty(), amount(k.record.rate().value, "FLOP/s")); }},
        {"roof", "", [](Row k) { return only_if(!k.record.binds.empty(), word(k.record.binds)); }},
        {"reached", "", [](Row k) { return only_if(!k.record.binds.empty(), share(k.record.fraction())); }},
    };
    DataTable table = recorded_table(columns, counted_kernels(study), study, most_kernels);
    table.title = "Kernels under the roofs (work counted; time measured unless marked)";
    table.expendable = {"L1", "L2", "device", "category", "launches", "rate"};
    return table;
}

DataTable counted_bytes_table(const Study& study)
{
    struct AtLevel {
        const CountedKernel& kernel;
        std::string level;
        Bytes bytes;
    };
    using Row = const AtLevel&;
    static const std::vector<ColumnOf<AtLevel>> columns{
        {"", "row", [](Row a) { return word(a.kernel.row); }},
        {"", "device", [](Row a) { return word(a.kernel.device); }},
        {"", "kernel", [](Row a) { return word(a.kernel.name); }},
        {"", "category", [](Row a) { return word(a.kernel.category); }},
        {"", "launches", [](Row a) { return count(a.kernel.launches); }},
        {"", "counted_launches", [](Row a) { return count(a.kernel.counted); }},
        {"", "time_s", [](Row a) { return number(a.kernel.seconds.value); }},
        {"", "flops", [](Row a) { return number(a.kernel.work.total().value); }},
        {"", "level", [](Row a) { return word(a.level); }},
        {"", "bytes", [](Row a) { return number(a.bytes.value); }},
        {"", "compute_roof_flop_per_s",
         [](Row a) { return only_if(a.kernel.compute_roof.value > 0, number(a.kernel.compute_roof.value)); }},
        {"", "binds", [](Row a) { return word(a.kernel.binds); }},
        {"", "attainable_s", [](Row a) { return only_if(!a.kernel.binds.empty(), number(a.kernel.attainable.value)); }},
        {"", "known", [](Row) { return word(name(Known::counter)); }},
        {"", "time_known", [](Row a) { return word(name(a.kernel.time_known)); }},
    };
    const std::vector<CountedKernel> kernels = counted_kernels(study);
    std::vector<AtLevel> rows;
    for (const CountedKernel& kernel : kernels)
        for (const auto& [level, bytes] : kernel.work.bytes) rows.push_back({kernel, level, bytes});
    return table_of(columns, rows);
}

DataTable phase_counts_table(const Study& study)
{
    using Row = const Of<PhaseCount>&;
    static const std::vector<ColumnOf<Of<PhaseCount>>> columns{
        {"phase", "", [](Row c) { return word(c.record.phase.empty() ? "no phase" : c.record.phase); }},
        {"step", "", [](Row c) { return step_cell(c.row); }},
        {"device", "", [](Row c) { return word(c.record.device); }},
        {"counted", "",
         [](Row c) {
             const std::size_t kernels = c.record.kernels;
             return kernels == 0 ? word("as a whole") : numeric_text(fmt::format("{} kernels, added up", kernels));
         }},
        {"FLOPs", "", [](Row c) { return counted_flops(c.record.work); }},
        {"most of", "", [](Row c) { return word(c.record.work.precision()); }},
        {"L1", "", [](Row c) { return bytes_cell(c.record.work, "L1"); }},
        {"shared", "", [](Row c) { return bytes_cell(c.record.work, "shared"); }},
        {"L2", "", [](Row c) { return bytes_cell(c.record.work, "L2"); }},
        {"DRAM", "", [](Row c) { return bytes_cell(c.record.work, "DRAM"); }},
        {"FLOP/B", "",
         [](Row c) {
             const CountedWork& work = c.record.work;
             const Bytes moved = bytes_at(work, "DRAM");
             return only_if(!work.flops.empty() && moved.value > 0, plain((work.total() / moved).value));
         }},
    };
    DataTable table = recorded_table(columns, phase_counts(study), study);
    table.title = "Counted in each phase (counter)";
    table.expendable = {"device", "shared", "L1", "most of"};
    return table;
}

DataTable phase_amounts_table(const Study& study)
{
    struct Amount {
        const PhaseCount& of;
        std::string what;
        double value;
        const char* unit;
    };
    using Row = const Amount&;
    static const std::vector<ColumnOf<Amount>> columns{
        {"", "row", [](Row a) { return word(a.of.row); }},
        {"", "device", [](Row a) { return word(a.of.device); }},
        {"", "phase", [](Row a) { return word(a.of.phase); }},
        {"", "kernels_added_up", [](Row a) { return only_if(a.of.kernels > 0, count(a.of.kernels)); }},
        {"", "of", [](Row a) { return word(a.what); }},
        {"", "amount", [](Row a) { return number(a.value); }},
        {"", "unit", [](Row a) { return word(a.unit); }},
        {"", "known", [](Row) { return word(name(Known::counter)); }},
    };
    const std::vector<PhaseCount> counts = phase_counts(study);
    std::vector<Amount> rows;
    for (const PhaseCount& of : counts) {
        for (const auto& [precision, flops] : of.work.flops) rows.push_back({of, precision, flops.value, "FLOP"});
        for (const auto& [level, bytes] : of.work.bytes) rows.push_back({of, level, bytes.value, "byte"});
    }
    return table_of(columns, rows);
}

DataTable step_counters_table(const Study& study)
{
    struct Counted {
        CounterRecord counter;
        const Measurement& row;
    };
    using Row = const Counted&;
    static const std::vector<ColumnOf<Counted>> columns{
        {"counted", "", [](Row c) { return word(c.counter.metric); }},
        {"step", "", [](Row c) { return step_cell(&c.row); }},
        {"device", "", [](Row c) { return word(c.counter.device); }},
        {"amount", "", [](Row c) { return amount(c.counter.value, c.counter.unit == "FLOP" ? "FLOP" : "B"); }},
        {"analytic", "",
         [](Row c) {
             const Work& work = c.row.work;
             if (work.known != Known::analytic) return absent();
             if (c.counter.unit == "FLOP") return amount(work.flops.value, "FLOP");
             return numeric_text(format_si(work.compulsory.value, "B") + " to " + format_si(work.no_reuse.value, "B"));
         }},
    };
    const RowsById rows(study);
    std::vector<Counted> counted;
    read_records<CounterRecord>(study.results.folder, [&](const std::string& id, const CounterRecord& counter) {
        const Measurement* const row = rows.find(id);
        const bool has_analytic = counter.unit == "FLOP" || counter.unit == "byte";
        if (row != nullptr && counter.scope == CounterScope::step && has_analytic) counted.push_back({counter, *row});
    });
    DataTable table = table_of(columns, counted);
    table.title = "Counted in a step (counter), beside the analytic amounts";
    table.expendable = {"device"};
    return table;
}

}  // namespace roof::analysis
