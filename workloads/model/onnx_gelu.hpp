// GELU as exporters write it before opset 20: x / √2, its Erf, + 1, times x, times 1/2; the last two in either order.
#pragma once

#include "workloads/model/onnx_values.hpp"

#include <map>
#include <optional>
#include <string>

namespace roof::model::onnx_file {

class Gelus {
  public:
    /// Takes the next of the five operators. Returns x for the last, nothing inside for the others. Throws Refused.
    std::optional<std::optional<View>> take(const Node& node, Values& values);

  private:
    struct Begun {
        std::size_t operators = 0;  ///< that were taken
        std::string source;         ///< x
        View view{};                ///< as it is read
        bool is_halved = false;     ///< 1/2 went before x
    };
    std::map<std::string, Begun> begun_;  ///< by the value that the last of them gives
};

}  // namespace roof::model::onnx_file
