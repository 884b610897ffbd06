// Records are unchanged after writing and reading, also a million of them, and errors in lines are reported.
#include "ert/base/checksum.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/recording/record_files.hpp"
#include "tests/fakes/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <vector>

using namespace roof;

namespace {

const Cause everything{"gpu:1", 7, 12345678901234, "conv,1", "backward"};

template <class Record>
std::vector<Record> back(const fakes::TemporaryFolder& folder)
{
    std::vector<Record> records;
    read_records<Record>(folder.path(), [&](const std::string&, const Record& record) { records.push_back(record); });
    return records;
}

/// The file's text after writing, and the text after reading and writing again.
template <class Record>
void check_round_trip(const std::vector<Record>& records)
{
    const fakes::TemporaryFolder first, second;
    append_records<Record>(first.path(), "train gpu:1 batch=2", records);
    const std::vector<Record> read = back<Record>(first);
    REQUIRE(read.size() == records.size());
    append_records<Record>(second.path(), "train gpu:1 batch=2", read);
    const std::string file(std::get<RecordFile<Record>>(record_files).name);
    CHECK(read_file(first / file) == read_file(second / file));
}

template <class Record>
std::size_t read_text(
    const std::string& text, const TakeRecord<Record>& take = [](const std::string&, const Record&) {})
{
    const fakes::TemporaryFolder folder;
    write_file(folder / std::string(std::get<RecordFile<Record>>(record_files).name), text);
    return read_records<Record>(folder.path(), take);
}

std::size_t read_kernels(const std::string& text)
{
    return read_text<KernelRecord>(text);
}

}  // namespace

TEST_CASE("every kind of record is unchanged after writing and reading, full and empty")
{
    check_round_trip<KernelRecord>(
        {{everything, "void f<1, \"x\">()", Seconds{0.1}, Seconds{1e-6}, "2x3x4", "128x1x1", 255, Bytes{1024}, 9}, {}});
    check_round_trip<ApiRecord>(
        {{3, 4, "l", "forward", ApiDomain::driver, "cuLaunchKernel", Seconds{2}, Seconds{3}}, {}});
    check_round_trip<CopyRecord>({{everything, CopyKind::host_to_device, MemoryKind::pageable, MemoryKind::device,
                                   Bytes{1 << 20}, Seconds{0}, Seconds{1}},
                                  {}});
    check_round_trip<MemoryRecord>(
        {{everything, MemoryAction::release, MemoryKind::pool, 0xFFFFFFFFFFFFFFFFULL, Bytes{5}, Seconds{1}}, {}});
    check_round_trip<SynchronisationRecord>({{everything, "stream", Seconds{1}, Seconds{2}}, {}});
    check_round_trip<RangeRecord>({{1, RangeKind::layer, "layer1.0", Seconds{1}, Seconds{2}}, {}});
    check_round_trip<CounterRecord>(
        {{"gpu:0", CounterScope::step, "l", "p", "k", 3, "dram__bytes_read.sum", 1e12, "byte"}, {}});
}

TEST_CASE("reading gives the written records")
{
    const fakes::TemporaryFolder folder;
    const KernelRecord kernel{
        everything, "k, \"q\"\nend", Seconds{0.1}, Seconds{1.0 / 3}, "2x3x4", "128x1x1", 255, Bytes{1024}, 9};
    append_records<KernelRecord>(folder.path(), "a,b", {&kernel, 1});
    append_records<KernelRecord>(folder.path(), "c", {&kernel, 1});
    CHECK(back<KernelRecord>(folder).size() == 2);
    const KernelRecord read = back<KernelRecord>(folder).front();
    CHECK(read.cause.device == "gpu:1");
    CHECK(read.cause.correlation == 12345678901234);
    CHECK(read.name == "k, \"q\" end");
    CHECK(read.duration == kernel.duration);
    CHECK(read.start == kernel.start);
    CHECK(read.shared == Bytes{1024});
    CHECK(read.registers == 255);
    CHECK(read_file(folder / "kernels.csv")
              .starts_with("id,device,stream,correlation,layer,phase,name,start_s,"
                           "duration_s,grid,block,registers,shared_bytes,graph_node,block_checksum\n"));
}

TEST_CASE("an empty cell and a missing column are unknown, not zero")
{
    const auto check = [](const std::string& id, const KernelRecord& kernel) {
        CHECK(id == "r");
        CHECK(kernel.duration == Seconds{0.5});
        CHECK_FALSE(kernel.start);
        CHECK_FALSE(kernel.registers);
        CHECK_FALSE(kernel.shared);
    };
    CHECK(read_text<KernelRecord>("name,id,duration_s,start_s\nk,r,0.5,\n", check) == 1);
}

TEST_CASE("a value of one line does not remain in the next")
{
    std::vector<KernelRecord> kernels;
    read_text<KernelRecord>("id,name,duration_s,registers,start_s\nr,k,1,8,2\nr,l,1,,\n",
                            [&](const std::string&, const KernelRecord& k) { kernels.push_back(k); });
    REQUIRE(kernels.size() == 2);
    CHECK(kernels[0].registers == 8);
    CHECK_FALSE(kernels[1].registers);
    CHECK_FALSE(kernels[1].start);
}

