// Register contents in memory: elements of a format in whole registers, aligned for the widest loads.
#pragma once

#include "ert/base/formats.hpp"

#include <cstddef>
#include <vector>

namespace roof::cpu {

class RegisterFile {
  public:
    /// Makes `registers` registers of `register_bytes`, all zero.
    RegisterFile(int registers, int register_bytes, const Format& format);
    /// Throws Unsupported for a precision that CPU kernels lack.
    RegisterFile(int registers, int register_bytes, Precision precision);

    std::byte* data() { return lines_.front().bytes; }
    const std::byte* data() const { return lines_.front().bytes; }
    const Format& format() const { return format_; }
    int elements_per_register() const { return 8 * register_bytes_ / format_.storage_bits; }

    double at(int register_index, int element) const;
    /// Stores the value rounded to the format. Throws Error for one beyond the normal numbers of fp16 and bf16.
    void set(int register_index, int element, double value);
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
