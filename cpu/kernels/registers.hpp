// Register contents in memory: elements of a format in whole registers, aligned for the widest loads.
#pragma once

#include "cpu/kernels/formats.hpp"

#include <cstddef>
#include <vector>

namespace roof::cpu {

class RegisterFile {
  public:
    /// Makes `registers` registers of `register_bytes`, all zero.
    RegisterFile(int registers, int register_bytes, Format format);
    RegisterFile(int registers, int register_bytes, Precision precision)
        : RegisterFile(registers, register_bytes, format_of(precision))
    {
    }

    std::byte* data() { return lines_.front().bytes; }
    const std::byte* data() const { return lines_.front().bytes; }
    Format format() const { return format_; }
    int elements_per_register() const { return register_bytes_ / bytes_of(format_); }

    double at(int register_index, int element) const;
    /// Stores the value rounded to the format.
    void set(int register_index, int element, double value);
    /// Stores the value in every element.
    void broadcast(int register_index, double value);

  private:
    struct alignas(64) Line {
        std::byte bytes[64];
    };
    std::size_t offset(int register_index, int element) const;

    int register_bytes_;
    Format format_;
    std::vector<Line> lines_;
};

}  // namespace roof::cpu
