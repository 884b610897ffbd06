#include "ert/base/text.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

using namespace roof;

TEST_CASE("SI prefixes keep three digits and never print 1000 of a unit")
{
    REQUIRE(format_si(1.234e9, "FLOP/s") == "1.23 GFLOP/s");
    REQUIRE(format_si(999.9e9, "B/s") == "1.00 TB/s");
    REQUIRE(format_si(12.34e6, "B") == "12.3 MB");
    REQUIRE(format_si(0.0123, "s") == "12.3 ms");
    REQUIRE(format_si(0, "s") == "0 s");
    REQUIRE(format_si(5e-9, "s") == "5.00 ns");
    REQUIRE(format_si(2e-13, "s") == "0.00 ns");
    REQUIRE(format_si(2e20, "FLOP") == "200000 PFLOP");
    REQUIRE(format_si(1e99, "FLOP") == "1.00e+99 FLOP");
}

TEST_CASE("a number with a unit is read with its SI prefix, from k to P")
{
    CHECK(parse_si("3GB", "B") == 3e9);
    CHECK(parse_si("3 GB", "B") == 3e9);
    CHECK(parse_si("2.5 TFLOP/s", "FLOP/s") == 2.5e12);
    CHECK(parse_si("7B", "B") == 7);
    CHECK(parse_si("30GiB", "B") == 32212254720.0);
    CHECK(parse_si("1.5 KiB", "B") == 1536);
    for (const char* wrong : {"3iB", "3mi", "3XiB", "GiB", "3", "3G", "3mB", "GB", "3XB", "3 G", "", "B", "3 B/s"}) {
        CAPTURE(wrong);
        CHECK_FALSE(parse_si(wrong, "B"));
    }
}

TEST_CASE("capacities have binary prefixes")
{
    REQUIRE(format_capacity(32768) == "32 KiB");
    REQUIRE(format_capacity(1.5 * 1048576) == "1.5 MiB");
    REQUIRE(format_capacity(512) == "512 B");
}

TEST_CASE("long durations are in minutes and seconds")
{
    REQUIRE(format_duration(200) == "3 min 20 s");
    REQUIRE(format_duration(7199) == "119 min 59 s");
    REQUIRE(format_duration(7199.6) == "2 h 00 min");
    REQUIRE(format_duration(17270) == "4 h 48 min");
    REQUIRE(format_duration(1.5) == "1.50 s");
}

TEST_CASE("an exact number parses to the same value")
{
    for (const double value : {0.1, 1.0 / 3, 6.952675781, 1e300, 4144577280.0})
        REQUIRE(std::stod(format_exact(value)) == value);
}

TEST_CASE("globs match sequences and single characters")
{
    REQUIRE(glob_match("*resnet1?*", "train cpu model=resnet18 batch=4"));
    REQUIRE_FALSE(glob_match("resnet", "resnet18"));
    REQUIRE(glob_match("", ""));
    REQUIRE_FALSE(glob_match("a*b", "ac"));
}

TEST_CASE("a misspelt name gets the nearest legal name, and an unrelated name gets none")
{
    const std::vector<std::string> legal{"resnet18", "vgg16", "alexnet"};
    REQUIRE(nearest("resnet81", legal) == "resnet18");
    REQUIRE(nearest("RESNET18", legal) == "resnet18");
    REQUIRE(nearest("quicksilver", legal).empty());
    REQUIRE(nearest("fp16", std::vector<std::string>{"fp32", "bf16"}).empty());
    REQUIRE(nearest("tcsh", std::vector<std::string>{"bash", "zsh", "fish"}).empty());
    REQUIRE(nearest("fp23", std::vector<std::string>{"fp3", "fp32"}) == "fp3");
    REQUIRE(unknown_word("model", "vgg17", legal) ==
            "unknown model 'vgg17'; did you mean 'vgg16'?; legal values: resnet18, vgg16, alexnet");
}

TEST_CASE("control characters are not printed on a terminal")
{
    REQUIRE(printable("a\x1b[2Jb\n") == "a?[2Jb?");
    REQUIRE(printable("\xC2\x9B"
                      "2J") == "??2J");  // C1
    // Each mark that turns the direction of what follows it is shown (Unicode 9, UAX #9, section 2).
    for (const auto& [mark, shown] : std::vector<std::pair<std::string, std::string>>{{"\xD8\x9C", "061C"},
                                                                                      {"\xE2\x80\x8E", "200E"},
                                                                                      {"\xE2\x80\x8F", "200F"},
                                                                                      {"\xE2\x80\xAA", "202A"},
                                                                                      {"\xE2\x80\xAB", "202B"},
                                                                                      {"\xE2\x80\xAC", "202C"},
                                                                                      {"\xE2\x80\xAD", "202D"},
                                                                                      {"\xE2\x80\xAE", "202E"},
                                                                                      {"\xE2\x81\xA6", "2066"},
                                                                                      {"\xE2\x81\xA7", "2067"},
                                                                                      {"\xE2\x81\xA8", "2068"},
                                                                                      {"\xE2\x81\xA9", "2069"}})
        CHECK(printable("a" + mark + "b") == "a[U+" + shown + "]b");
    CHECK(printable("שלום") == "שלום");
    REQUIRE(printable("µ × é € 𝄞") == "µ × é € 𝄞");
    REQUIRE(printable_lines("a\tb\n\rc") == "a\tb\n?c");
}

TEST_CASE("bytes that are no UTF-8 are not printed")
{
    for (const std::string wrong : {"\xFF", "\x80", "\xC3", "\xC0\xAF", "\xE2\x82", "\xED\xA0\x80", "\xF5\x80\x80\x80"})
        REQUIRE(printable("a" + wrong + "b") == "a" + std::string(wrong.size(), '?') + "b");
}

TEST_CASE("a long text is shortened between characters")
{
    REQUIRE(shortened("abc", 3) == "abc");
    REQUIRE(shortened("abcd", 3) == "abc…");
    REQUIRE(shortened("aµµ", 2) == "a…");
}

TEST_CASE("in ASCII, roof's own signs are words, a table keeps its width, and any other character is as in JSON")
{
    CHECK(in_ascii("≤ 78% of 3 µs, 2² × 3 …") == "<=78% of 3 us, 2^2 x 3 ...");
    CHECK(in_ascii("≥3 │ └─ █") == ">=3 | +- #");
    // Python: json.dumps("n\u00fcll \u65e5 \U0001f600")
    CHECK(in_ascii("n\u00fcll \u65e5 \U0001f600") == "n\\u00fcll \\u65e5 \\ud83d\\ude00");
    CHECK(in_ascii("a\tb\n") == "a\tb\n");
    CHECK(in_ascii("\xFF") == "?");
}

TEST_CASE("what is not finite is not printed as a number")
{
    const double infinite = std::numeric_limits<double>::infinity();
    REQUIRE(format_si(infinite, "B/s") == "-");
    REQUIRE(format_capacity(infinite) == "-");
    REQUIRE(format_exact(-std::nan("")).empty());
}

TEST_CASE("splitting and joining are inverse")
{
    const std::string text = "4,8,,16";
    REQUIRE(join(split(text, ','), ",") == text);
    REQUIRE(trim("  a b\r\n") == "a b");
}
