// Embeddings of tokens and values of positions, alone: rows of vectors and of single channels, tokens that occur never,
// once, in neighbouring positions and in distant ones, sums over what is there and over nothing.
#include "tests/emulated_gpu/one_operation.hpp"

#include <tuple>
#include <vector>

using namespace roof;
using namespace roof::cudnn;

namespace {

struct Shape {
    int images, positions, channels, vocabulary;
};

/// Every position has one of the first tokens of the vocabulary; the last one has none.
double token(std::size_t place, int vocabulary)
{
    return static_cast<double>(place * place / 3 % static_cast<std::size_t>(vocabulary - 1));
}

}  // namespace

TEMPLATE_TEST_CASE_SIG("an embedding takes rows of tokens, and adds their gradients", "[kernels][operations]",
                       ((Precision precision), precision), Precision::fp32, Precision::bf16, Precision::fp16)
{
    for (const auto& [images, positions, channels, vocabulary] : {Shape{2, 5, 24, 9},
                                                                  {1, 7, 3, 4},
                                                                  {3, 50, 280, 300},
                                                                  {1, 1, 8, 2},
                                                                  {5, 40, 1, 17},
                                                                  {7, 100, 8, 40},
                                                                  {6, 97, 3, 50}}) {
        const Tensor map{.batch = images, .channels = channels, .width = positions, .precision = precision};
        const Tensor tokens{.batch = images, .width = positions};
        const Tensor rows{.batch = vocabulary, .channels = channels};
        const auto each = static_cast<std::size_t>(channels);
        const auto token_at = [vocabulary = vocabulary](std::size_t k) { return token(k, vocabulary); };
        const auto row_of = [&](std::size_t k) {
            return static_cast<std::size_t>(token_at(k / each)) * each + k % each;
        };
        OneOperation forward;
        Tensor narrow = rows;
        narrow.precision = precision;
        const Embed embed{forward.filled(tokens, token_at), forward.filled(narrow, 1), forward.empty(map)};
        forward.run(embed, {embed.result});
        forward.check(embed.result, [&](std::size_t k) { return quarters(row_of(k), 1); });

        for (const bool adds : {false, true}) {
            OneOperation backward;
            const EmbedGradient gradient{backward.filled(tokens, token_at), backward.filled(map, 2),
                                         adds ? backward.filled(rows, 3) : backward.empty(rows), adds};
            std::vector<double> sums(rows.elements());
            for (std::size_t k = 0; k < sums.size(); ++k) sums[k] = adds ? quarters(k, 3) : 0;
            for (std::size_t k = 0; k < map.elements(); ++k) sums[row_of(k)] += quarters(k, 2);
            backward.run(gradient, {gradient.weights});
            backward.check(gradient.weights, [&](std::size_t k) { return sums[k]; });
        }
    }
}

TEMPLATE_TEST_CASE_SIG("values of positions are added to every image, and get the sum of their gradients",
                       "[kernels][operations]", ((Precision precision), precision), Precision::fp32, Precision::bf16,
                       Precision::fp16)
{
    for (const auto& [images, positions, channels, count] : {Shape{2, 5, 24, 5},
                                                             {1, 7, 3, 2},
                                                             {3, 50, 280, 50},
                                                             {7, 1, 1, 1},
                                                             {2, 6, 8, 1},
                                                             {2, 3, 16, 9},
                                                             {7, 3, 8, 3},
                                                             {6, 2, 3, 2}}) {
        const Tensor map{.batch = images, .channels = channels, .width = positions, .precision = precision};
        const Tensor rows{.batch = count, .channels = channels};
        const std::size_t of_image = map.elements() / static_cast<std::size_t>(images);
        const std::size_t there = rows.elements();
        OneOperation forward;
        Tensor narrow = rows;
        narrow.precision = precision;
        const int first = std::max(0, count - positions - 1);
        const AddPositions add{forward.filled(map, 1), forward.filled(narrow, 2), forward.empty(map), first};
        forward.run(add, {add.result});
        forward.check(add.result, [&, each = static_cast<std::size_t>(channels)](std::size_t k) {
            const std::size_t at = k % of_image + static_cast<std::size_t>(first) * each;
            return quarters(k, 1) + (at < there ? quarters(at, 2) : 0);
        });

        OneOperation backward;
        const AddPositionsGradient gradient{backward.filled(map, 3), backward.empty(rows)};
        backward.run(gradient, {gradient.weights});
        backward.check(gradient.weights, [&](std::size_t k) {
            double sum = 0;
            for (std::size_t i = k; k < of_image && i < map.elements(); i += of_image) sum += quarters(i, 3);
            return sum;
        });
    }
}

TEMPLATE_TEST_CASE_SIG("taken positions are those of the source, or zeros", "[kernels][operations]",
                       ((Precision precision), precision), Precision::fp32, Precision::bf16, Precision::fp16)
{
    for (const auto& [from, count, channels, first] :
         {Shape{6, 7, 24, -1}, {7, 6, 24, 1}, {5, 1, 3, 4}, {1, 5, 3, -4}, {4, 4, 8, 9}, {4, 9, 16, -2}}) {
        constexpr int images = 3;
        const Tensor map{.batch = images, .channels = channels, .width = from, .precision = precision};
        Tensor taken = map;
        taken.width = count;
        OneOperation one;
        const TakePositions take{one.filled(map, 1), one.empty(taken), first};
        one.run(take, {take.result});
        one.check(take.result, [&, from = from, first = first](std::size_t k) {
            const auto each = static_cast<std::size_t>(channels);
            const auto wide = static_cast<std::size_t>(count);
            const int position = static_cast<int>(k / each % wide) + first;
            if (position < 0 || position >= from) return 0.0;
            const std::size_t row =
                k / each / wide * static_cast<std::size_t>(from) + static_cast<std::size_t>(position);
            return quarters(row * each + k % each, 1);
        });
    }
}

TEMPLATE_TEST_CASE_SIG("positions, or parts of one, are taken in a given order", "[kernels][operations]",
                       ((Precision precision), precision), Precision::fp32, Precision::bf16, Precision::fp16)
{
    constexpr int images = 3;
    for (const int channels : {8, 3})
        for (const int parts : {1, 2}) {  // of a position of the source, each a position of the result
            const std::vector<int> order{3, 0, 5, 1, 4, 2};
            const Tensor part{
                .batch = images, .channels = channels, .width = static_cast<int>(order.size()), .precision = precision};
            Tensor map = part;
            map.channels *= parts;
            map.width /= parts;
            OneOperation one;
            const TakePositions take{
                .source = one.filled(map, 1),
                .result = one.empty(part),
                .order = one.filled({.batch = 1, .channels = part.width, .precision = Precision::int32},
                                    [&](std::size_t k) { return order[k]; })};
            one.run(take, {take.result});
            one.check(take.result, [&](std::size_t k) {
                const std::size_t place = k / static_cast<std::size_t>(channels), image = place / order.size();
                const auto from = image * order.size() + static_cast<std::size_t>(order[place % order.size()]);
                return quarters(from * static_cast<std::size_t>(channels) + k % static_cast<std::size_t>(channels), 1);
            });
        }
}
