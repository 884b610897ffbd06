// Prints, as CSV, how long passes of attention take by our kernels and by cuDNN, and how far both are from whole
// matrices: test_cudnn_device
// "[.attention]". With SMALL in the environment only small ones. Without a GPU it only says so.
#include "tests/cudnn/attention_trial.hpp"
#include "tests/cudnn/without_gpu.hpp"
#include "tests/skip.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <limits>

using namespace roof;
using namespace roof::cudnn;

namespace {

bool is_small()
{
    return std::getenv("SMALL") != nullptr;
}

/// Two small ones, which are compared with whole matrices as well, and those of GPT-2, of a vision transformer and of
/// Llama.
std::vector<AttentionPass> passes()
{
    std::vector<AttentionPass> all{
        {.batch = 1, .positions = 70, .heads = 2, .kv_heads = 2, .channels = 16},
        {.batch = 2, .positions = 33, .heads = 4, .kv_heads = 2, .channels = 64, .causal = true}};
    for (AttentionPass& one : all) one.precision = Precision::bf16;
    all.push_back(all.back());
    all.back().precision = Precision::fp16;
    if (is_small()) return all;
    all.push_back({.batch = 8, .positions = 1024, .heads = 12, .kv_heads = 12, .channels = 64, .causal = true});
    all.push_back({.batch = 64, .positions = 197, .heads = 12, .kv_heads = 12, .channels = 64});
    all.push_back({.batch = 1, .positions = 2048, .heads = 32, .kv_heads = 8, .channels = 64, .causal = true});
    for (std::size_t k = 3; k < all.size(); ++k) all[k].precision = Precision::bf16;
    return all;
}

/// In microseconds.
double least_time(AttentionTrial& trial, std::size_t way)
{
    const int runs = is_small() ? 1 : 5;
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < runs; ++i) least = std::min(least, trial.seconds(way));
    return 1e6 * least;
}

}  // namespace

TEST_CASE("cuDNN's attention has our kernels' results and those of whole matrices, and both have a time",
          "[.attention]")
{
    if (is_without_gpu()) return skip("there is no GPU here");
    constexpr std::int64_t most_compared = std::int64_t{1} << 18;  ///< channels times positions
    const gpu::Stream stream;
    std::printf("pass,precision,engine,workspace,us_by_ours,us_by_cudnn,ours_from_matrices,cudnn_from_matrices\n");
    for (AttentionPass pass : passes()) {
        for (const auto& [backward, ordered] : {std::pair{false, false}, {true, false}, {true, true}}) {
            pass.backward = backward;
            pass.ordered = ordered;
            const std::string name =
                std::string(backward ? "backward" : "forward") + (ordered ? " in order, " : ", ") + text(pass);
            const std::string precision(traits(pass.precision).name);
            INFO(precision << " " << name);
            AttentionTrial trial(stream, pass);
            CHECK(trial.is_right(1));
            std::printf("\"%s\",%s,%s,%ld,%.1f,%.1f,", name.c_str(), precision.c_str(), trial.engine().c_str(),
                        static_cast<long>(trial.workspace()), least_time(trial, 0), least_time(trial, 1));
            if (ordered) CHECK(trial.result(1) == trial.result(1));  // two runs
            if (std::int64_t{pass.batch} * pass.heads * pass.channels * pass.positions <= most_compared) {
                const std::vector<float> due = trial.by_whole_matrices();
                for (const std::size_t way : {0U, 1U}) {
                    const double distance = distance_of(trial.result(way), due);
                    std::printf("%.5f%s", distance, way == 0 ? "," : "\n");
                    CHECK(distance < 1e-2);
                }
            } else {
                std::printf(",\n");  // they would take long
            }
        }
    }
}
