// Accidents in the files of a results folder are named, their rows are damaged, and nothing is overwritten.
#include "ert/base/checksum.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/text.hpp"
#include "ert/method/plan/measure.hpp"
#include "ert/method/results/results.hpp"
#include "tests/fakes/fake_registry.hpp"
#include "tests/fakes/temporary_folder.hpp"
#include "tests/method/damaged_folder.hpp"
#include "tests/method/measured_rows.hpp"

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <algorithm>

using namespace roof;
using namespace roof::fakes;
using namespace roof::tests;

TEST_CASE("an undamaged folder has no remarks, and an unfinished run says so")
{
    const Damaged folder;
    CHECK(read_results(folder.run).damage.empty());
    CHECK(read_results(folder.run).remarks.empty());
    std::filesystem::remove(folder.run / "checksums.csv");
    CHECK(read_results(folder.run).damage.empty());
    REQUIRE(read_results(folder.run).remarks.size() == 1);
    CHECK_THAT(read_results(folder.run).remarks[0], Catch::Contains("has not ended"));
}

TEST_CASE("a changed cell is named with its line, its row is damaged, and the others are usable")
{
    const Damaged folder;
    SECTION("of the row")
    {
        folder.replace("measurements.csv", "A made-up rate", "A made-up rats");
        const Results back = read_results(folder.run);
        CHECK(statuses(back) == std::vector{Status::damaged, Status::ok, Status::failed});
        CHECK(back.rows[0].samples.empty());
        CHECK_THAT(back.damage.at(0),
                   Catch::Contains("measurements.csv:2: it does not match its checksum: it was changed"));
        CHECK_THAT(back.rows[0].reason, Catch::Contains("measurements.csv:2"));
        CHECK(back.rows[0].point.text("batch") == "4");
    }
    SECTION("of an axis that is read as a number")
    {
        for (const char* const number : {"4x", "-4", "1000000001"}) {
            const Damaged other;
            other.replace("measurements.csv", "tinynet,4,", fmt::format("tinynet,{},", number));
            const Results back = read_results(other.run);
            CHECK(statuses(back) == std::vector{Status::damaged, Status::ok, Status::failed});
            CHECK_FALSE(back.rows[0].point.has("batch"));
            CHECK(back.rows[0].point.text("model") == "tinynet");
        }
    }
    SECTION("of a sample")
    {
        folder.change("samples.csv", [](std::string& text) { text[text.rfind("6,")] = '7'; });
        const Results back = read_results(folder.run);
        CHECK(std::ranges::count(statuses(back), Status::damaged) == 1);
        const std::string text = read_file(folder.run / "samples.csv");
        const auto changed = std::ranges::count(text.substr(0, text.rfind("7,")), '\n') + 1;
        CHECK_THAT(back.damage.at(0),
                   Catch::Contains(fmt::format(
                       "samples.csv:{}: it does not match the checksum of its row, measurements.csv:3", changed)));
    }
    SECTION("of a layer")
    {
        folder.replace("layers.csv", ",conv1,", ",conv2,");
        CHECK(statuses(read_results(folder.run)) == std::vector{Status::damaged, Status::ok, Status::failed});
    }
    SECTION("by a quote")
    {
        folder.replace("measurements.csv", "train,step", "train,\"step");
        const Results back = read_results(folder.run);
        CHECK(statuses(back) == std::vector{Status::damaged, Status::ok, Status::failed});
        CHECK_THAT(back.damage.at(0), Catch::Contains("quote"));
    }
}

TEST_CASE("a line that is lost or repeated, and an end that is lost, are named")
{
    const Damaged folder;
    for (const std::string file : {"measurements.csv", "samples.csv", "layers.csv"}) {
        const std::string whole = read_file(folder.run / file);
        const auto lines = static_cast<std::size_t>(std::ranges::count(whole, '\n'));
        for (std::size_t number = 2; number <= lines; ++number) {
            INFO(file << ":" << number);
            const std::string line = line_of(whole, number);
            std::string lost = whole;
            lost.erase(lost.find(line), line.size());
            write_file(folder.run / file, lost);
            CHECK_FALSE(read_results(folder.run).damage.empty());
            std::string repeated = whole;
            repeated.insert(repeated.find(line), line);
            write_file(folder.run / file, repeated);
            CHECK_FALSE(read_results(folder.run).damage.empty());
        }
        write_file(folder.run / file, whole.substr(0, whole.size() - 3));
        CHECK_FALSE(read_results(folder.run).damage.empty());
        std::filesystem::remove(folder.run / file);
        if (file != "measurements.csv") CHECK_FALSE(read_results(folder.run).damage.empty());
        write_file(folder.run / file, whole);
        CHECK(read_results(folder.run).damage.empty());
    }
}

