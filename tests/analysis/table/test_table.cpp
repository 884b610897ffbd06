// One table in its four output formats.
#include "analysis/table/fitted_text.hpp"
#include "analysis/table/html.hpp"
#include "analysis/table/table.hpp"

#include "ert/base/text.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cmath>

using namespace roof;
using namespace roof::analysis;

namespace {

struct Layer {
    const char* name;
    double seconds;
    bool is_slow;
};

DataTable layers(const std::vector<Layer>& rows)
{
    static const std::vector<ColumnOf<Layer>> columns{
        {"layer", "layer",
         [](const Layer& l) {
             Cell cell = word(l.name);
             cell.is_warning = l.is_slow;
             return cell;
         }},
        {"time [95%]", "time_*_s",
         [](const Layer& l) {
             return range({l.seconds, 0.5 * l.seconds, 2 * l.seconds}, "s");
         }},
        {"note", "", [](const Layer&) { return absent(); }, Shown::page},
        {"", "known", [](const Layer&) { return word("measured"); }},
    };
    return table_of(columns, rows);
}

}  // namespace

TEST_CASE("the terminal and the page show columns with a title, CSV and JSON columns with a key")
{
    const DataTable table = layers({{"conv1", 0.004, false}});
    CHECK(to_text(table) == "layer            time [95%]\nconv1  4.00 ms [2.00, 8.00]\n");
    CHECK(
        html_table(table) ==
        "<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">layer</th><th scope=\"col\" class=\"n\">time "
        "[95%]</th><th scope=\"col\">note</th></tr></thead>\n<tbody>\n<tr><td>conv1</td><td class=\"n\">4.00 ms [2.00, "
        "8.00]</td><td>-</td></tr>\n</tbody></table></div>\n");
    CHECK(to_csv(table) == "layer,time_median_s,time_low_s,time_high_s,known\nconv1,0.004,0.002,0.008,measured\n");
    CHECK(to_json(table) == nlohmann::json::parse(R"([{"layer": "conv1", "time_median_s": 0.004, "time_low_s": 0.002,
                                                       "time_high_s": 0.008, "known": "measured"}])"));
}

TEST_CASE("a number that does not exist is null in JSON, empty in CSV and a dash for people")
{
    DataTable table{.columns = {{"a", "a"}, {"b", "b_*"}, {"c", "c"}},
                    .rows = {{{only_if(false, number(1)), absent(), number(INFINITY, "inf")}}}};
    CHECK(to_csv(table) == "a,b_median,b_low,b_high,c\n,,,,\n");
    const nlohmann::json json = to_json(table);
    for (const auto& [key, value] : json.front().items()) CHECK(value.is_null());
    CHECK(to_text(table) == "a  b    c\n-  -  inf\n");
}

TEST_CASE("a warning is marked on the page, and a cell can span the rest of its row")
{
    DataTable table = layers({{"conv1", 0.004, true}});
    CHECK_THAT(html_table(table), Catch::Contains("<td><span class=\"warn\">conv1</span></td>"));
    table.rows[0].cells[1].spans_rest = true;
    table.rows[0].cells[1].html = "<b>why</b>";
    CHECK_THAT(html_table(table), Catch::Contains("colspan=\"2\"><b>why</b></td></tr>"));
}

TEST_CASE("rows for programs are in CSV and JSON only")
{
    DataTable table = layers({{"conv1", 0.004, false}, {"conv2", 0.002, false}});
    table.rows[1].is_for_programs_only = true;
    CHECK_THAT(to_text(table) + html_table(table), !Catch::Contains("conv2"));
    CHECK_THAT(to_csv(table), Catch::Contains("conv2"));
    table.rows[0].is_for_programs_only = true;
    CHECK(table.empty());
    CHECK(html_table(table).empty());
}

