// A value that is made when it is first asked for, and kept.
#pragma once

#include <optional>

namespace roof::analysis {

template <class T>
class Lazy {
  public:
    /// What `make` returned when it was called first.
    template <class Make>
    const T& get(const Make& make) const
    {
        if (!value_) value_ = make();
        return *value_;
    }

  private:
    mutable std::optional<T> value_;
};

}  // namespace roof::analysis
