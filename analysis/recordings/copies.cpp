#include "analysis/recordings/copies.hpp"

#include "ert/recording/record_files.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace roof::analysis {

namespace {

void add(CopyTotal& total, const CopyRecord& copy)
{
    ++total.copies;
    total.seconds += copy.duration;
    if (!copy.bytes) {
        ++total.unsized;
        return;
    }
    const bool first = total.copies - total.unsized == 1;
    total.smallest = first ? *copy.bytes : std::min(total.smallest, *copy.bytes);
    total.largest = std::max(total.largest, *copy.bytes);
    total.bytes += *copy.bytes;
    total.sized_seconds += copy.duration;
}

bool is(const Measurement& row, const std::string& axis, const std::string& value)
{
    return row.point.has(axis) && row.point.text(axis) == value;
}

/// Whether the row measured this kind of copy. If the kind of host pages is unknown, both kinds match.
bool matches(const Measurement& row, const CopyTotal& copies)
{
    if (row.status != Status::ok || row.device != copies.device || row.seconds.median.value <= 0) return false;
    if (copies.kind == CopyKind::peer) return row.bench == "peer";
    const bool in = copies.kind == CopyKind::host_to_device;
    if (!in && copies.kind != CopyKind::device_to_host) return false;
    if (row.bench != "link" || !is(row, "operation", in ? "h2d" : "d2h")) return false;
    const std::optional<MemoryKind> host = in ? copies.source : copies.destination;
    return !host || !row.point.has("pages") || is(row, "pages", std::string(name(*host)));
}

}  // namespace

std::vector<CopyTotal> add_up_copies(const RecordedFolder& folder)
{
    using Key = std::tuple<std::string, std::string, CopyKind, std::optional<MemoryKind>, std::optional<MemoryKind>>;
    std::map<Key, CopyTotal> totals;
    read_records<CopyRecord>(folder, [&](const std::string& row, const CopyRecord& copy) {
        CopyTotal& total = totals[{row, copy.cause.device, copy.kind, copy.source, copy.destination}];
        if (total.copies == 0) {
            total.row = row;
            total.device = copy.cause.device;
            total.kind = copy.kind;
            total.source = copy.source;
            total.destination = copy.destination;
        }
        add(total, copy);
    });
    std::vector<CopyTotal> list;
    for (auto& [key, total] : totals) list.push_back(std::move(total));
    std::ranges::stable_sort(list, [](const CopyTotal& a, const CopyTotal& b) {
        return a.row != b.row ? a.row < b.row : a.seconds > b.seconds;
    });
    return list;
}

std::optional<ByteRate> link_ceiling(const CopyTotal& copies, std::span<const Measurement> calibration)
{
    std::optional<ByteRate> best;
    for (const Measurement& row : calibration) {
        if (!matches(row, copies)) continue;
        const ByteRate rate = row.work.compulsory / row.seconds.median;
        if (!best || *best < rate) best = rate;
    }
    return best;
}

}  // namespace roof::analysis
