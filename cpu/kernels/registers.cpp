#include "cpu/kernels/registers.hpp"

namespace roof::cpu {

RegisterFile::RegisterFile(int registers, int register_bytes, Format format)
    : register_bytes_(register_bytes),
      format_(format),
      lines_(static_cast<std::size_t>(registers) * register_bytes / sizeof(Line) + 1)
{
}

double RegisterFile::at(int register_index, int element) const
{
    return read_element(format_, data() + offset(register_index, element));
}

void RegisterFile::set(int register_index, int element, double value)
{
    write_element(format_, data() + offset(register_index, element), value);
}

void RegisterFile::broadcast(int register_index, double value)
{
    for (int element = 0; element < elements_per_register(); ++element) set(register_index, element, value);
}

std::size_t RegisterFile::offset(int register_index, int element) const
{
    return static_cast<std::size_t>(register_index) * register_bytes_ +
           static_cast<std::size_t>(element) * bytes_of(format_);
}

}  // namespace roof::cpu
