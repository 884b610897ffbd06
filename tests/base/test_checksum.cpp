#include "ert/base/checksum.hpp"
#include "ert/base/csv_lines.hpp"
#include "ert/base/files.hpp"
#include "tests/fakes/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <sstream>

using namespace roof;

namespace {

/// Numbers of the lines that do not match, from 1.
std::vector<std::size_t> mismatches(const std::string& text)
{
    std::istringstream csv(text);
    CsvLines lines(csv, "x.csv");
    std::vector<std::size_t> numbers;
    while (lines.next())
        if (!lines.damage().empty()) numbers.push_back(lines.number());
    return numbers;
}

const std::string plain = "id,value\na,1\nb,22\n\"c,d\",333\n";

}  // namespace

TEST_CASE("the checksum of a line is the CRC-32 of the file up to it")
{
    CHECK(crc32_of("123456789") == 0xcbf43926);  // the check value of CRC-32
    CHECK(with_checksums("id,value\na,1\n") ==
          "id,value,crc32\na,1," + checksum_text(crc32_of("id,value\na,1\n")) + "\n");
    CHECK(mismatches(with_checksums(plain)).empty());
    CHECK(mismatches(plain).empty());
}

TEST_CASE("checksums are written anew and an unfinished last line is unchanged")
{
    const std::string proven = with_checksums(plain);
    CHECK(with_checksums(proven) == proven);
    CHECK(with_checksums(proven + "e,4") == proven + "e,4");
    std::string edited = proven;
    edited.replace(edited.find("22"), 2, "23");
    CHECK(mismatches(edited) == std::vector<std::size_t>{3});
    CHECK(mismatches(with_checksums(edited)).empty());
}

TEST_CASE("every changed byte, and every line that is lost, repeated or moved, does not match")
{
    const std::string proven = with_checksums(plain);
    const std::size_t first = proven.find('\n') + 1;
    for (std::size_t i = first; i < proven.size(); ++i) {
        if (proven[i] == '\n') continue;
        std::string changed = proven;
        changed[i] = static_cast<char>(changed[i] ^ 1);
        if (changed[i] == '"' || proven[i] == '"' || changed[i] == '\n') continue;
        INFO(changed);
        CHECK_FALSE(mismatches(changed).empty());
    }
    std::vector<std::string> lines;
    for (std::size_t begin = 0, end = 0; (end = proven.find('\n', begin)) != std::string::npos; begin = end + 1)
        lines.push_back(proven.substr(begin, end + 1 - begin));
    CHECK_FALSE(mismatches(lines[0] + lines[1] + lines[3]).empty());
    CHECK_FALSE(mismatches(lines[0] + lines[1] + lines[2] + lines[2] + lines[3]).empty());
    CHECK_FALSE(mismatches(lines[0] + lines[2] + lines[1] + lines[3]).empty());
}

TEST_CASE("appended lines continue the checksums of the file")
{
    const fakes::TemporaryFolder folder;
    append_lines(folder / "x.csv", "id,value\n", "a,1\n");
    append_lines(folder / "x.csv", "id,value\n", "b,22\n\"c,d\",333\n");
    CHECK(read_file(folder / "x.csv") == with_checksums(plain));
    CHECK(checksum_at(folder / "x.csv", std::filesystem::file_size(folder / "x.csv")) == crc32_of(plain));
    write_file(folder / "header.csv", "id,value,crc32\n");
    append_lines(folder / "header.csv", "id,value\n", "a,1\n");
    CHECK(read_file(folder / "header.csv") == with_checksums("id,value\na,1\n"));
}

TEST_CASE("a header that is damaged or lost is found again by the checksum of the line after it")
{
    const std::string proven = with_checksums(plain);
    const std::string header = "id,value";
    std::string damaged = proven;
    damaged.replace(0, header.size(), "i#,vaule,more");
    CHECK(with_header(damaged, header) == proven);
    CHECK(with_header(proven.substr(proven.find('\n') + 1), header) == proven);
    CHECK_FALSE(with_header(damaged, "id,other"));
    CHECK_FALSE(with_header(plain, header));
    CHECK_FALSE(with_header("", header));
    CHECK_FALSE(with_header("i#,value,crc32\n", header));
}