TEST_CASE("a changed plan or machine is named")
{
    const Damaged folder;
    folder.replace("machine.yaml", "cores: 2", "cores: 4");
    folder.replace("plan.yaml", "13", "14");
    const Results back = read_results(folder.run);
    REQUIRE(back.damage.size() == 2);
    CHECK_THAT(back.damage[0], Catch::Contains("machine.yaml: it was changed"));
    CHECK_THAT(back.damage[1], Catch::Contains("plan.yaml: it was changed"));
}

TEST_CASE("without checksums a row has at most 100000 layers and phases, and no header is taken for another")
{
    const Damaged folder;
    std::filesystem::remove(folder.run / "checksums.csv");
    folder.change("measurements.csv", [](std::string& text) {
        std::string plain;
        for_lines(text, [&](std::string_view line) { plain.append(line.substr(0, line.rfind(','))).append("\n"); });
        text = plain;
    });
    const std::string whole = read_file(folder.run / "layers.csv"), line = line_of(whole, 2);
    std::string many = line_of(whole, 1);
    for (int i = 0; i <= 100'000; ++i) {
        many += line;
        many.insert(many.size() - line.size() + line.find(",conv1,") + 1, std::to_string(i));
    }
    write_file(folder.run / "layers.csv", many);
    CHECK_THAT(read_results(folder.run).damage.at(0),
               Catch::Contains("layers.csv:100002: more than 100000 layers and phases in a row"));
    many.resize(many.rfind('\n', many.size() - 2) + 1);
    write_file(folder.run / "layers.csv", many);
    CHECK(read_results(folder.run).damage.empty());
    write_file(folder.run / "layers.csv", whole);
    folder.replace("samples.csv", "launch_s", "launch");
    CHECK(read_results(folder.run).damage.size() == 1);
    CHECK(read_results(folder.run).rows[0].samples.empty());
}

TEST_CASE("a damaged header is named, and the folder is usable if the checksums prove the lines")
{
    const Damaged folder;
    for (const std::string file : {"measurements.csv", "samples.csv", "layers.csv", "checksums.csv"}) {
        INFO(file);
        const std::string whole = read_file(folder.run / file);
        for (const std::size_t at :
             {std::size_t{0}, whole.find(',') + 1, whole.find('\n') - 1}) {  // first, second and last
            std::string changed = whole;
            changed[at] = '#';
            write_file(folder.run / file, changed);
            const Results back = read_results(folder.run);
            REQUIRE(back.damage.size() == 1);
            CHECK_THAT(back.damage[0], Catch::Contains(file + ":1: "));
            CHECK(statuses(back) == std::vector{Status::ok, Status::ok, Status::failed});
            CHECK_FALSE(back.rows[0].samples.empty());
            CHECK_FALSE(back.rows[0].parts.empty());
        }
        write_file(folder.run / file, whole.substr(whole.find('\n') + 1));
        CHECK(statuses(read_results(folder.run)) == std::vector{Status::ok, Status::ok, Status::failed});
        CHECK_FALSE(read_results(folder.run).damage.empty());
        write_file(folder.run / file, whole);
    }
}

TEST_CASE("a damaged line of checksums.csv is named, and the others are compared")
{
    const Damaged folder;
    folder.replace("checksums.csv", "machine.yaml,", "machine.yaml,9");
    folder.change("plan.yaml", [](std::string& text) { text += "\n"; });
    const Results back = read_results(folder.run);
    REQUIRE(back.damage.size() == 2);
    CHECK_THAT(back.damage[0], Catch::Contains("checksums.csv:5: it does not match its checksum"));
    CHECK_THAT(back.damage[1], Catch::Contains("plan.yaml: it was changed"));
}

TEST_CASE("checksums.csv without its last lines, or without all of them, is damaged")
{
    const Damaged folder;
    const std::string whole = read_file(folder.run / "checksums.csv");
    for (std::size_t end = whole.rfind('\n', whole.size() - 2); end != std::string::npos;
         end = whole.rfind('\n', end - 1)) {
        write_file(folder.run / "checksums.csv", whole.substr(0, end + 1));
        const Results back = read_results(folder.run);
        INFO(whole.substr(0, end + 1));
        REQUIRE(back.damage.size() == 1);
        CHECK_THAT(back.damage[0], Catch::Contains("checksums.csv: it does not name "));
    }
}

TEST_CASE("of a million damaged lines a thousand are told, the others are counted, and no row is made of them")
{
    const Damaged folder;
    std::filesystem::remove(folder.run / "checksums.csv");
    folder.change("measurements.csv", [](std::string& text) { text.insert(text.find('\n'), 1'000'000, '\n'); });
    const Results back = read_results(folder.run);
    REQUIRE(back.damage.size() == 1001);
    CHECK(back.damage.back() == "999001 more lines are damaged");  // with the row that stood before them
    CHECK(back.rows.size() == 1003);
    CHECK(std::ranges::count(statuses(back), Status::ok) == 1);
}