TEST_CASE("an invalid record is reported with its line")
{
    const std::string head = "id,name,duration_s\nr,k,1\n";
    CHECK(read_kernels(head + "r,k") == 1);
    CHECK_THROWS_WITH(read_kernels(head + "r,k\n"), Catch::Contains("kernels.csv:3: 2 cells, its header has 3"));
    for (const std::string wrong : {"x", "-1", "inf", "nan", "1s", ""}) {
        INFO(wrong);
        CHECK_THROWS_WITH(read_kernels(head + "r,k," + wrong + "\n"),
                          Catch::Contains("kernels.csv:3: column duration_s"));
    }
    CHECK_THROWS_WITH(read_kernels(head + "r,k,x,2\n"), Catch::EndsWith("kernels.csv:3: 4 cells, its header has 3"));
    for (const std::string column : {"id", "name", "duration_s"}) {
        std::string header = "start_s,id,name,duration_s\n";
        header.replace(header.find(column), column.size(), "x");
        CHECK_THROWS_WITH(read_kernels(header), Catch::EndsWith("kernels.csv:1: it has no column '" + column + "'"));
    }
    CHECK_THROWS_WITH(read_kernels(""), Catch::EndsWith("kernels.csv:1: it has no header"));
    CHECK_THROWS_WITH(read_text<CopyRecord>("id,kind,duration_s\nr,sideways,1\n"),
                      Catch::Contains("copies.csv:2: column kind") && Catch::Contains("H2D"));
}

TEST_CASE("a folder without the file has no records")
{
    const fakes::TemporaryFolder folder;
    CHECK(back<KernelRecord>(folder).empty());
    append_records<KernelRecord>(folder.path(), "row", {});
    CHECK_FALSE(std::filesystem::exists(folder / "kernels.csv"));
    CHECK(check_records(folder.path()).sentences.empty());
}

TEST_CASE("records of another run are refused, and those without checksums are of any run")
{
    const fakes::TemporaryFolder folder;
    write_file(folder / "kernels.csv", "id,name,duration_s\nr,k,1\n");
    write_file(folder / "machine.yaml", "format: 3\nrun: one\n");
    CHECK(back<KernelRecord>(folder).size() == 1);
    std::filesystem::remove(folder / "kernels.csv");
    append_records<KernelRecord>(folder.path(), "row", std::vector<KernelRecord>(2));
    CHECK(back<KernelRecord>(folder).size() == 2);
    write_file(folder / "machine.yaml", "format: 3\nrun: two\n");
    CHECK_THROWS_WITH(back<KernelRecord>(folder),
                      Catch::EndsWith("kernels.csv:1: it is of the run one, and machine.yaml of the run two"));
}

TEST_CASE("a changed record is an error with its line, and a file without checksums is read")
{
    const fakes::TemporaryFolder folder;
    append_records<KernelRecord>(folder.path(), "row", std::vector<KernelRecord>(2));
    std::string text = read_file(folder / "kernels.csv");
    text.replace(text.rfind("row,"), 4, "raw,");
    write_file(folder / "kernels.csv", text);
    CHECK_THROWS_WITH(back<KernelRecord>(folder), Catch::Contains("kernels.csv:3: it does not match its checksum"));
    CHECK(read_kernels("id,name,duration_s\nr,k,1\n") == 1);
}

namespace {

/// Three kernels of each of the rows a, b and c, and a copy of each row.
struct Recorded {
    fakes::TemporaryFolder folder;

    Recorded()
    {
        for (const std::string row : {"a", "b", "c"}) {
            append_records<KernelRecord>(folder.path(), row, std::vector<KernelRecord>(3));
            append_records<CopyRecord>(folder.path(), row, std::vector<CopyRecord>(1));
        }
    }
    void replace(const std::string& from, const std::string& to) const
    {
        std::string text = read_file(folder / "kernels.csv");
        text.replace(text.find(from), from.size(), to);
        write_file(folder / "kernels.csv", text);
    }
    /// The rows of the records, one letter each.
    template <class Record>
    std::string rows(const RecordDamage& damage) const
    {
        std::string rows;
        read_records<Record>({folder.path(), damage}, [&](const std::string& id, const Record&) { rows += id; });
        return rows;
    }
};

}  // namespace

