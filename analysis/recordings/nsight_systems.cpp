// Nsight Systems' SQLite export, with times in nanoseconds. A table exists only if it has records; columns depend on
// the version.
#include "analysis/recordings/import.hpp"
#include "analysis/recordings/sqlite_file.hpp"
#include "ert/base/error.hpp"
#include "ert/base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>

namespace roof::analysis {

namespace {

constexpr std::int64_t latest = 4'000'000'000'000'000'000;  ///< nanoseconds since 1970

/// "aten::mul, op_id = 314339" -> "aten::mul": PyTorch's emit_nvtx numbers each call of an operator.
std::string without_number(const std::string& name)
{
    return name.substr(0, std::min(name.find(", op_id = "), name.find(", seq = ")));
}

using Strings = std::unordered_map<std::int64_t, std::string>;

class SystemsReader {
  public:
    explicit SystemsReader(const std::filesystem::path& file) : database_(file)
    {
        database_.select("StringIds", {"id", "value"}, 2,
                         [&](const Row& row) { strings_.emplace(row.whole(0), row.text(1)); });
    }

    void read(ImportedRow& row)
    {
        read_kernels(row);
        read_calls(row);
        read_copies(row);
        read_waits(row);
        read_memory(row);
        read_ranges(row);
        if (row.kernels.empty() && row.calls.empty() && row.copies.empty())
            throw InputError(database_.name() +
                             ": it holds no kernels, no copies and no CUDA calls; record with --trace=cuda,nvtx");
    }

    /// The models of all devices of the machine, by name.
    std::map<std::string, std::string> models() const
    {
        std::map<std::string, std::string> models;
        database_.select("TARGET_INFO_GPU", {"id", "name"}, 0,
                         [&](const Row& gpu) { models["gpu:" + std::to_string(gpu.whole(0))] = gpu.text(1); });
        return models;
    }

  private:
    std::string text_of(const Row& row, int column) const
    {
        if (row.is_null(column)) return {};
        const auto found = strings_.find(row.whole(column));
        if (found == strings_.end())
            throw InputError(fmt::format("{}: StringIds has no string {}", database_.name(), row.whole(column)));
        return found->second;
    }

    /// Start and duration from columns 0 and 1. A record without an end, `is_moment`, has only a start.
    std::pair<Seconds, Seconds> time_of(const Row& row, const std::string& table, bool is_moment = false) const
    {
        const std::int64_t start = row.whole(0), end = is_moment ? start : row.whole(1);
        if (row.is_null(0) || (!is_moment && row.is_null(1)) || start < 0 || end < start || end > latest)
            throw InputError(
                fmt::format("{}: table {}: a record {} ns", database_.name(), table,
                            is_moment ? "at " + row.text(0) : "from " + row.text(0) + " to " + row.text(1)));
        // Subtract the first time before the conversion to seconds, which would lose digits.
        if (zero_ == std::numeric_limits<std::int64_t>::max()) zero_ = start;
        return {Seconds{static_cast<double>(start - zero_) * nanosecond},
                Seconds{static_cast<double>(end - start) * nanosecond}};
    }

    static std::string device_of(const Row& row, int column)
    {
        return "gpu:" + std::to_string(row.is_null(column) ? 0 : row.whole(column));
    }

    /// Each process of a recording counts its calls from the same number, so the process is a part of ours. `global`: the
    /// column of the process or thread, in which the thread has the lowest 24 bits; the column may be missing.
    Number correlation_of(const Row& row, int column, int global) const
    {
        const Number number = row.number(column);
        if (!number || row.is_null(global)) return number;
        const auto [process, is_new] = processes_.try_emplace(row.whole(global) >> 24, processes_.size());
        return *number + (static_cast<std::uint64_t>(process->second) << 32);
    }

    static std::string extent(const Row& row, int first)
    {
        if (row.is_null(first)) return {};
        return fmt::format("{}x{}x{}", row.whole(first), row.whole(first + 1), row.whole(first + 2));
    }

