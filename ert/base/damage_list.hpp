// What is wrong with files: the first thousand sentences and the number of the others, because a file of 1 MB can have
// a million damaged lines.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace roof {

class DamageList {
  public:
    static constexpr std::size_t most = 1000;

    void add(std::string sentence)
    {
        if (is_full())
            ++others_;
        else
            sentences_.push_back(std::move(sentence));
    }
    bool is_empty() const { return sentences_.empty(); }
    bool is_full() const { return sentences_.size() >= most; }

    std::vector<std::string> take()
    {
        if (others_ > 0) sentences_.push_back(std::to_string(others_) + " more lines are damaged");
        others_ = 0;
        return std::exchange(sentences_, {});
    }

  private:
    std::vector<std::string> sentences_;
    std::size_t others_ = 0;
};

}  // namespace roof