TEST_CASE("a number of ranks above the limit is damage, and is read up to it")
{
    for (const auto& [ranks, status] : {std::pair{"0", Status::ok},
                                        {"65536", Status::ok},
                                        {"65537", Status::damaged},
                                        {"-1", Status::damaged},
                                        {"two", Status::damaged}}) {
        const TemporaryFolder folder;
        {
            RunDirectory directory(folder / "run", plan_text, fake_machine());
            Measurement row = measured().front();
            row.point.set("ranks", ranks);
            directory.append(row);
        }
        const Results back = read_results(folder / "run");
        REQUIRE(back.rows.size() == 1);
        CHECK(back.rows[0].status == status);
        if (status == Status::damaged)
            CHECK_THAT(back.damage.at(0),
                       Catch::Contains(fmt::format("ranks '{}' is no whole number up to 65536", ranks)));
    }
}

TEST_CASE("nothing is appended to a damaged folder, and nothing of it is removed")
{
    const Damaged folder;
    folder.replace("measurements.csv", "train,step", "train,\"step");
    const std::string before = read_file(folder.run / "measurements.csv");
    CHECK_THROWS_WITH(RunDirectory(folder.run, plan_text, fake_machine()), Catch::Contains("roof check"));
    CHECK(read_file(folder.run / "measurements.csv") == before);
}

TEST_CASE("accepted edits are usable, and the folder says so from then on")
{
    const Damaged folder;
    folder.replace("measurements.csv", "A made-up rate", "An invented rate");
    CHECK_FALSE(read_results(folder.run).damage.empty());
    REQUIRE(accept_edits(folder.run).size() == 1);
    const auto is_marked = [&] {
        const Results back = read_results(folder.run);
        return back.damage.empty() && back.remarks.size() == 1 &&
               back.remarks[0].starts_with("measurements.csv: edited after it was written");
    };
    CHECK(is_marked());
    {
        RunDirectory(folder.run, plan_text, fake_machine());
    }
    CHECK(is_marked());
}

TEST_CASE("an edit of a sample is accepted with its row")
{
    const Damaged folder;
    folder.change("samples.csv", [](std::string& text) { text[text.rfind("6,")] = '7'; });
    const std::vector<std::string> notes = accept_edits(folder.run);
    REQUIRE(notes.size() == 1);
    CHECK_THAT(notes[0], Catch::Contains("measurements.csv: ") && Catch::Contains("its rows in samples.csv"));
    CHECK(read_results(folder.run).damage.empty());
}

TEST_CASE("a row covers its lines in other files: one that moves to another row is named")
{
    const Damaged folder;
    const std::vector<Measurement> rows = read_results(folder.run).rows;
    folder.replace("samples.csv", rows[1].id() + ",", rows[0].id() + ",");
    const Results back = read_results(folder.run);
    CHECK(statuses(back) == std::vector{Status::damaged, Status::damaged, Status::failed});
    CHECK_THAT(
        back.damage.at(0),
        Catch::Matches(".*measurements.csv:2: it, or one of its [0-9]+ lines in samples.csv from line 2, or one of "
                       "its [0-9]+ lines in layers.csv from line 2, does not match its checksum: .*"));
}

TEST_CASE("a table of somebody's own in the folder is not checked")
{
    const Damaged folder;
    write_file(folder.run / "notes.csv", "a,b\n1\n2,3,4\n");
    CHECK(check_results(folder.run).damage.empty());
}

TEST_CASE("a folder with checksums of an older version is read with a remark")
{
    const Damaged folder;
    folder.change("measurements.csv", [](std::string& text) {
        std::string older;
        for_lines(text, [&](std::string_view line) {
            const std::string_view cell = older.empty() ? ",crc32\n" : ",00aa470e\n";
            older.append(line.substr(0, line.rfind(','))).append(cell);
        });
        text = older;
    });
    write_file(folder.run / "checksums.csv", "file,bytes,end,edited,crc32\nplan.yaml,33,1fe064a4,,6b502b08\n");
    const Results back = read_results(folder.run);
    CHECK(back.damage.empty());
    REQUIRE(back.remarks.size() == 1);
    CHECK_THAT(back.remarks[0], Catch::Contains("no checksums of this version"));
    CHECK(statuses(back) == std::vector{Status::ok, Status::ok, Status::failed});
}

TEST_CASE("the published folders are read without damage, whatever the order of their axes")
{
    std::size_t folders = 0;
    const std::filesystem::path examples = std::filesystem::path(ROOF_TEST_DATA) / "../../results/examples";
    for (const auto& entry : std::filesystem::recursive_directory_iterator(examples)) {
        if (entry.path().filename() != "measurements.csv") continue;
        INFO(entry.path());
        const Results results = read_results(entry.path().parent_path());
        CHECK(results.damage.empty());
        CHECK_FALSE(results.rows.empty());
        ++folders;
    }
    CHECK(folders > 3);
}
