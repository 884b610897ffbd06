#include "ert/cupti/labels.hpp"

#include <catch2/catch.hpp>

using namespace roof::cupti;

TEST_CASE("a label has one number, which returns the label")
{
    Labels labels;
    const auto first = labels.number_of({"conv1", "forward"});
    const auto second = labels.number_of({"conv1", "backward"});
    CHECK(first != 0);
    CHECK(first != second);
    CHECK(labels.number_of({"conv1", "forward"}) == first);
    CHECK(labels.label_of(second) == Label{"conv1", "backward"});
    CHECK(labels.label_of(0) == Label{});
    CHECK(labels.label_of(99) == Label{});
}

TEST_CASE("a node of a graph keeps the label of its capture through every copy of the graph")
{
    Labels labels;
    labels.captured(7, labels.number_of({"fc", "update"}));
    labels.cloned(8, 7);
    labels.cloned(9, 8);
    labels.cloned(10, 6);
    CHECK(labels.label_of(labels.of_node(7)).layer == "fc");
    CHECK(labels.label_of(labels.of_node(9)).layer == "fc");
    CHECK(labels.of_node(10) == 0);
    CHECK(labels.of_node(6) == 0);
}

TEST_CASE("a node that is captured again without a label keeps its label")
{
    Labels labels;
    const auto number = labels.number_of({"fc", "update"});
    labels.captured(7, number);
    labels.captured(7, 0);
    CHECK(labels.of_node(7) == number);
}
