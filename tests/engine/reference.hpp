// Reference values of training: PyTorch in double precision.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace roof::engine {

/// Reads tests/engine/data/parity_<model>.csv: quantity, name (parameter, statistic or step number), value.
class Reference {
  public:
    explicit Reference(const std::string& model);
    /// Reads parity_family.csv: one more column, and only the gradients of the first and the last weight.
    static Reference of_family(const std::string& model);

    double at(const std::string& quantity, const std::string& name) const;
    std::size_t count(const std::string& quantity) const;
    bool has(const std::string& quantity, const std::string& name) const;

  private:
    Reference() = default;

    std::map<std::string, std::map<std::string, double>> values_;
};

/// Returns the Euclidean norm, in double.
double norm(const std::vector<float>& values);

/// Returns the projection on a vector of hashes of the parameter's number. It detects permutations, a norm does not.
double projection(const std::vector<float>& values, std::size_t parameter);

/// Returns <after - before, before> / <before, before>.
double shrinking(const std::vector<float>& before, const std::vector<float>& after);

}  // namespace roof::engine
