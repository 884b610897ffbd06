#include "analysis/recordings/import_units.hpp"

#include <catch2/catch.hpp>

using namespace roof::analysis;

TEST_CASE("units, prefixes and quotients are parsed by a table")
{
    const auto is = [](const char* text, double factor, const std::string& name) {
        INFO(text);
        const auto unit = unit_of(text);
        REQUIRE(unit);
        CHECK(unit->factor == Approx(factor));
        CHECK(unit->name == name);
    };
    is("Kbyte", 1e3, "byte");
    is("MiB", 1048576, "byte");
    is("GBytes", 1e9, "byte");
    is("nsecond", 1e-9, "s");
    is("usecond", 1e-6, "s");
    is("ms", 1e-3, "s");
    is("Ghz", 1e9, "Hz");
    is("MFLOP/s", 1e6, "FLOP/s");
    is("Gbyte/second", 1e9, "byte/s");
    is("cycle/nsecond", 1e9, "cycle/s");
    is("1/ns", 1e9, "/s");
    is("cluster", 1, "cluster");
    is("pass", 1, "pass");
    is("Kbyte/pass", 1e3, "byte/pass");
    is("", 1, "");
    is("%", 0.01, "");
    CHECK_FALSE(unit_of("furlong"));
    CHECK_FALSE(unit_of("kbyte"));
    CHECK_FALSE(unit_of("Kcluster"));
    CHECK_FALSE(unit_of("Mpass"));
    CHECK_FALSE(unit_of("byte/furlong"));
}

TEST_CASE("numbers are read only in the style of their file")
{
    CHECK(number_of("1,234,567.5") == 1234567.5);
    CHECK(number_of("1.234.567,5", NumberStyle::comma) == 1234567.5);
    CHECK(number_of("117.344") == 117.344);
    CHECK(number_of("117.344", NumberStyle::comma) == 117344);
    CHECK(number_of("4.0e-05") == 4.0e-05);
    CHECK(number_of("-3") == -3);
    CHECK(number_of("1000000") == 1000000);
    for (const char* wrong :
         {"", "-", "n/a", "nan", "inf", "12,34", "1,2345", ",123", "1.2.3", "0x10", "1e", "1e999", "5 "}) {
        INFO(wrong);
        CHECK_FALSE(number_of(wrong));
    }
}

TEST_CASE("the style of a number is recognized where it is unambiguous")
{
    CHECK(style_shown_by("27.595.520") == NumberStyle::comma);
    CHECK(style_shown_by("27,595,520") == NumberStyle::point);
    CHECK(style_shown_by("1.234,5") == NumberStyle::comma);
    CHECK(style_shown_by("1,234.5") == NumberStyle::point);
    CHECK_FALSE(style_shown_by("1,234"));
    CHECK_FALSE(style_shown_by("1234"));
}