TEST_CASE("a column without content is dropped, but kept for programs if it has a key")
{
    DataTable table{.columns = {{"a", ""}, {"b", "b"}, {"c", ""}}, .rows = {{{absent(), absent(), word("x")}}}};
    drop_empty_columns(table);
    CHECK(to_text(table) == "c\nx\n");
    CHECK(to_csv(table) == "b\n\n");
    CHECK(table.columns.size() == 2);
}

TEST_CASE("a table of texts aligns those that begin as numbers do, and needs a cell for each title")
{
    CHECK(to_text(text_table({"a", "b"}, {{"x", "1"}, {"yy", "<2"}})) == "a    b\nx    1\nyy  <2\n");
    CHECK_THROWS_AS(text_table({"a"}, {{"x", "y"}}), std::logic_error);
}

TEST_CASE("an unknown cell stays a number's or a word's, and a warning is one of its cell")
{
    CHECK((only_if(true, plain(1)).text == "1.00" && only_if(false, plain(1)).text == "-"));
    CHECK((only_if(false, plain(1)).is_number && !only_if(false, word("a")).is_number));
    CHECK((warning_if(true, word("a")).is_warning && !warning_if(false, warning_if(true, word("a"))).is_warning));
}

TEST_CASE("tables with different columns are appended by key: a cell that one lacks is absent")
{
    DataTable table{.columns = {{"model", "model"}, {"ranks", "ranks"}, {"time", "time_s"}},
                    .rows = {{{word("a"), number(2, "2"), number(0.5, "0.5")}}}};
    append(table, {.columns = {{"model", "model"}, {"data", "data"}, {"time", "time_s"}},
                   .rows = {{{word("b"), word("images"), number(0.25, "0.25")}}}});
    CHECK(to_csv(table) == "model,data,ranks,time_s\na,,2,0.5\nb,images,,0.25\n");
    DataTable empty;
    append(empty, table);
    CHECK(to_csv(empty) == to_csv(table));
    DataTable other{.columns = {{"A", "a"}, {"", "b"}, {"x", ""}}, .rows = {{{count(1), count(2), word("x1")}}}};
    append(other, {.columns = {{"B", "b"}, {"a", "a"}, {"C", "c"}, {"y", ""}, {"x", ""}},
                   .rows = {{{count(3), count(4), count(5), word("y2"), word("x2")}}}});
    CHECK(to_csv(other) == "a,c,b\n1,,2\n4,5,3\n");
    CHECK(to_text(other) == "A  C  y   B  x\n1  -  -   2  x1\n4  5  y2  3  x2\n");
}

TEST_CASE("below a chart, columns for programs have titles, and numbers without a text have three digits")
{
    const DataTable table =
        for_reading({.columns = {{"", "wall_time_s"}, {"b", "b"}}, .rows = {{{number(0.12345), number(2.5, "many")}}}});
    CHECK(table.columns[0].title == "wall time s");
    CHECK(table.rows[0].cells[0].text == "0.123");
    CHECK(table.rows[0].cells[1].text == "many");
    DataTable more{.columns = {{"", "time_*_s"}, {"b", "key"}, {"same", "c"}},
                   .rows = {{{word("1"), word("x"), word("s")}}, {{word("2"), word("y"), word("s")}}}};
    more.rows[1].is_for_programs_only = true;
    CHECK(to_text(for_reading(more)) == "time  s  b\n1        x\n2        y\n");
}

TEST_CASE("a cell that a spreadsheet would compute begins with an apostrophe, and no other")
{
    const auto cell_of = [](const std::string& text) {
        const DataTable table{.columns = {{"a", "a"}}, .rows = {{{word(text)}}}};
        return to_csv(table).substr(2);
    };
    for (const std::string first : {"=", "+", "-", "@", "\t", "\r"}) {
        INFO(first);
        CHECK(cell_of(first + "1+1") == "'" + printable(first) + "1+1\n");
    }
    for (const std::string plain : {"1-1", "a=1", "#1", "'1", "(1)", "/1"}) CHECK(cell_of(plain) == plain + "\n");
}
