#include "analysis/recordings/totals.hpp"
#include "ert/recording/record_files.hpp"
#include "tests/fakes/temporary_folder.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::analysis;

namespace {

CopyRecord copy(CopyKind kind, std::optional<MemoryKind> source, std::optional<Bytes> bytes, double seconds)
{
    CopyRecord record;
    record.cause.device = "gpu:0";
    record.kind = kind;
    record.source = source;
    record.bytes = bytes;
    record.duration = {seconds};
    return record;
}

Measurement link(const std::string& operation, const std::string& pages, double bytes)
{
    Measurement row;
    row.bench = "link";
    row.device = "gpu:0";
    row.point.set("operation", operation);
    row.point.set("pages", pages);
    row.seconds.median = {1};
    row.work.compulsory = {bytes};
    return row;
}

}  // namespace

TEST_CASE("copies are summed by kind and memory, and rates leave out copies of unknown size")
{
    const fakes::TemporaryFolder folder;
    append_records<CopyRecord>(folder.path(), "r",
                               std::vector{copy(CopyKind::host_to_device, MemoryKind::pinned, Bytes{100}, 1),
                                           copy(CopyKind::host_to_device, MemoryKind::pinned, Bytes{300}, 1),
                                           copy(CopyKind::host_to_device, MemoryKind::pinned, {}, 6),
                                           copy(CopyKind::host_to_device, MemoryKind::pageable, Bytes{8}, 1)});
    const std::vector<CopyTotal> totals = add_up_copies(folder.path());
    REQUIRE(totals.size() == 2);
    CHECK(totals[0].copies == 3);
    CHECK(totals[0].unsized == 1);
    CHECK(totals[0].rate() == ByteRate{200});
    CHECK(totals[0].smallest == Bytes{100});
    CHECK(totals[0].largest == Bytes{300});
    CHECK(totals[0].seconds == Seconds{8});
    CHECK(totals[1].source == MemoryKind::pageable);
}

TEST_CASE("a copy is compared with the link's rate for the same pages and direction")
{
    const std::vector<Measurement> rows{link("h2d", "pinned", 100), link("h2d", "pageable", 40),
                                        link("d2h", "pinned", 70), link("both", "pinned", 900)};
    CopyTotal total;
    total.device = "gpu:0";
    total.kind = CopyKind::host_to_device;
    total.source = MemoryKind::pageable;
    CHECK(link_ceiling(total, rows) == ByteRate{40});
    total.source.reset();
    CHECK(link_ceiling(total, rows) == ByteRate{100});
    total.kind = CopyKind::device_to_host;
    CHECK(link_ceiling(total, rows) == ByteRate{70});
    total.kind = CopyKind::device_to_device;
    CHECK_FALSE(link_ceiling(total, rows));
    total.kind = CopyKind::host_to_device;
    total.device = "gpu:1";
    CHECK_FALSE(link_ceiling(total, rows));
}