TEST_CASE("a damaged record is named, the records of its row are left out, and the others are read")
{
    const Recorded recorded;
    CHECK(check_records(recorded.folder.path()).sentences.empty());
    SECTION("by a digit")
    {
        recorded.replace("c,", "c,1");
        const RecordDamage damage = check_records(recorded.folder.path());
        REQUIRE(damage.sentences.size() == 1);
        CHECK_THAT(damage.sentences[0], Catch::Contains("kernels.csv:8: it does not match its checksum"));
        CHECK(recorded.rows<KernelRecord>(damage) == "aaabbb");
    }
    SECTION("by a quote")
    {
        recorded.replace("b,", "b,\"");
        const RecordDamage damage = check_records(recorded.folder.path());
        REQUIRE(damage.sentences.size() == 1);
        CHECK_THAT(damage.sentences[0], Catch::Contains("kernels.csv:5: a quote is opened"));
        CHECK(recorded.rows<CopyRecord>(damage) == "c");
        CHECK(recorded.rows<KernelRecord>(damage) == "ccc");
    }
    SECTION("by a lost line, which may be of the row before")
    {
        const std::string text = read_file(recorded.folder / "kernels.csv");
        const std::size_t b = text.find("\nb,");
        const std::size_t last_a = text.rfind("\na,", b);
        write_file(recorded.folder / "kernels.csv", text.substr(0, last_a) + text.substr(b));
        const RecordDamage damage = check_records(recorded.folder.path());
        REQUIRE(damage.sentences.size() == 1);
        CHECK_THAT(damage.sentences[0], Catch::Contains("kernels.csv:2: it, or a line after it up to "));
        CHECK(recorded.rows<KernelRecord>(damage) == "ccc");
        CHECK(recorded.rows<CopyRecord>(damage) == "c");
    }
}

TEST_CASE("each damaged block is told once, and without blocks the row after a line that names none is left out, too")
{
    const Recorded recorded;
    const auto damaged = [&] {
        const RecordDamage damage = check_records(recorded.folder.path());
        std::string places;
        for (const std::string& sentence : damage.sentences) {
            const std::size_t place = sentence.find(".csv:") + 5;
            places += sentence.substr(place, sentence.find(':', place) - place) + " ";
        }
        return places + recorded.rows<KernelRecord>(damage);
    };
    recorded.replace("a,", "a,\"");
    recorded.replace("c,", "c,1");
    CHECK(damaged() == "2 8 bbb");
    const std::filesystem::path file = recorded.folder / "kernels.csv";
    const std::string text = "id,name,duration_s\na,k,1\nb,k,1\nc,k,1\nd,k,1\n";
    write_file(file, with_checksums(text));
    recorded.replace("c,k", "c,l");
    CHECK(damaged() == "4 ");
    write_file(file, text);
    recorded.replace("b,k", "b,\"k");
    CHECK(damaged() == "3 d");
    write_file(file, text);
    recorded.replace("b,k,1", "b,k");
    CHECK(damaged() == "3 cd");
    write_file(file, "name,id,duration_s\nk,a,1\nk\nk,c,1\nk,d,1\n");
    CHECK(damaged() == "3 d");
}

TEST_CASE("a damaged header is named, and the records are read if their checksums prove it")
{
    const Recorded recorded;
    recorded.replace("stream", "steram");
    const RecordDamage proven = check_records(recorded.folder.path());
    REQUIRE(proven.sentences.size() == 1);
    CHECK_THAT(proven.sentences[0], Catch::Contains("kernels.csv:1: its columns are not those that roof writes"));
    CHECK(recorded.rows<KernelRecord>(proven) == "aaabbbccc");
    CHECK_THROWS_AS(recorded.rows<KernelRecord>({}), InputError);
    recorded.replace("a,", "x,");
    const RecordDamage lost = check_records(recorded.folder.path());
    CHECK(lost.is_everywhere);
    CHECK(recorded.rows<KernelRecord>(lost).empty());
    CHECK(recorded.rows<CopyRecord>(lost).empty());
}

TEST_CASE("a header whose column of checksums is not the last is damaged")
{
    const Recorded recorded;
    const std::filesystem::path file = recorded.folder / "kernels.csv";
    const std::string text = read_file(file);
    const std::size_t end = text.find('\n'), last = text.rfind(',', end), before = text.rfind(',', last - 1);
    write_file(file, text.substr(0, before) + text.substr(last, end - last) + text.substr(before, last - before) +
                         text.substr(end));
    const RecordDamage damage = check_records(recorded.folder.path());
    REQUIRE(damage.sentences.size() == 1);
    CHECK_THAT(damage.sentences[0], Catch::Contains("kernels.csv:1: its columns are not those that roof writes"));
    CHECK(recorded.rows<KernelRecord>(damage) == "aaabbbccc");
}

TEST_CASE("a million kernels are written and read")
{
    const fakes::TemporaryFolder folder;
    const KernelRecord kernel{everything,
                              "void cudnn::kernel<float, 4>(Parameters)",
                              Seconds{0.123456789},
                              Seconds{3.2e-5},
                              "64x1x1",
                              "128x1x1",
                              128,
                              Bytes{49152},
                              17};
    const std::vector<KernelRecord> kernels(1'000'000, kernel);
    append_records<KernelRecord>(folder.path(), "train gpu:0 model=resnet50 batch=32", kernels);
    double seconds = 0;
    const auto add = [&](const std::string&, const KernelRecord& k) { seconds += k.duration.value; };
    CHECK(read_records<KernelRecord>(folder.path(), add) == kernels.size());
    CHECK(seconds == Approx(32));
}
