// Access to tensors as fp32 values for the loops of the tests, and the two loops that are sums of products.
#pragma once

#include "workloads/engine/ir/formulas.hpp"
#include "workloads/engine/ir/program.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace roof::ir {

/// Returns the value that a store in the precision and a load return.
inline float stored(float value, Precision precision)
{
    if (precision == Precision::bf16) return widen(narrow<__nv_bfloat16>(value));
    return precision == Precision::fp16 ? widen(narrow<__half>(value)) : value;
}

/// Reads and writes a tensor's values as fp32.
class Values {
  public:
    Values(const Memory& memory, const Tensor& tensor) : at_(memory.at(tensor)), precision_(tensor.precision) {}

    explicit operator bool() const { return at_ != nullptr; }
    float operator[](std::size_t i) const
    {
        if (precision_ == Precision::bf16) return widen(static_cast<const __nv_bfloat16*>(at_)[i]);
        if (precision_ == Precision::fp16) return widen(static_cast<const __half*>(at_)[i]);
        return static_cast<const float*>(at_)[i];
    }
    void put(std::size_t i, float value)
    {
        if (precision_ == Precision::bf16)
            static_cast<__nv_bfloat16*>(at_)[i] = narrow<__nv_bfloat16>(value);
        else if (precision_ == Precision::fp16)
            static_cast<__half*>(at_)[i] = narrow<__half>(value);
        else
            static_cast<float*>(at_)[i] = value;
    }

  private:
    void* at_;
    Precision precision_;
};

/// Both throw Error for operands that a library would misread: of another size or type, not aligned, missing.
///
/// Convolution by definition, one tap of the window at a time; sums in double.
void convolve(const Convolve& op, const Memory& memory);
void multiply(const Multiply& op, const Memory& memory);

}  // namespace roof::ir
