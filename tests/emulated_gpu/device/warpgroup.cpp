#include "tests/emulated_gpu/device/warpgroup.hpp"

#include "tests/emulated_gpu/device/fault.hpp"

#include <algorithm>
#include <utility>

namespace roof::emulated {

namespace {

constexpr u32 not_summed = 0x7FC0DEAD;  // not a number; as a whole number, far from any sum of the tests

struct FragmentPlace {
    int row, column;
};
FragmentPlace place_of(int thread, int i)
{
    return {16 * (thread / 32) + thread % 32 / 4 + 8 * (i / 2 % 2), 8 * (i / 4) + 2 * (thread % 4) + i % 2};
}

u32 sum_with(u32 bits, f64 sum, Format format)
{
    if (format == Format::int8) return add(bits, static_cast<u32>(static_cast<s64>(sum)));
    return std::bit_cast<u32>(static_cast<f32>(f32_of(bits) + sum));
}

}  // namespace

void Warpgroup::begin(const MmaShape& shape, const WgmmaOperands& operands, std::vector<std::vector<u32*>> sums,
                      SharedMemory& shared, const ReadyAt& ready)
{
    if (registers_.empty()) {
        if (!is_fenced_) throw Fault(Fault::Kind::launch, "wgmma reads registers that no wgmma.fence handed over");
        for (const auto& of_thread : sums) {
            sums_.emplace_back();
            for (u32* place : of_thread) sums_.back().push_back(std::exchange(*place, not_summed));
        }
        registers_ = std::move(sums);
    } else if (registers_ != sums) {
        throw Fault(Fault::Kind::launch,
                    "wgmma into other registers while products are under way, which is not emulated");
    }
    // Checked now, because a fence that comes later is too late.
    read_operand(operands.a, shape.format, shape.m, shape.k, shared, &ready);
    read_operand(operands.b, shape.format, shape.n, shape.k, shared, &ready);
    open_.push_back({shape, operands, &shared});
}

void Warpgroup::commit(std::mt19937& chance)
{
    groups_.push_back(std::exchange(open_, {}));
    if (chance() % 2 == 0) {
        // Done early, but the registers get nothing before the wait.
        for (const auto& group : groups_) {
            for (const Product& product : group) run(product);
        }
        for (auto& group : groups_) group.clear();
    }
}

void Warpgroup::wait(u32 most_groups)
{
    while (groups_.size() > most_groups) {
        for (const Product& product : groups_.front()) run(product);
        groups_.pop_front();
    }
    if (groups_.empty() && open_.empty()) deliver();
}

void Warpgroup::run(const Product& product)
{
    const MmaShape& shape = product.shape;
    const auto a = read_operand(product.operands.a, shape.format, shape.m, shape.k, *product.shared, nullptr);
    const auto b = read_operand(product.operands.b, shape.format, shape.n, shape.k, *product.shared, nullptr);
    const int n = shape.n;
    const std::vector<f64> all = product_of(a, b, shape.m, n, shape.k);
    for (int thread = 0; thread < 128; ++thread) {
        auto& registers = sums_[static_cast<std::size_t>(thread)];
        if (!product.operands.keeps) std::fill(registers.begin(), registers.end(), 0);
        for (std::size_t i = 0; i < registers.size(); ++i) {
            const FragmentPlace place = place_of(thread, static_cast<int>(i));
            const f64 sum = product.operands.sign * all[static_cast<std::size_t>(place.row * n + place.column)];
            registers[i] = sum_with(registers[i], sum, shape.format);
        }
    }
}

void Warpgroup::deliver()
{
    for (std::size_t thread = 0; thread < registers_.size(); ++thread) {
        for (std::size_t i = 0; i < registers_[thread].size(); ++i) *registers_[thread][i] = sums_[thread][i];
    }
    registers_.clear();
    sums_.clear();
    is_fenced_ = false;
}

}  // namespace roof::emulated