    void read_kernels(ImportedRow& imported)
    {
        const std::string table = "CUPTI_ACTIVITY_KIND_KERNEL";
        const bool demangled = database_.columns(table).contains("demangledName");
        database_.select(
            table,
            {"start", "end", demangled ? "demangledName" : "shortName", "deviceId", "streamId", "correlationId",
             "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ", "registersPerThread", "staticSharedMemory",
             "dynamicSharedMemory", "graphNodeId", "globalPid"},
            3, [&](const Row& row) {
                const auto [start, duration] = time_of(row, table);
                KernelRecord kernel{{device_of(row, 3), row.number(4), correlation_of(row, 5, 16), {}, {}},
                                    text_of(row, 2),
                                    start,
                                    duration,
                                    extent(row, 6),
                                    extent(row, 9),
                                    row.number(12),
                                    {},
                                    row.number(15)};
                if (row.number(13) && row.number(14))
                    kernel.shared = Bytes{static_cast<double>(*row.number(13) + *row.number(14))};
                imported.kernels.push_back(std::move(kernel));
            });
    }

    void read_calls(ImportedRow& imported)
    {
        const std::string table = "CUPTI_ACTIVITY_KIND_RUNTIME";
        database_.select(table, {"start", "end", "nameId", "globalTid", "correlationId"}, 3, [&](const Row& row) {
            const auto [start, duration] = time_of(row, table);
            std::string name = text_of(row, 2);
            const ApiDomain domain = name.starts_with("cuda") ? ApiDomain::runtime : ApiDomain::driver;
            imported.calls.push_back(
                {row.number(3), correlation_of(row, 4, 3), {}, {}, domain, std::move(name), start, duration});
        });
    }

    /// CUPTI's numbers (CUpti_ActivityMemcpyKind) and the export's for copies of unified memory. A copy of an unknown
    /// kind is named by the memories that it joins.
    CopyKind kind_of(std::int64_t number, std::optional<MemoryKind> source, std::optional<MemoryKind> destination) const
    {
        constexpr CopyKind to = CopyKind::host_to_device, from = CopyKind::device_to_host,
                           on = CopyKind::device_to_device;
        constexpr std::array numbered{on, to,   from, to, from, on, on, on, on, CopyKind::host_to_host, CopyKind::peer,
                                      to, from, on};
        if (number < 0 || number >= std::ssize(numbered))
            throw InputError(fmt::format("{}: copyKind {} is unknown", database_.name(), number));
        if (number > 0) return numbered[static_cast<std::size_t>(number)];
        const auto is_host = [](std::optional<MemoryKind> kind) {
            return kind == MemoryKind::pageable || kind == MemoryKind::pinned;
        };
        if (is_host(source)) return is_host(destination) ? CopyKind::host_to_host : to;
        return is_host(destination) ? from : on;
    }

    void read_copies(ImportedRow& imported)
    {
        const std::string table = "CUPTI_ACTIVITY_KIND_MEMCPY", fills = "CUPTI_ACTIVITY_KIND_MEMSET";
        const std::map<std::int64_t, std::string> kinds = memory_kinds();
        database_.select(
            table,
            {"start", "end", "copyKind", "bytes", "deviceId", "streamId", "correlationId", "srcKind", "dstKind",
             "globalPid"},
            4, [&](const Row& row) {
                const auto [start, duration] = time_of(row, table);
                const auto source = memory_named(kinds, row, 7), destination = memory_named(kinds, row, 8);
                imported.copies.push_back({{device_of(row, 4), row.number(5), correlation_of(row, 6, 9), {}, {}},
                                           kind_of(row.whole(2), source, destination),
                                           source,
                                           destination,
                                           bytes_of(row.number(3)),
                                           start,
                                           duration});
            });
        database_.select(
            fills, {"start", "end", "bytes", "deviceId", "streamId", "correlationId", "globalPid"}, 2,
            [&](const Row& row) {
                const auto [start, duration] = time_of(row, fills);
                imported.copies.push_back({{device_of(row, 3), row.number(4), correlation_of(row, 5, 6), {}, {}},
                                           CopyKind::fill,
                                           {},
                                           {},
                                           bytes_of(row.number(2)),
                                           start,
                                           duration});
            });
    }

