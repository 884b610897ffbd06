// The update of parameters, alone, by grids of so few blocks that a thread takes several turns.
#include "tests/emulated_gpu/one_operation.hpp"

#include <limits>
#include <utility>
#include <vector>

using namespace roof;
using namespace roof::cudnn;

TEMPLATE_TEST_CASE_SIG("parameters descend by momentum and decay, unless a gradient was not finite",
                       "[kernels][operations]", ((Precision precision), precision), Precision::fp32, Precision::bf16,
                       Precision::fp16)
{
    for (const Dim& grid : grids) {
        for (const auto& [is_scaled, finite] : {std::pair{false, 1}, {false, 0}, {true, 1}, {true, 0}}) {
            const FewBlocks few(grid);
            OneOperation one;
            one.state.loss_scale = 8;
            one.state.finite = finite;
            const Tensor shape{.batch = 1, .channels = 4 * 1000 + 4};
            Tensor narrow = shape;
            narrow.precision = precision;
            const auto hundreds = [](std::size_t k) { return 100 * quarters(k, 1); };
            const Descend descend{.values = one.filled(shape, hundreds),
                                  .gradients = one.filled(shape, 2),
                                  .momenta = one.filled(shape, 3),
                                  .copies = precision == Precision::fp32 ? Tensor{} : one.empty(narrow),
                                  .learning_rate = 0.5F,
                                  .scaled = is_scaled};
            one.run(descend, {descend.values, descend.momenta, descend.copies});
            const bool is_skipped = is_scaled && finite == 0;
            const auto momentum = [&, is_scaled = is_scaled](std::size_t k) {
                const double gradient = is_scaled ? quarters(k, 2) / 8 : quarters(k, 2);
                return 0.9 * quarters(k, 3) + gradient + 1e-4 * hundreds(k);
            };
            one.check(descend.momenta, [&](std::size_t k) { return is_skipped ? quarters(k, 3) : momentum(k); });
            const auto value = [&](std::size_t k) {
                return is_skipped ? hundreds(k) : hundreds(k) - 0.5 * momentum(k);
            };
            one.check(descend.values, value);
            if (precision != Precision::fp32)
                one.check(descend.copies, [&](std::size_t k) { return is_skipped ? std::nan("") : value(k); });
        }
    }
}

TEMPLATE_TEST_CASE_SIG("parameters descend by AdamW, unless a gradient was not finite", "[kernels][operations]",
                       ((Precision precision), precision), Precision::fp32, Precision::bf16, Precision::fp16)
{
    constexpr double rate = 0.5, first_share = 1 - 0.9 * 0.9, second_share = 1 - 0.999 * 0.999;  // of the second update
    for (const Dim& grid : grids) {
        for (const auto& [is_scaled, finite] : {std::pair{false, 1}, {false, 0}, {true, 1}, {true, 0}}) {
            const FewBlocks few(grid);
            OneOperation one;
            one.state.loss_scale = 8;
            one.state.finite = finite;
            one.state.adam = {static_cast<float>(first_share), static_cast<float>(second_share)};
            const Tensor shape{.batch = 1, .channels = 4 * 1000 + 4};
            Tensor narrow = shape;
            narrow.precision = precision;
            const auto hundreds = [](std::size_t k) { return 100 * quarters(k, 1); };
            const auto earlier_square = [](std::size_t k) { return 0.5 + std::abs(quarters(k, 4)); };
            const Descend descend{.values = one.filled(shape, hundreds),
                                  .gradients = one.filled(shape, 2),
                                  .momenta = one.filled(shape, 3),
                                  .squares = one.filled(shape, earlier_square),
                                  .copies = precision == Precision::fp32 ? Tensor{} : one.empty(narrow),
                                  .learning_rate = static_cast<float>(rate),
                                  .scaled = is_scaled};
            one.run(descend, {descend.values, descend.momenta, descend.squares, descend.copies});
            const bool is_skipped = is_scaled && finite == 0;
            const auto gradient = [&, is_scaled = is_scaled](std::size_t k) {
                return is_scaled ? quarters(k, 2) / 8 : quarters(k, 2);
            };
            const auto mean = [&](std::size_t k) { return 0.9 * quarters(k, 3) + 0.1 * gradient(k); };
            const auto square = [&](std::size_t k) {
                return 0.999 * earlier_square(k) + 0.001 * gradient(k) * gradient(k);
            };
            one.check(descend.momenta, [&](std::size_t k) { return is_skipped ? quarters(k, 3) : mean(k); });
            one.check(descend.squares, [&](std::size_t k) { return is_skipped ? earlier_square(k) : square(k); });
            const auto value = [&](std::size_t k) {
                const double by = mean(k) / first_share / (std::sqrt(square(k) / second_share) + 1e-8);
                return is_skipped ? hundreds(k) : hundreds(k) * (1 - rate * 0.01) - rate * by;
            };
            one.check(descend.values, value);
            if (precision != Precision::fp32)
                one.check(descend.copies, [&](std::size_t k) { return is_skipped ? std::nan("") : value(k); });
        }
    }
}

TEST_CASE("a gradient that is not finite is seen in every turn of a thread", "[kernels][operations]")
{
    constexpr std::size_t count = 4 * 1000 + 4;
    for (const Dim& grid : grids) {
        const FewBlocks few(grid);
        for (const std::size_t place : {std::size_t{0}, std::size_t{1023}, std::size_t{1024}, std::size_t{2049},
                                        std::size_t{3074}, count - 4, count - 1, count}) {
            OneOperation one;
            const Tensor gradients = one.filled({.batch = 1, .channels = count}, [&](std::size_t k) {
                return k == place ? std::numeric_limits<double>::infinity() : quarters(k, 1);
            });
            one.run(CheckFinite{.gradients = gradients}, {});
            CHECK(one.state.finite == (place == count ? 1 : 0));
        }
    }
}
