#include "cpu/kernels/registers.hpp"

#include "ert/base/error.hpp"

#include <cstring>
#include <string>

namespace roof::cpu {

RegisterFile::RegisterFile(int registers, int register_bytes, const Format& format)
    : register_bytes_(register_bytes),
      format_(format),
      lines_(static_cast<std::size_t>(registers) * register_bytes / sizeof(Line) + 1)
{
}

RegisterFile::RegisterFile(int registers, int register_bytes, Precision precision)
    : RegisterFile(registers, register_bytes, format_of(precision))
{
    using enum Precision;
    if (precision == tf32 || precision == fp8 || precision == fp4 || precision == int32)
        throw Unsupported("CPU kernels have no " + std::string(traits(precision).name));
}

double RegisterFile::at(int register_index, int element) const
{
    return decode(format_, data() + offset(register_index, element));
}

void RegisterFile::set(int register_index, int element, double value)
{
    const std::uint64_t bits = encode(format_, round_to(format_, value));
    std::memcpy(data() + offset(register_index, element), &bits, static_cast<std::size_t>(format_.storage_bits / 8));
}

void RegisterFile::broadcast(int register_index, double value)
{
    for (int element = 0; element < elements_per_register(); ++element) set(register_index, element, value);
}

std::size_t RegisterFile::offset(int register_index, int element) const
{
    return static_cast<std::size_t>(register_index) * register_bytes_ +
           static_cast<std::size_t>(element * format_.storage_bits / 8);
}

}  // namespace roof::cpu
