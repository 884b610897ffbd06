#include "analysis/recordings/totals.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace roof::analysis {
namespace {

/// The totals by row, in each row the largest first.
template <class Key, class Total, class Quantity>
std::vector<Total> largest_first(std::map<Key, Total> totals, Quantity Total::*size)
{
    std::vector<Total> list;
    for (auto& [key, total] : totals) list.push_back(std::move(total));
    std::ranges::stable_sort(
        list, [&](const Total& a, const Total& b) { return a.row != b.row ? a.row < b.row : a.*size > b.*size; });
    return list;
}

/// Parts of a call's name; the first one that matches decides.
using Part = Named<CallPurpose>;
constexpr std::array parts{
    Part{CallPurpose::wait, "Synchronize"},   Part{CallPurpose::event, "StreamWaitEvent"},
    Part{CallPurpose::launch, "Launch"},      Part{CallPurpose::copy, "Memcpy"},
    Part{CallPurpose::copy, "Memset"},        Part{CallPurpose::allocate, "Malloc"},
    Part{CallPurpose::allocate, "MemAlloc"},  Part{CallPurpose::allocate, "Free"},
    Part{CallPurpose::allocate, "HostAlloc"}, Part{CallPurpose::allocate, "MemPool"},
    Part{CallPurpose::event, "Event"},
};

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

/// Whether the row measured this kind of copy. If the kind of host pages is unknown, both kinds match.
bool matches(const Measurement& row, const CopyTotal& copies)
{
    if (row.status != Status::ok || row.device != copies.device || row.seconds.median.value <= 0) return false;
    if (copies.kind == CopyKind::peer) return row.bench == "peer";
    const bool in = copies.kind == CopyKind::host_to_device;
    if (!in && copies.kind != CopyKind::device_to_host) return false;
    if (row.bench != "link" || row.point.text_or("operation", "") != (in ? "h2d" : "d2h")) return false;
    const std::optional<MemoryKind> host = in ? copies.source : copies.destination;
    return !host || row.point.text_or("pages", std::string(name(*host))) == name(*host);
}

/// `held`: bytes by address. A release is of the recorded allocation, because recorders may omit its size.
void add(MemoryUse& use, const MemoryRecord& record, std::unordered_map<std::uint64_t, Bytes>& held)
{
    if (record.action == MemoryAction::allocate) {
        ++use.allocations;
        use.left += record.bytes.value_or(Bytes{});
        if (record.bytes && record.address) held[*record.address] = *record.bytes;
    } else {
        ++use.releases;
        const auto found = record.address ? held.find(*record.address) : held.end();
        if (found == held.end()) {
            ++use.unmatched;
        } else {
            use.left -= found->second;
            held.erase(found);
        }
    }
    use.peak = std::max(use.peak, use.left);
    if (record.start) use.timeline.push_back({*record.start, use.left});
}

}  // namespace

CallPurpose purpose_of(std::string_view call)
{
    const auto* const part =
        std::ranges::find_if(parts, [&](const auto& one) { return call.find(one.name) != call.npos; });
    return part == parts.end() ? CallPurpose::other : part->value;
}

std::vector<CallTotal> add_up_calls(const RecordedFolder& folder)
{
    std::map<std::pair<std::string, std::string>, CallTotal> totals;
    read_records<ApiRecord>(folder, [&](const std::string& row, const ApiRecord& call) {
        const auto [place, is_new] = totals.try_emplace({row, plain_api_name(call.name)});
        CallTotal& total = place->second;
        if (is_new) {
            std::tie(total.row, total.name) = place->first;
            total.purpose = purpose_of(total.name);
        }
        ++total.calls;
        total.seconds += call.duration;
        total.longest = std::max(total.longest, call.duration);
    });
    return largest_first(std::move(totals), &CallTotal::seconds);
}

std::vector<CopyTotal> add_up_copies(const RecordedFolder& folder)
{
    using Key = std::tuple<std::string, std::string, CopyKind, std::optional<MemoryKind>, std::optional<MemoryKind>>;
    std::map<Key, CopyTotal> totals;
    read_records<CopyRecord>(folder, [&](const std::string& row, const CopyRecord& copy) {
        const auto [place, is_new] =
            totals.try_emplace({row, copy.cause.device, copy.kind, copy.source, copy.destination});
        CopyTotal& total = place->second;
        if (is_new) std::tie(total.row, total.device, total.kind, total.source, total.destination) = place->first;
        add(total, copy);
    });
    return largest_first(std::move(totals), &CopyTotal::seconds);
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

std::vector<MemoryUse> follow_memory(const RecordedFolder& folder)
{
    using Key = std::tuple<std::string, std::string, std::optional<MemoryKind>>;
    std::map<Key, std::vector<MemoryRecord>> recorded;
    read_records<MemoryRecord>(folder, [&](const std::string& row, const MemoryRecord& record) {
        recorded[{row, record.cause.device, record.memory}].push_back(record);
    });
    std::map<Key, MemoryUse> all;
    for (auto& [key, records] : recorded) {
        const bool timed = std::ranges::all_of(records, [](const MemoryRecord& r) { return r.start.has_value(); });
        if (timed) std::ranges::stable_sort(records, {}, [](const MemoryRecord& r) { return r.start->value; });
        MemoryUse& use = all[key];
        std::tie(use.row, use.device, use.memory) = key;
        std::unordered_map<std::uint64_t, Bytes> held;
        for (const MemoryRecord& record : records) add(use, record, held);
        if (!timed) use.timeline.clear();
    }
    return largest_first(std::move(all), &MemoryUse::peak);
}

}  // namespace roof::analysis
