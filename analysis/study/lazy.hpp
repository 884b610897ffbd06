// A value that is computed at its first use and kept.
#pragma once

#include <optional>

namespace roof::analysis {

template <class T>
class Lazy {
  public:
    /// Calls `make` once.
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
