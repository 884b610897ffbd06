// What an operation on arrays costs follows from its text. Expected values are counted by hand.
#include "ert/base/error.hpp"
#include "ert/method/bench/array_operation.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <tuple>

using namespace roof;
using Catch::Matchers::Contains;

namespace {

/// Loads, stores, FLOPs per element, arrays.
using Cost = std::tuple<int, int, int, int>;

Cost cost_of(const char* text)
{
    const ArrayOperation operation = parse_array_operation(text);
    return {operation.loads(), operation.stores, operation.flops(), operation.arrays()};
}

std::string complaint(const char* text)
{
    try {
        parse_array_operation(text);
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("loads, stores, FLOPs and arrays follow from the text of an operation")
{
    CHECK(cost_of("a[i] = s * b[i]") == Cost(1, 1, 1, 2));                        // STREAM's Scale
    CHECK(cost_of("c[i] = a[i] + b[i]") == Cost(2, 1, 1, 3));                     // STREAM's Add
    CHECK(cost_of("y[i] += alpha * x[i]") == Cost(2, 1, 2, 2));                   // daxpy
    CHECK(cost_of("y[i] = y[i] + alpha * x[i]") == Cost(2, 1, 2, 2));             // the same
    CHECK(cost_of("a[i] = b[i] + c[i] * d[i]") == Cost(3, 1, 2, 4));              // Schoenauer's triad
    CHECK(cost_of("w[i] -= rate * g[i]") == Cost(2, 1, 2, 2));                    // SGD
    CHECK(cost_of("y[i] = alpha * x[i] + beta * y[i] + c") == Cost(2, 1, 4, 2));  // daxpby and a constant
    CHECK(cost_of("a[i] = s * b[i] * c[i] - d[i]") == Cost(3, 1, 3, 4));
    CHECK(cost_of("a[i] *= s") == Cost(1, 1, 1, 1));
    CHECK(cost_of("a[i] *= b[i]") == Cost(2, 1, 1, 2));
    CHECK(cost_of("dot += a[i] * b[i]") == Cost(2, 0, 2, 2));
    CHECK(cost_of("sum += a[i]") == Cost(1, 0, 1, 1));
    CHECK(cost_of("nontemporal: a[i] = b[i] + c[i]") == Cost(2, 1, 1, 3));
    CHECK(cost_of("int64: a[i] = b[i] + c[i]") == Cost(2, 1, 0, 3));
    CHECK(cost_of("nontemporal: int64: a[i] = b[i] + c[i]") == Cost(2, 1, 0, 3));
}

TEST_CASE("the usual names are texts")
{
    CHECK(cost_of("load") == Cost(1, 0, 0, 1));
    CHECK(cost_of("store") == Cost(0, 1, 0, 1));
    CHECK(cost_of("store_nt") == Cost(0, 1, 0, 1));
    CHECK(cost_of("copy") == Cost(1, 1, 0, 2));
    CHECK(cost_of("copy_nt") == Cost(1, 1, 0, 2));
    CHECK(cost_of("update") == Cost(1, 1, 0, 1));
    CHECK(cost_of("accumulate") == Cost(2, 1, 0, 2));
    CHECK(cost_of("accumulate_two") == Cost(3, 1, 0, 3));
    CHECK(cost_of("triad") == Cost(2, 1, 2, 3));
    CHECK(parse_array_operation("copy_nt").nontemporal);
    CHECK_FALSE(parse_array_operation("copy").nontemporal);
    CHECK(parse_array_operation(" a[i]=b[i] ").name == "copy");
    CHECK(parse_array_operation("nontemporal:a[ i ] = s").name == "store_nt");
    CHECK(parse_array_operation("a[i] = b[i] + s*c[i]").name == "triad");
    CHECK(parse_array_operation("int64: a[i] += b[i]").name == "accumulate");
    CHECK(parse_array_operation("a[i] += b[i]").name == "a[i]+=b[i]");  // of fp64 numbers
    CHECK(parse_array_operation("x[i] = y[i]").name == "x[i]=y[i]");    // spaces apart, the text is kept
}

TEST_CASE("a text that is no operation is refused with the column of what is wrong")
{
    CHECK_THAT(complaint("tirad"), Contains("'triad'") && Contains("accumulate_two") && Contains("a[i] = s * b[i]"));
    CHECK_THAT(complaint(""), Contains("column 1: a name is missing"));
    CHECK_THAT(complaint("a[i] = b[i] / c[i]"), Contains("column 13: +, - or * is missing"));
    CHECK_THAT(complaint("a[i] = b[i] +"), Contains("column 14: a name is missing"));
    CHECK_THAT(complaint("a[i] = -b[i]"), Contains("column 8: a name is missing"));
    CHECK_THAT(complaint("a[i] = (b[i] + c[i]) * s"), Contains("column 8: a name is missing"));
    CHECK_THAT(complaint("a[i] = b[i-1]"), Contains("column 10: the index of an array is i"));
    CHECK_THAT(complaint("a[j] = b[j]"), Contains("column 2: "));
    CHECK_THAT(complaint("a[i] = 2 * b[i]"), Contains("column 8: a number is written as a scalar with a name"));
    CHECK_THAT(complaint("a[i] = b[i] + b[i]"), Contains("column 15: b[i] is read twice"));
    CHECK_THAT(complaint("a[i] += a[i]"), Contains("column 9: a[i] is read twice"));
    CHECK_THAT(complaint("a[i] = b[i] + c[i] + d[i] + e[i]"), Contains("column 29: more than four arrays"));
    CHECK_THAT(complaint("a[i] = s * t * b[i]"), Contains("column 12: a product has one scalar at most"));
    CHECK_THAT(complaint("a[i] = b[i] + s + t"), Contains("more than one scalar alone"));
    CHECK_THAT(complaint("a[i] = s - b[i]"), Contains("arrays cannot be subtracted from a scalar"));
    CHECK_THAT(complaint("a[i] *= b[i] + c[i]"), Contains("column 6: '*=' takes one product"));
    CHECK_THAT(complaint("a[i] b[i]"), Contains("column 6: '=', '+=', '-=' or '*=' is missing"));
    CHECK_THAT(complaint("sum = a[i]"), Contains("column 5: a scalar as target takes '+='"));
    CHECK_THAT(complaint("sum += sum"), Contains("column 8: sum is the target"));
    CHECK_THAT(complaint("nontemporal: sum += a[i]"), Contains("a sum is of fp64 numbers and stores none"));
    CHECK_THAT(complaint("int64: a[i]"), Contains("'=' is missing"));
    CHECK_THAT(complaint("int64: a[i] = s * b[i]"), Contains("column 15: 64-bit words are only added"));
    CHECK_THAT(complaint("int64: a[i] -= b[i]"), Contains("column 13: 64-bit words are only added"));
    CHECK_THAT(complaint("fp32: a[i] = b[i]"), Contains("column 1: ") && Contains("int64, nontemporal"));
    CHECK_FALSE(array_operation("chase"));
    CHECK_FALSE(array_operation("stride_1"));
    CHECK(array_operation("load"));
}