    /// Enumeration tables of the export define the numbers of operations and kinds of memory.
    void read_memory(ImportedRow& imported)
    {
        const std::string table = "CUDA_GPU_MEMORY_USAGE_EVENTS";
        const std::map<std::int64_t, std::string> operations = labels_of("ENUM_CUDA_DEV_MEM_EVENT_OPER");
        const std::map<std::int64_t, std::string> kinds = memory_kinds();
        database_.select(table, {"start", "memoryOperationType", "bytes", "address", "deviceId", "memKind"}, 3,
                         [&](const Row& row) {
                             const auto operation = operations.find(row.whole(1));
                             if (operation == operations.end()) return;
                             MemoryRecord record;
                             record.cause.device = device_of(row, 4);
                             const bool allocates = operation->second.starts_with("Alloc");
                             record.action = allocates ? MemoryAction::allocate : MemoryAction::release;
                             record.memory = memory_named(kinds, row, 5);
                             record.address = row.number(3);
                             record.bytes = bytes_of(row.number(2));
                             record.start = time_of(row, table, true).first;
                             imported.memory.push_back(std::move(record));
                         });
    }

    std::map<std::int64_t, std::string> labels_of(const std::string& table) const
    {
        std::map<std::int64_t, std::string> labels;
        database_.select(table, {"id", "label"}, 2, [&](const Row& row) { labels[row.whole(0)] = row.text(1); });
        return labels;
    }

    /// The export numbers the kinds of memory in a table of its own. Exports without it have CUPTI's numbers
    /// (CUpti_ActivityMemoryKind).
    std::map<std::int64_t, std::string> memory_kinds() const
    {
        std::map<std::int64_t, std::string> kinds = labels_of("ENUM_CUDA_MEM_KIND");
        if (!kinds.empty()) return kinds;
        return {{1, "Pageable"}, {2, "Pinned"},        {3, "Device"},        {4, "Array"},
                {5, "Managed"},  {6, "Device Static"}, {7, "Managed Static"}};
    }

    static std::optional<MemoryKind> memory_named(const std::map<std::int64_t, std::string>& kinds, const Row& row,
                                                  int column)
    {
        const auto kind = row.is_null(column) ? kinds.end() : kinds.find(row.whole(column));
        if (kind == kinds.end()) return {};
        return kind->second == "Array" ? MemoryKind::device : memory_in(kind->second);
    }

    void read_waits(ImportedRow& imported)
    {
        const std::string table = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION";
        constexpr std::array kinds{"", "event", "stream wait", "stream", "context"};
        database_.select(
            table, {"start", "end", "syncType", "deviceId", "streamId", "correlationId", "globalPid"}, 2,
            [&](const Row& row) {
                const auto [start, duration] = time_of(row, table);
                const auto kind = static_cast<std::size_t>(row.number(2).value_or(0));
                imported.waits.push_back({{device_of(row, 3), row.number(4), correlation_of(row, 5, 6), {}, {}},
                                          kind < kinds.size() ? kinds[kind] : "",
                                          start,
                                          duration});
            });
    }

    /// Skips marks and thread names, which have no end.
    void read_ranges(ImportedRow& imported)
    {
        const std::string table = "NVTX_EVENTS";
        database_.select(table, {"start", "end", "text", "textId", "globalTid"}, 2, [&](const Row& row) {
            if (row.is_null(1) || row.whole(1) < row.whole(0)) return;
            const auto [start, duration] = time_of(row, table);
            const std::string name = row.is_null(2) ? text_of(row, 3) : row.text(2);
            imported.ranges.push_back({row.number(4), RangeKind::nvtx, without_number(name), start, duration});
        });
    }

    Database database_;
    Strings strings_;
    mutable std::map<std::int64_t, std::size_t> processes_;
    mutable std::int64_t zero_ = std::numeric_limits<std::int64_t>::max();
};

}  // namespace

bool is_nsight_systems(std::string_view text)
{
    return text.starts_with(std::string_view("SQLite format 3\0", 16));
}

Imported read_nsight_systems(const std::filesystem::path& file, const std::string& row_name)
{
    SystemsReader reader(file);
    Imported imported{"Nsight Systems, SQLite export", {}, {}, {}, {}};
    ImportedRow row = imported_row(row_name, "gpu:0");
    reader.read(row);
    add_timeline(std::move(row), reader.models(), imported);
    return imported;
}

}  // namespace roof::analysis
