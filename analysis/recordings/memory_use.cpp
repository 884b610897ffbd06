#include "analysis/recordings/memory_use.hpp"

#include "ert/recording/record_files.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

namespace roof::analysis {

namespace {

using Key = std::tuple<std::string, std::string, std::optional<MemoryKind>>;

/// Adds up the records of one memory in their order.
class MemoryTracker {
  public:
    void add(MemoryUse& use, const MemoryRecord& record)
    {
        if (record.action == MemoryAction::allocate)
            allocate(use, record);
        else
            release(use, record);
        use.peak = std::max(use.peak, use.left);
        if (record.start) use.timeline.push_back({*record.start, use.left});
    }

  private:
    void allocate(MemoryUse& use, const MemoryRecord& record)
    {
        ++use.allocations;
        if (!record.bytes) return;
        use.left += *record.bytes;
        if (record.address) held_[*record.address] = *record.bytes;
    }

    /// Uses the size of the recorded allocation, because recorders may omit it in a release.
    void release(MemoryUse& use, const MemoryRecord& record)
    {
        ++use.releases;
        const auto found = record.address ? held_.find(*record.address) : held_.end();
        if (found == held_.end()) {
            ++use.unmatched;
            return;
        }
        use.left -= found->second;
        held_.erase(found);
    }

    std::unordered_map<std::uint64_t, Bytes> held_;
};

std::map<Key, std::vector<MemoryRecord>> read_memory(const RecordedFolder& folder)
{
    std::map<Key, std::vector<MemoryRecord>> records;
    read_records<MemoryRecord>(folder, [&](const std::string& row, const MemoryRecord& record) {
        records[{row, record.cause.device, record.memory}].push_back(record);
    });
    return records;
}

}  // namespace

std::vector<MemoryUse> follow_memory(const RecordedFolder& folder)
{
    std::vector<MemoryUse> all;
    for (auto& [key, records] : read_memory(folder)) {
        const bool timed = std::ranges::all_of(records, [](const MemoryRecord& r) { return r.start.has_value(); });
        if (timed) std::ranges::stable_sort(records, {}, [](const MemoryRecord& r) { return r.start->value; });
        MemoryUse use;
        std::tie(use.row, use.device, use.memory) = key;
        MemoryTracker tracker;
        for (const MemoryRecord& record : records) tracker.add(use, record);
        if (!timed) use.timeline.clear();
        all.push_back(std::move(use));
    }
    std::ranges::stable_sort(
        all, [](const MemoryUse& a, const MemoryUse& b) { return a.row != b.row ? a.row < b.row : a.peak > b.peak; });
    return all;
}

}  // namespace roof::analysis
