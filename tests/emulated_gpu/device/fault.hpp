// What a kernel did that a device would not bear, or would not show.
#pragma once

#include <stdexcept>
#include <string>

namespace roof::emulated {

class Fault : public std::runtime_error {
  public:
    enum class Kind { misaligned, outside, launch };  ///< the error that a device would report
    Fault(Kind kind, const std::string& what) : std::runtime_error(what), kind_(kind) {}
    Kind kind() const { return kind_; }

  private:
    Kind kind_;
};

[[noreturn]] inline void fail(const std::string& what)
{
    throw Fault(Fault::Kind::launch, what);
}

}  // namespace roof::emulated
