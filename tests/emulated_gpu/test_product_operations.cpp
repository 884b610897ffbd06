// Products of few rows, by our kernel: rows and outputs that fill no warp, more inputs than a warp loads at once, with
// bias and ReLU, and results in fp32. And which product a trial chooses.
#include "tests/emulated_gpu/one_operation.hpp"
#include "workloads/cudnn/library/products.hpp"

#include <algorithm>
#include <tuple>

using namespace roof;
using namespace roof::cudnn;

namespace {

struct FewRows {
    OneOperation one;
    Multiply op;
    Precision precision;

    FewRows(int rows, int inputs, int outputs, bool biased, bool relu, Precision stored, Precision result)
        : precision(stored)
    {
        op.source = one.filled({.batch = rows, .channels = inputs, .precision = stored}, 1);
        op.weights = one.filled({.batch = outputs, .channels = inputs, .precision = stored}, 2);
        op.result = one.empty({.batch = rows, .channels = outputs, .precision = result});
        if (biased) op.bias = one.filled({.batch = 1, .channels = outputs, .precision = result}, 3);
        op.relu = relu;
    }
    void check()
    {
        const auto inputs = static_cast<std::size_t>(op.source.channels);
        const auto outputs = static_cast<std::size_t>(op.result.channels);
        one.check(op.result, [&](std::size_t k) {
            double sum = op.bias ? quarters(k % outputs, 3) : 0;
            for (std::size_t i = 0; i < inputs; ++i)
                sum += quarters(k / outputs * inputs + i, 1) * quarters(k % outputs * inputs + i, 2);
            return op.relu ? std::max(0.0, sum) : sum;
        });
    }
};

}  // namespace

TEMPLATE_TEST_CASE_SIG("a product of few rows is the sum of products of each row and output", "[kernels][operations]",
                       ((Precision precision), precision), Precision::fp32, Precision::bf16, Precision::fp16)
{
    for (const auto& [rows, inputs, outputs, biased, relu] : {std::tuple{1, 8, 1, false, false},
                                                              {1, 264, 7, true, false},
                                                              {2, 1032, 4, true, true},
                                                              {3, 40, 9, false, false},
                                                              {4, 520, 5, true, true},
                                                              {5, 256, 3, false, false},
                                                              {8, 80, 130, true, false}}) {
        for (const Precision result : {precision, Precision::fp32}) {
            FewRows few(rows, inputs, outputs, biased, relu, precision, result);
            few.one.run(few.op, {few.op.result},
                        [&](const Memory& memory) { multiply_few_rows(few.op, memory, nullptr); });
            few.check();
        }
    }
}

TEST_CASE("of a product of few rows the fastest way is chosen among the library's and our own", "[operations]")
{
    const gpu::Stream stream;
    for (const auto& [rows, times, may_be_own] :
         {std::tuple{1, true, true}, {8, true, true}, {9, true, false}, {1, false, false}}) {
        Products products(stream, times);
        FewRows few(rows, 64, 48, false, false, Precision::bf16, Precision::bf16);
        const Choice choice = products.choose(product_of(few.op));
        INFO(rows << " rows: " << choice.implementation);
        CHECK((choice.implementation == "cublaslt" || (may_be_own && choice.implementation == "roof:few_rows")));
        few.op.plan = choice.plan;
        few.op.workspace =
            few.one.empty({.batch = 1, .channels = static_cast<int>(choice.workspace), .precision = Precision::int8});
        few.one.run(few.op, {few.op.result, few.op.workspace},
                    [&](const Memory& memory) { products.bound(few.op, memory)(); });
        few.check();
    }
}
