// The table of instruction sets, and the operations that exist for them.
#include "cpu/isa.hpp"
#include "cpu/kernels/operations.hpp"
#include "ert/base/error.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::cpu;
using Catch::Matchers::Contains;
using Catch::Matchers::Equals;

namespace {

std::string why_not(std::string_view operation, std::string_view isa, Precision precision)
{
    return contradiction(operation, parse_isa(isa), precision).value_or("");
}

std::size_t tried(std::string_view operation, std::string_view isa, Precision precision,
                  const std::vector<std::string>& features)
{
    return candidates(operation, parse_isa(isa), precision, features).size();
}

}  // namespace

TEST_CASE("every instruction set has its name, and tiles are not a vector set")
{
    for (const Isa& isa : isa_table) {
        CHECK(parse_isa(isa.name).encoding == isa.encoding);
        CHECK(isa.encoding != Encoding::tile);
    }
    CHECK(parse_isa("amx").encoding == Encoding::tile);
    CHECK_THROWS_WITH(parse_isa("avx"), Contains("avx512") && Contains("amx"));
    const std::vector<std::string> usable = usable_isas();
    CHECK(std::find(usable.begin(), usable.end(), "amx") == usable.end());
}

TEST_CASE("features are listed only for usable instruction sets")
{
    const std::vector<std::string> isas = usable_isas();
    for (const std::string& feature : usable_features()) {
        if (!feature.starts_with("avx512")) continue;
        CHECK(std::find(isas.begin(), isas.end(), "avx512") != isas.end());
    }
}

TEST_CASE("an operation that a precision or instruction set lacks has a reason")
{
    CHECK_THAT(why_not("fma", "avx512", Precision::int8), Equals("int8 has the operations dot, tile, not fma"));
    CHECK_THAT(why_not("dot", "avx2", Precision::fp32), Contains("fp32 has the operations fma, mul, add, div, sqrt"));
    CHECK_THAT(why_not("dot", "sse", Precision::bf16), Equals("sse has no arithmetic in bf16"));
    CHECK_THAT(why_not("dot", "avx2", Precision::bf16), Equals("avx2 in bf16 has widened, not dot"));
    CHECK_THAT(why_not("best", "avx2", Precision::fp16), Equals("avx2 has no arithmetic in fp16"));
    CHECK_THAT(why_not("tile", "avx512", Precision::int8), Equals("avx512 in int8 has dot, not tile"));
    CHECK_THAT(why_not("dot", "amx", Precision::bf16), Equals("amx in bf16 has tile, not dot"));
    CHECK_THAT(why_not("fma", "amx", Precision::fp32), Equals("amx has no arithmetic in fp32"));
    CHECK_THAT(why_not("best", "avx512", Precision::tf32), Contains("tf32"));
    CHECK_THROWS_AS(why_not("fma + add", "sse", Precision::fp32), InputError);
}

TEST_CASE("an existing operation has no contradiction")
{
    CHECK(why_not("div", "scalar", Precision::fp64).empty());
    CHECK(why_not("fma+add", "avx512", Precision::fp16).empty());
    CHECK(why_not("dot", "avx2", Precision::int8).empty());
    CHECK(why_not("dot", "avx512", Precision::bf16).empty());
    CHECK(why_not("tile", "amx", Precision::bf16).empty());
    CHECK(why_not("best", "amx", Precision::int8).empty());
    CHECK(why_not("best", "sse", Precision::fp32).empty());
}

TEST_CASE("`best` is searched among the operations that the machine can run")
{
    const std::size_t with = tried("best", "sse", Precision::fp32, {"fma"});
    const std::size_t without = tried("best", "sse", Precision::fp32, {});
    CHECK(without == tried("mul+add", "sse", Precision::fp32, {}) + tried("add", "sse", Precision::fp32, {}));
    CHECK(with ==
          without + tried("fma", "sse", Precision::fp32, {"fma"}) + tried("fma+add", "sse", Precision::fp32, {"fma"}));
    CHECK(tried("best", "avx512", Precision::bf16, {}) == 0);
    CHECK(tried("best", "avx512", Precision::bf16, {"avx512_bf16"}) ==
          tried("dot", "avx512", Precision::bf16, {"avx512_bf16"}));
    CHECK(tried("best", "avx2", Precision::bf16, {"fma"}) > 0);
    CHECK(tried("best", "avx512", Precision::bf16, {"avx512_bf16", "fma"}) ==
          tried("dot", "avx512", Precision::bf16, {"avx512_bf16"}) +
              tried("widened", "avx512", Precision::bf16, {"fma"}));
    CHECK(tried("best", "amx", Precision::int8, {"amx_int8"}) > 0);
}

TEST_CASE("a missing feature is named only if no other form of the operation can run")
{
    const auto missing = [](std::string_view operation, std::string_view isa, Precision precision,
                            const std::vector<std::string>& features) {
        return missing_feature(operation, parse_isa(isa), precision, features);
    };
    CHECK(missing("fma+add", "sse", Precision::fp32, {}) == "fma");
    CHECK(missing("best", "sse", Precision::fp32, {}).empty());
    CHECK(missing("dot", "avx2", Precision::int8, {"avx512_vnni"}) == "avx_vnni");
    CHECK(missing("dot", "avx512", Precision::int8, {"avx512_vnni"}).empty());
    CHECK(missing("best", "avx512", Precision::fp16, {"fma"}) == "avx512_fp16");
    CHECK(missing("tile", "amx", Precision::bf16, {"amx_int8"}) == "amx_bf16");
}

TEST_CASE("every candidate leaves registers for its constants and its scratch")
{
    for (const Isa& isa : isa_table) {
        for (const std::string& operation : operation_names()) {
            for (const Precision precision : {Precision::fp64, Precision::bf16}) {
                if (contradiction(operation, isa, precision)) continue;
                for (const Mix& mix : candidates(operation, isa, precision, {"fma"})) {
                    CAPTURE(isa.name, mix.description());
                    CHECK(mix.chains() + mix.constants() + mix.scratch() <= isa.registers);
                }
            }
        }
    }
}
