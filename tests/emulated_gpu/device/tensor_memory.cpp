#include "tests/emulated_gpu/device/tensor_memory.hpp"

#include "tests/emulated_gpu/device/fault.hpp"

namespace roof::emulated {

namespace {
constexpr u32 not_written = 0x7FC12345;  // not a number
}

u32 TensorMemory::allocate(u32 wanted)
{
    if (wanted < 32 || (wanted & (wanted - 1)) != 0 || taken_ + wanted > columns)
        throw Fault(Fault::Kind::launch, "an allocation of " + std::to_string(wanted) + " columns of tensor memory");
    cells_.resize(std::size_t{lanes} * columns, not_written);
    if (taken_ == 0) users_ = 0;
    const u32 first = taken_;
    taken_ += wanted;
    return first;
}

void TensorMemory::used_by(u32 warp, u32 barriers)
{
    if (barriers != barriers_) users_ = 0;
    barriers_ = barriers;
    users_ |= 1U << warp;
}

void TensorMemory::free(u32 first, u32 count, u32 warp, u32 barriers)
{
    if (barriers == barriers_ && (users_ & ~(1U << warp)) != 0)
        throw Fault(Fault::Kind::launch, "tensor memory is given back, and no barrier orders that behind its use");
    if (count > taken_ || first + count > taken_)
        throw Fault(Fault::Kind::launch, "tensor memory is given back that was not taken");
    taken_ -= count;
}

u32& TensorMemory::at(u32 lane, u32 column)
{
    if (lane >= lanes || column >= taken_)
        throw Fault(Fault::Kind::launch, "an access to tensor memory that was not taken");
    return cells_[std::size_t{lane} * columns + column];
}

}  // namespace roof::emulated
