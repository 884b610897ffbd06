#include "ert/base/checksum.hpp"
#include "ert/base/csv_lines.hpp"
#include "ert/base/files.hpp"
#include "tests/fakes/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>
#include <sstream>

using namespace roof;

namespace {

/// What is wrong with the lines, and with an end that is missing.
std::vector<std::string> damage_of(const std::string& text)
{
    std::istringstream csv(text);
    CsvLines lines(csv, "x.csv");
    std::vector<std::string> damage;
    std::string what;
    for (bool more = true; more;) {
        more = lines.next(what);  // a quote that a change has put within a cell is damage, too
        for (const std::string& found : {what, lines.block_damage()})
            if (!found.empty()) damage.push_back(found);
    }
    return damage;
}

std::vector<std::string> lines_of(const std::string& text)
{
    std::vector<std::string> lines;
    for_lines(text, [&](std::string_view line) { lines.push_back(std::string(line) + "\n"); });
    return lines;
}

std::string joined(const std::vector<std::string>& lines)
{
    return std::accumulate(lines.begin(), lines.end(), std::string());
}

const std::string plain = "id,value\na,1\nb,22\n\"c,d\",333\n";

/// Two blocks, of three lines and of two.
struct Blocks {
    fakes::TemporaryFolder folder;
    std::filesystem::path file = folder / "x.csv";

    Blocks()
    {
        append_block(file, "id,value", "a,1\nb,22\n\"c,d\",333\n");
        append_block(file, "id,value", "e,4\nf,5\n");
    }
    std::string text() const { return read_file(file); }
};

}  // namespace

TEST_CASE("the checksum of a block is the one that its description computes")
{
    CHECK(crc32_of("123456789") == 0xcbf43926);  // the check value of CRC-32
    // By the lines of Python in ert/base/checksum.hpp, for "id,value" and "a,1", "b,22", "\"c,d\",333".
    CHECK(with_checksums(plain) == "id,value,block_checksum\na,1,\nb,22,\n\"c,d\",333,g4TabBJn\n");
    CHECK(Blocks().text() == "id,value,block_checksum\na,1,\nb,22,\n\"c,d\",333,g4TabBJn\ne,4,\nf,5,l_vhcQgH\n");
    CHECK(damage_of(Blocks().text()).empty());
    CHECK(damage_of(plain).empty());
    CHECK(with_checksums("id,value\n") == "id,value,block_checksum\n");
    CHECK(with_checksums("") == "");
    CHECK((has_column("a,block_checksum:run", block_column) && has_column("a,block_checksum", block_column)));
    CHECK_FALSE((has_column("block_checksum", block_column) || has_column("a,b,row_checksum", block_column)));
}

TEST_CASE("the one line whose change explains a checksum is found, whatever its CRC-32 was and is")
{
    const auto sum_of = [](const std::vector<std::uint32_t>& lines) {
        BlockSum sum;
        for (const std::uint32_t crc : lines) sum.add(crc);
        return sum;
    };
    const BlockSum sum = sum_of({7, 0, 0xFFFFFFFF});
    CHECK(sum.changed_line(sum_of({7, 0xFFFFFFFF, 0xFFFFFFFF}).text()) == 2);
    CHECK(sum.changed_line(sum_of({7, 0, 0}).text()) == 3);
    CHECK(sum.changed_line(sum_of({8, 1, 0}).text()) == 0);
    CHECK(sum.changed_line(sum.text()) == 0);
    CHECK(sum_of({119, 3, 5}).text() == "_EV1a4ob");
    CHECK(sum_of({119, 3, 5}).changed_line("_EV1a4oc") == 3);
    CHECK(sum_of({119, 3, 5}).changed_line("^EV1a4oc") == 0);
}

