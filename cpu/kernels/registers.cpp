// Elements are copied in and out byte by byte, which is how C++ lets the same memory hold either precision.
#include "cpu/kernels/registers.hpp"

#include <cstring>

namespace roof::cpu {

RegisterFile::RegisterFile(int registers, int register_bytes, Precision precision)
    : register_bytes_(register_bytes),
      precision_(precision),
      lines_(static_cast<std::size_t>(registers) * register_bytes / sizeof(Line) + 1)
{
}

double RegisterFile::at(int register_index, int element) const
{
    const std::byte* const from = data() + offset(register_index, element);
    if (precision_ == Precision::fp32) {
        float value = 0;
        std::memcpy(&value, from, sizeof value);
        return value;
    }
    double value = 0;
    std::memcpy(&value, from, sizeof value);
    return value;
}

void RegisterFile::set(int register_index, int element, double value)
{
    std::byte* const to = data() + offset(register_index, element);
    if (precision_ == Precision::fp32) {
        const auto rounded = static_cast<float>(value);
        std::memcpy(to, &rounded, sizeof rounded);
    } else {
        std::memcpy(to, &value, sizeof value);
    }
}

void RegisterFile::broadcast(int register_index, double value)
{
    for (int element = 0; element < elements_per_register(); ++element) set(register_index, element, value);
}

std::size_t RegisterFile::offset(int register_index, int element) const
{
    return static_cast<std::size_t>(register_index) * register_bytes_ +
           static_cast<std::size_t>(element) * traits(precision_).storage_bytes;
}

}  // namespace roof::cpu
