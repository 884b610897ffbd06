// Attention by cuDNN's graph: computed operation by operation, in double, it is what our kernels compute; and a
// stand-in as strict as the library refuses what that refuses.
#include "ert/gpu/buffer.hpp"
#include "tests/cudnn/attention_trial.hpp"
#include "tests/emulated_gpu/emulated_memory.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::cudnn;

namespace {

AttentionPass small(bool backward, Precision precision = Precision::bf16)
{
    return {.backward = backward,
            .batch = 2,
            .positions = 19,
            .heads = 4,
            .kv_heads = 4,
            .channels = 16,
            .causal = true,
            .precision = precision};
}

}  // namespace

TEST_CASE("attention's graph, computed in double, has the results of our kernels and of whole matrices")
{
    const gpu::Stream stream;
    for (const Precision precision : {Precision::bf16, Precision::fp16}) {
        for (const bool backward : {false, true}) {
            for (const bool causal : {false, true}) {
                for (const int kv_heads : {4, 2, 1}) {
                    AttentionPass pass = small(backward, precision);
                    pass.causal = causal;
                    pass.kv_heads = kv_heads;
                    pass.ordered = backward && causal && kv_heads != 2;
                    INFO(traits(precision).name << (backward ? " backward, " : " forward, ") << text(pass));
                    AttentionTrial trial(stream, pass);
                    CHECK(trial.workspace() > 0);
                    CHECK(trial.is_right(1));
                    CHECK(distance_of(trial.result(1), trial.by_whole_matrices()) < 1e-2);
                    CHECK(emulated::fault_of_pending_work().empty());
                }
            }
        }
    }
}

TEST_CASE("attention that cuDNN refuses, or would compute wrongly, is not cuDNN's")
{
    const gpu::Stream stream;
    Products products(stream, true);
    Plans plans(stream, {.batch = 2, .precision = Precision::bf16}, "emulated", products);
    const auto is_ours = [&](const AttentionPass& pass) {
        const Choice choice = plans.choose(pass);
        return choice.plan < 0 || choice.by_products;
    };
    for (const bool backward : {false, true}) {
        CHECK_FALSE(is_ours(small(backward)));
        CHECK(is_ours(small(backward, Precision::fp32)));
        AttentionPass pass = small(backward);
        pass.channels = 12;  // 24 bytes, no vectors of 16
        CHECK(is_ours(pass));
        pass.channels = 264;
        CHECK(is_ours(pass));
        pass = small(backward);
        pass.positions = 1;
        CHECK(is_ours(pass) == backward);
    }
}

TEST_CASE(
    "the stand-in of cuDNN refuses a graph whose tensors are not those of attention, and addresses that do not fit")
{
    const Descriptor device = current_device();
    const std::vector<Descriptor> right = operations_of(small(false));
    CHECK(engines_for(graph_of(right), device).size() == 1);
    for (std::size_t left_out = 0; left_out < right.size(); ++left_out) {
        std::vector<Descriptor> fewer = right;
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(left_out));
        INFO("without operation " << left_out);
        bool is_refused = false;
        try {
            is_refused = engines_for(graph_of(fewer), device).empty();  // another pattern
        } catch (const Error&) {
            is_refused = true;  // a tensor that nothing writes is read
        }
        CHECK(is_refused);
    }
    for (const bool backward : {false, true}) {
        const auto has_engine = [&](const AttentionPass& pass) {
            return !engines_for(graph_of(operations_of(pass)), device).empty();
        };
        CHECK(has_engine(small(backward)));
        CHECK_FALSE(has_engine(small(backward, Precision::fp32)));
        AttentionPass pass = small(backward);
        pass.channels = 12;
        CHECK_FALSE(has_engine(pass));
        pass = small(backward);
        pass.positions = 1;
        CHECK(has_engine(pass) != backward);
    }
    CHECK_THROWS_AS(Descriptor(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR)
                        .set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, Descriptor(CUDNN_BACKEND_TENSOR_DESCRIPTOR)),
                    Error);
    const gpu::Stream stream;
    const Handle handle(stream.get());
    const Plan plan = plan_of(engines_for(graph_of(right), device).front(), device);
    std::vector<Address> addresses;
    const gpu::Buffer<std::byte> bytes(std::size_t{1} << 20, "an array");
    for (const std::int64_t number :
         {attention_queries, attention_keys, attention_values, attention_result, attention_sums})
        addresses.push_back({number, bytes.data()});
    float number = 1;
    for (const std::int64_t one : {attention_scale, attention_lowest}) addresses.push_back({one, &number});
    const auto run = [&](const std::vector<Address>& at, void* workspace) {
        return cudnnBackendExecute(handle.get(), plan.descriptor.get(), address_pack(at, workspace).get());
    };
    CHECK(run(addresses, bytes.data()) == CUDNN_STATUS_SUCCESS);
    CHECK(run(addresses, nullptr) == CUDNN_STATUS_BAD_PARAM);
    std::vector<Address> other = addresses;
    other[0].at = bytes.data() + 8;
    CHECK(run(other, bytes.data()) == CUDNN_STATUS_BAD_PARAM);
    other = addresses;
    other.pop_back();
    CHECK(run(other, bytes.data()) == CUDNN_STATUS_BAD_PARAM);
    other = addresses;
    other.push_back({attention_one, &number});
    CHECK(run(other, bytes.data()) == CUDNN_STATUS_BAD_PARAM);
    stream.synchronize();
}