TEST_CASE("each line of a row's block is told by its own sentence")
{
    const auto damage = [](std::size_t changed, bool has_run = true) {
        const auto crc = [&](std::uint32_t line) { return line == changed ? 77U : line; };
        BlockSum stated;
        for (std::uint32_t line = 1; line <= (has_run ? 8U : 7U); ++line) stated.add(crc(line));
        Block block(1);
        block.add(2, "f/m.csv", 5);
        block.add(4, "f/s.csv", 10, 3);
        block.add(5, "f/s.csv", 11, 3);
        block.add(7, "f/l.csv", 20, 6);
        return block.damage(stated.text(), has_run ? std::optional(8U) : std::nullopt);
    };
    const std::string does_not = "f/m.csv:5: it does not match its checksum: ";
    const std::string any =
        "f/m.csv:5: it, or one of its 2 lines in s.csv from line 10, or one of its 1 lines in l.csv from "
        "line 20, does not match its checksum: it was changed, or a line is missing, repeated or moved";
    CHECK(damage(0).empty());
    CHECK(damage(0, false).empty());
    CHECK(damage(1) == does_not + "a line before it is missing, repeated or moved");
    CHECK(damage(2) == does_not + "it was changed");
    CHECK((damage(3) == any && damage(6) == any));
    CHECK(damage(4) == "f/s.csv:10: it does not match the checksum of its row, m.csv:5");
    CHECK(damage(5) == "f/s.csv:11: it does not match the checksum of its row, m.csv:5");
    CHECK(damage(7, false) == "f/l.csv:20: it does not match the checksum of its row, m.csv:5");
    CHECK(damage(8) == does_not + "the header of the file was changed");
}

TEST_CASE("a long text becomes blocks in which a damaged line is found")
{
    std::string lines;
    for (int i = 0; i < 1024; ++i) lines += std::to_string(i) + ",0\n";
    std::string proven = with_checksums("id,value\n" + lines);
    CHECK(damage_of(proven).empty());
    CHECK(std::ranges::count(lines_of(proven), true, [](const std::string& line) { return line.size() > 14; }) ==
          5);  // 4 blocks, and the header
    proven.replace(proven.find("\n700,0"), 6, "\n700,1");
    REQUIRE(damage_of(proven).size() == 1);
    CHECK_THAT(damage_of(proven)[0], Catch::StartsWith("x.csv:702: it does not match its checksum: it was changed"));
}

TEST_CASE("checksums are written anew and an unfinished last line is unchanged")
{
    const std::string proven = Blocks().text();
    CHECK(with_checksums(proven) == proven);
    CHECK(with_checksums(proven + "g,4") == proven + "g,4");
    std::string edited = proven;
    edited.replace(edited.find("22"), 2, "23");
    CHECK_FALSE(damage_of(edited).empty());
    CHECK(damage_of(with_checksums(edited)).empty());
    CHECK(damage_of(with_checksums(proven + "g,6,\n")).empty());
}

TEST_CASE("every changed byte, and every line that is lost, repeated or moved, does not match")
{
    const std::string proven = Blocks().text();
    for (std::size_t i = proven.find('\n') + 1; i < proven.size(); ++i) {
        std::string changed = proven;
        changed[i] = static_cast<char>(changed[i] ^ 1);
        if (changed[i] == '"' || proven[i] == '"') continue;
        INFO(changed);
        CHECK_FALSE(damage_of(changed).empty());
    }
    const std::vector<std::string> lines = lines_of(proven);
    for (std::size_t i = 1; i < lines.size(); ++i) {
        std::vector<std::string> lost = lines, repeated = lines, moved = lines;
        lost.erase(lost.begin() + static_cast<std::ptrdiff_t>(i));
        repeated.insert(repeated.begin() + static_cast<std::ptrdiff_t>(i), lines[i]);
        std::rotate(moved.begin() + 1, moved.begin() + static_cast<std::ptrdiff_t>(i), moved.end());
        INFO(lines[i]);
        CHECK_FALSE(damage_of(joined(lost)).empty());
        CHECK_FALSE(damage_of(joined(repeated)).empty());
        if (i > 1) CHECK_FALSE(damage_of(joined(moved)).empty());
    }
}

TEST_CASE("the changed line of a block is named, else the block")
{
    const std::string proven = Blocks().text();
    const auto damage = [&](const std::string& from, const std::string& to) {
        std::string changed = proven;
        changed.replace(changed.find(from), from.size(), to);
        return damage_of(changed);
    };
    CHECK(damage("b,22", "b,23") ==
          std::vector<std::string>{"x.csv:3: it does not match its checksum: it was changed"});
    CHECK(damage("e,4", "e,5") == std::vector<std::string>{"x.csv:5: it does not match its checksum: it was changed"});
    const std::string why = " does not match its checksum: it was changed, or a line is missing, repeated or moved";
    CHECK(damage("a,1,\nb,22,", "a,2,\nb,23,").at(0) == "x.csv:2: it, or a line after it up to 4," + why);
    CHECK(damage("e,4,\n", "").at(0) == "x.csv:5: it" + why);
    // A letter more, where the last one would be another.
    CHECK(damage("g4TabBJn", "Bg4TabBJo").at(0) == "x.csv:2: it, or a line after it up to 4," + why);
    CHECK_THAT(damage("id,", "if,").at(0),
               Catch::StartsWith("x.csv:2: it does not match its checksum: a line before it is missing"));
    const std::string open =
        "x.csv:7: from here on the lines have no checksum: they were cut off, or are still written";
    CHECK(damage_of(proven + "g,6,\n") == std::vector<std::string>{open});
    CHECK(damage_of(proven + "x\n") == std::vector<std::string>{"x.csv:7: 1 cells, its header has 2", open});
}

