// What training on a GPU lacks, by the axes of a row and the emulated card, and whether ranks may share one.
#include "tests/emulated_gpu/emulated_memory.hpp"
#include "workloads/cudnn/library/backend.hpp"
#include "workloads/cudnn/ranks.hpp"
#include "workloads/cudnn/train_bench.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <string>
#include <utility>

using namespace roof;
using namespace roof::cudnn;

TEST_CASE("training on a GPU says what the card, the library or its algorithms lack")
{
    const TrainBench bench({}, nullptr);
    const Machine machine;
    const auto reason = [&](const std::string& capability, const std::string& algorithm) {
        Point point;
        for (const Axis& axis : bench.axes(machine))
            if (!axis.optional) point.set(axis.name, axis.defaults.front());
        point.set("precision", "fp32");
        point.set("algorithm", algorithm);
        Device device{.name = "gpu:0", .kind = "gpu"};
        device.facts["compute capability"] = capability;
        return bench.unsupported_reason(point, machine, device).value_or("");
    };
    CHECK(library_version() == "9.19.0");  // of the stand-in, 91900
    for (const char* const fine : {"auto", "gemm"}) CHECK(reason("7.5", fine).empty());
    CHECK_THAT(reason("9.0", "winograd"), Catch::Contains("offers no engine of the algorithm 'winograd' in fp32"));
    CHECK_THAT(reason("7.0", "auto"), Catch::Contains("this cuDNN"));
    emulated::Card& card = emulated::machine().device(0).card;
    const int major = std::exchange(card.major, 5);
    CHECK(reason("5.0", "auto").find("this cuDNN") == std::string::npos);
    CHECK_THAT(reason("3.7", "auto"), Catch::Contains("this cuDNN"));
    card.major = major;
}

TEST_CASE("ranks may share a GPU where NCCL takes each for a machine of its own, or allows it")
{
    const auto machine_of = [](int rank, int ranks_here) {
        setenv("NCCL_HOSTID", "word", 1);
        claim_own_machine({.rank = rank, .ranks_here = ranks_here});
        return std::string(std::getenv("NCCL_HOSTID"));
    };
    CHECK(machine_of(1, 2) == "word-1");
    CHECK(machine_of(0, 1) == "word");
    CHECK(may_share_gpu());
    unsetenv("NCCL_HOSTID");
    claim_own_machine({.rank = 1, .ranks_here = 2});
    CHECK(std::getenv("NCCL_HOSTID") == nullptr);
    CHECK_FALSE(may_share_gpu());
    for (const std::string word : {"0", "1"}) {
        setenv("NCCL_MULTI_RANK_GPU_ENABLE", word.c_str(), 1);
        CHECK(may_share_gpu() == (word == "1"));
    }
    unsetenv("NCCL_MULTI_RANK_GPU_ENABLE");
}
