// A point of a sweep: a value for each axis. It prints as `axis=value axis=value` in the order of the bench's axes;
// that text is part of the row's identity.
#pragma once

#include "ert/base/precision.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace roof {

class Point {
  public:
    /// Replaces the axis's value, or appends the axis.
    void set(std::string_view axis, std::string value);

    /// The same point without that axis.
    Point without(std::string_view axis) const;
    bool has(std::string_view axis) const;
    /// Throws Error if the axis is missing.
    const std::string& text(std::string_view axis) const;
    std::string text_or(std::string_view axis, std::string_view otherwise) const
    {
        return has(axis) ? text(axis) : std::string(otherwise);
    }
    /// Throws InputError if the value is no whole number.
    long long integer(std::string_view axis) const;
    double number(std::string_view axis) const;
    Precision precision() const { return parse_precision(text("precision")); }

    const std::vector<std::pair<std::string, std::string>>& values() const { return values_; }
    std::string str() const;
    bool operator==(const Point&) const = default;

  private:
    std::vector<std::pair<std::string, std::string>> values_;
};

}  // namespace roof
