// Register contents as they lie in memory: elements of a precision, in whole registers, aligned for the widest loads.
#pragma once

#include "ert/base/precision.hpp"

#include <cstddef>
#include <vector>

namespace roof::cpu {

class RegisterFile {
  public:
    /// `registers` of `register_bytes`, all zero. `precision`: fp64 or fp32.
    RegisterFile(int registers, int register_bytes, Precision precision);

    std::byte* data() { return lines_.front().bytes; }
    const std::byte* data() const { return lines_.front().bytes; }
    int elements_per_register() const { return register_bytes_ / traits(precision_).storage_bytes; }

    double at(int register_index, int element) const;
    /// Rounded to the precision.
    void set(int register_index, int element, double value);
    /// In every element.
    void broadcast(int register_index, double value);

  private:
    struct alignas(64) Line {
        std::byte bytes[64];
    };
    std::size_t offset(int register_index, int element) const;

    int register_bytes_;
    Precision precision_;
    std::vector<Line> lines_;
};

}  // namespace roof::cpu
