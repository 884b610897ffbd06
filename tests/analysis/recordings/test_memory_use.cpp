#include "analysis/recordings/totals.hpp"
#include "ert/recording/record_files.hpp"
#include "tests/fakes/temporary_folder.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::analysis;

namespace {

MemoryRecord record(MemoryAction action, std::uint64_t address, std::optional<Bytes> bytes, std::optional<Seconds> at)
{
    return {{"gpu:0", {}, {}, {}, {}}, action, MemoryKind::device, address, bytes, at};
}

}  // namespace

TEST_CASE("memory records are sorted by time, and a release frees the allocation at its address")
{
    const fakes::TemporaryFolder folder;
    append_records<MemoryRecord>(folder.path(), "r",
                                 std::vector{record(MemoryAction::allocate, 1, Bytes{100}, Seconds{1}),
                                             record(MemoryAction::release, 1, {}, Seconds{3}),
                                             record(MemoryAction::allocate, 2, Bytes{50}, Seconds{2}),
                                             record(MemoryAction::release, 9, Bytes{1000}, Seconds{4}),
                                             record(MemoryAction::allocate, 1, Bytes{10}, Seconds{5})});
    const std::vector<MemoryUse> all = follow_memory(folder.path());
    REQUIRE(all.size() == 1);
    CHECK(all[0].peak == Bytes{150});
    CHECK(all[0].left == Bytes{60});
    CHECK(all[0].unmatched == 1);
    CHECK(all[0].allocations == 3);
    REQUIRE(all[0].timeline.size() == 5);
    CHECK(all[0].timeline[2].held == Bytes{50});
}

TEST_CASE("records without a start give a peak in the order of the file, and no timeline")
{
    const fakes::TemporaryFolder folder;
    append_records<MemoryRecord>(folder.path(), "r", std::vector{record(MemoryAction::allocate, 1, Bytes{7}, {})});
    const std::vector<MemoryUse> all = follow_memory(folder.path());
    REQUIRE(all.size() == 1);
    CHECK(all[0].peak == Bytes{7});
    CHECK(all[0].timeline.empty());
}
