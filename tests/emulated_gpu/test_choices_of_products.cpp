// How an algorithm of the stand-in of cuBLASLt is chosen for a product: the first wants 1 MiB of workspace, the second
// none, the third 32 MiB.
#include "ert/gpu/buffer.hpp"
#include "ert/gpu/library.hpp"
#include "tests/emulated_gpu/emulated_memory.hpp"
#include "workloads/cudnn/library/products.hpp"

#include <set>

using namespace roof;
using namespace roof::cudnn;

namespace {

/// Of 256 KiB of weights.
Product product(Pass pass, int batch)
{
    return {.pass = pass, .batch = batch, .inputs = 256, .outputs = 256};
}

struct Calls {
    std::size_t all, matrices;  ///< different left ones
    bool operator==(const Calls&) const = default;
};

/// The calls while an algorithm is chosen.
Calls calls_of(Products& products, const Product& of)
{
    const std::vector<std::string> names{"libcublasLt.so.13"};
    static const gpu::Library library = gpu::Library::open(names).value();
    std::vector<const void*>& left = *library.function<std::vector<const void*>*()>("emulated_left_matrices")();
    left.clear();
    products.choose(of);
    return {left.size(), std::set<const void*>(left.begin(), left.end()).size()};
}

}  // namespace

TEST_CASE("an algorithm of a product is tried once before it is captured, on matrices of twice the L2, at most 16")
{
    REQUIRE(emulated::machine().device(0).card.l2_bytes == std::size_t{1} << 20);
    const gpu::Stream stream;
    Products products(stream, true);
    CHECK(calls_of(products, product(Pass::forward, 64)) == Calls{3 * 2 * 8, 8});
    CHECK(calls_of(products, product(Pass::forward, 64)) == Calls{0, 0});
    CHECK(calls_of(products, product(Pass::backward_data, 64)) == Calls{3 * 2 * 8, 8});
    CHECK(calls_of(products, product(Pass::backward_weights, 64)) == Calls{3 * 2 * 16, 16});
    Products untimed(stream, false);
    CHECK(calls_of(untimed, product(Pass::forward, 64)) == Calls{2 * 8, 8});
    CHECK(untimed.choose(product(Pass::forward, 64)).workspace == std::size_t{1} << 20);
}

TEST_CASE("our own kernel is tried for few rows alone")
{
    const gpu::Stream stream;
    Products products(stream, true);
    for (const int rows : {8, 9}) {
        emulated::machine().launched.clear();
        products.choose({.batch = rows, .inputs = 64, .outputs = 8});
        CHECK(emulated::machine().launched.empty() == (rows > 8));
    }
}

TEST_CASE("where there is no room to try the algorithms of a product, the one of the least workspace is taken")
{
    const gpu::Stream stream;
    Products products(stream, true);
    std::size_t available = 0, total = 0;
    REQUIRE(cudaMemGetInfo(&available, &total) == cudaSuccess);
    const gpu::Buffer<std::byte> taken(available - (std::size_t{1} << 20), "what is taken");
    CHECK(products.choose(product(Pass::forward, 64)).workspace == 0);
}
