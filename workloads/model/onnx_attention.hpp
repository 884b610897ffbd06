// Attention as exporters write it: the product of queries and keys, scaled before or behind, rows of a trained table
// and a mask added, Softmax, and the product with values.
#pragma once

#include "workloads/model/onnx_values.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>

namespace roof::model::onnx_file {

class Attentions {
  public:
    Attentions(Values& values, Graph& graph) : values_(values), graph_(graph) {}

    /// Takes the node if it is a part of one; the last adds the layer. Throws Refused.
    bool take(const Node& node);

  private:
    struct Scores {
        View queries, keys;  ///< [images][heads][positions][channels of a head], [images][heads][channels][positions]
        double factor = 1;
        bool are_shares = false;  ///< behind the Softmax
        Numbers dims{};           ///< [images and windows][heads][queries][keys], or as Reshape has made them
        long long windows = 1;
        int rows = 0;                ///< of the table whose numbers are added; 0: none
        std::vector<int> places{};   ///< [queries][keys]: their row
        std::vector<bool> hidden{};  ///< [windows][queries][keys]; empty: none is
    };
    bool takes_scores(const Node& node, int index, Scores scores);
    void add(const Tensor& constant, Scores& scores);
    void put(const Node& node, const Scores& scores);

    Values& values_;
    Graph& graph_;
    std::map<std::string, Scores> scores_;
    std::set<std::string> nowhere_;  ///< where scores are no numbers
    std::set<std::string> tables_;   ///< that scores have
};

// GELU as exporters write it before opset 20: x / √2, its Erf, + 1, times x, times 1/2; the last two in either order.

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
