// Compares the hashed recipe with sums and values of another implementation.
#include "ert/base/text.hpp"
#include "tests/fakes/read_csv.hpp"
#include "workloads/model/hashed.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <numeric>

using namespace roof;
using namespace roof::model;

namespace {

struct Truth {
    CsvTable table = read_csv(std::string(ROOF_TEST_DATA) + "/data/hashed.csv");

    const std::string& text(std::size_t row, std::string_view column) const
    {
        return table.rows[row][table.column(column)];
    }
    double number(std::size_t row, std::string_view column) const { return std::stod(text(row, column)); }
};

void check_values(const Truth& truth, std::size_t row, const HashedFill& fill)
{
    CHECK(fill.seed == truth.number(row, "seed"));
    CHECK(fill.scale == truth.number(row, "scale"));
    CHECK(fill.offset == truth.number(row, "offset"));

    std::size_t elements = 1;
    for (const std::string& extent : split(truth.text(row, "shape"), 'x')) elements *= std::stoul(extent);
    std::vector<float> values(elements);
    fill.fill(values);
    CHECK(values[0] == static_cast<float>(truth.number(row, "first0")));
    CHECK(values[1] == static_cast<float>(truth.number(row, "first1")));
    CHECK(values[2] == static_cast<float>(truth.number(row, "first2")));
    CHECK(values[3] == static_cast<float>(truth.number(row, "first3")));
    CHECK(values.back() == static_cast<float>(truth.number(row, "last")));
    // The reference sum is pairwise, this one sequential: they differ by rounding, far less than one value.
    CHECK(std::accumulate(values.begin(), values.end(), 0.0) == Approx(truth.number(row, "sum")).margin(1e-7));
}

}  // namespace

TEST_CASE("hashed parameters of AlexNet and ResNet-18 equal the parity fixtures bit for bit")
{
    const Truth truth;
    const std::map<std::string, Graph> graphs{{"alexnet", build_model("alexnet")},
                                              {"resnet18", build_model("resnet18")}};
    std::map<std::string, int> position;
    for (std::size_t row = 0; row < truth.table.rows.size(); ++row) {
        if (truth.text(row, "name") == "input") continue;
        const Graph& graph = graphs.at(truth.text(row, "model"));
        const int k = position[graph.name()]++;
        const Parameter parameter = graph.parameters()[static_cast<std::size_t>(k)];
        INFO(graph.name() << " " << parameter.name);
        REQUIRE(parameter.name == truth.text(row, "name"));
        CHECK(parameter.elements() > 0);
        check_values(truth, row, hashed_parameter(graph, k));
    }
    CHECK(position["alexnet"] == 16);
    CHECK(position["resnet18"] == 62);
}

TEST_CASE("the hashed input and its labels equal the parity fixtures")
{
    const Truth truth;
    const std::size_t row = truth.table.rows.size() - 1;
    REQUIRE(truth.text(row, "name") == "input");
    check_values(truth, row, hashed_input());
    CHECK(hashed_label(0, 1000) == 7);
    CHECK(hashed_label(1, 1000) == 396);
    CHECK(hashed_label(3, 1000) == 174);
    CHECK(hashed_label(3, 10) == 4);
}

TEST_CASE("only networks without batch norm start from damped weights")
{
    CHECK(hashed_parameter(build_model("vgg16"), 0).scale ==
          Approx(0.85 * hashed_parameter(build_model("vgg16_bn"), 0).scale));
    CHECK_THROWS_AS(hashed_parameter(build_model("alexnet"), 16), std::out_of_range);
}
