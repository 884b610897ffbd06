// `roof run --explain`: the plan of a step, with every operation and every reorder.
#include "tools/roof/session/plans.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace roof;

namespace {

Explanation two_parts()
{
    TimedPart part{.layer = "conv1", .kind = "convolution", .phase = Phase::forward, .work = {}, .implementation = {}};
    part.operations = {{"reorder jit:blk", "from fp32 ab, to fp32 ba", Bytes{3000}},
                       {"jit:avx2", "from fp32 ba", Bytes{5000}}};
    TimedPart other = part;
    other.layer = "conv2";
    return {.item = "train net", .reason = {}, .variant = "2 direct", .memory = Bytes{1e6}, .parts = {part, other}};
}

}  // namespace

TEST_CASE("an explanation has memory, reorders, and each operation with operands and bytes")
{
    const std::string text = explanation_text(two_parts());
    CHECK_THAT(text, Catch::Contains("memory 1.00 MB; 2 direct; 2 reorders, 6.00 kB\n"));
    CHECK_THAT(text, Catch::Contains("forward  conv2 (convolution)"));
    CHECK_THAT(text, Catch::Contains("jit:avx2") && Catch::Contains("5.00 kB  from fp32 ba"));
    const nlohmann::json json = explanation_json(two_parts());
    CHECK(json["parts"][1]["operations"][0]["bytes"] == 3000);
}

TEST_CASE("an explanation gives the reason of an unsupported item, and omits reorders if there are none")
{
    Explanation none = two_parts();
    none.parts.clear();
    CHECK_THAT(explanation_text(none), !Catch::Contains("reorder"));
    none.reason = "no such thing here";
    CHECK_THAT(explanation_text(none), Catch::Contains("unsupported: no such thing here"));
}