TEST_CASE("nothing is appended behind a block without an end")
{
    const Blocks blocks;
    CHECK(last_checksum(blocks.file, std::filesystem::file_size(blocks.file)) == "l_vhcQgH");
    write_file(blocks.folder / "header.csv", "id,value,block_checksum\n");
    append_block(blocks.folder / "header.csv", "id,value", "a,1\n");
    CHECK(read_file(blocks.folder / "header.csv") == with_checksums("id,value\na,1\n"));
    for (const std::string& text : {blocks.text() + "g,6,\n", std::string("id,other,block_checksum\n"), plain}) {
        write_file(blocks.folder / "other.csv", text);
        CHECK_THROWS_WITH(
            append_block(blocks.folder / "other.csv", "id,value", "h,7\n"),
            (blocks.folder / "other.csv").string() + ": nothing is appended, because its last lines have no checksum");
        CHECK(read_file(blocks.folder / "other.csv") == text);
    }
}

TEST_CASE("the column of an older version is left out and not compared")
{
    std::istringstream csv("id,value,crc32\na,1,8034b4ec\n");
    CsvLines lines(csv, "x.csv");
    REQUIRE((lines.next() && lines.next()));
    CHECK(lines.cells().size() == 2);
    CHECK_FALSE(lines.has_checksums());
    CHECK(lines.damage().empty());
}

TEST_CASE("a header that is damaged or lost is found again by the first block")
{
    const std::string proven = Blocks().text();
    const std::string header = "id,value,block_checksum";
    std::string damaged = proven;
    damaged.replace(0, header.size(), "i#,vaule,more");
    CHECK(with_header(damaged, header) == proven);
    CHECK(with_header(proven.substr(proven.find('\n') + 1), header) == proven);
    CHECK_FALSE(with_header(damaged, "id,other,block_checksum"));
    CHECK_FALSE(with_header(plain, header));
    CHECK_FALSE(with_header("", header));
    CHECK_FALSE(with_header("i#,value,block_checksum\n", header));
    // Without blocks by the number of cells; the id of a row has blanks.
    CHECK(with_header("i#,vaule\na 1,2\n", "id,value") == "id,value\na 1,2\n");
    CHECK(with_header("a 0,1\na 1,2\n", "id,value") == "id,value\na 0,1\na 1,2\n");
    CHECK_FALSE(with_header("i#\na 1,2,3\n", "id,value"));
    CHECK_FALSE(with_header("i#\na 1,\"2\n", "id,value"));
}

TEST_CASE("with a run the header counts at the end of every block, and a changed one is named")
{
    const fakes::TemporaryFolder folder;
    write_file(folder / "machine.yaml", "format: 3\nrun: abcdefghij\nname: x\n");
    append_block(folder / "x.csv", "id,value", "a,1\nb,22\n\"c,d\",333\n");
    append_block(folder / "x.csv", "id,value", "e,4\nf,5\n");
    const std::string text = read_file(folder / "x.csv");
    // By the lines of Python in ert/base/checksum.hpp.
    CHECK(text == "id,value,block_checksum:abcdefghij\na,1,\nb,22,\n\"c,d\",333,y2gXckY9\ne,4,\nf,5,aaELoi5V\n");
    CHECK(with_checksums(plain + "e,4\nf,5\n", "abcdefghij") != text);  // one block in place of two
    CHECK(damage_of(text).empty());
    std::string changed = text;
    changed.replace(changed.find(":a"), 2, ":b");
    CHECK(damage_of(changed) ==
          std::vector<std::string>{"x.csv:2: it does not match its checksum: the header of the file was changed",
                                   "x.csv:5: it does not match its checksum: the header of the file was changed"});
    CHECK(with_checksums(changed, "abcdefghij") == text);
}
