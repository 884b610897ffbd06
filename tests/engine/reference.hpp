// What every engine's training is compared with: values of PyTorch in double precision.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace roof::engine {

/// tests/engine/data/parity_<model>.csv: quantity, name (of a parameter, a statistic, or the step's number), value.
class Reference {
  public:
    explicit Reference(const std::string& model);
    /// The model's rows of parity_family.csv, which has a column more: gradients of the first and the last weight
    /// alone.
    static Reference of_family(const std::string& model);

    double at(const std::string& quantity, const std::string& name) const;
    std::size_t count(const std::string& quantity) const;
    bool has(const std::string& quantity, const std::string& name) const;

  private:
    Reference() = default;

    std::map<std::string, std::map<std::string, double>> values_;
};

/// Euclidean norm, in double.
double norm(const std::vector<float>& values);

/// On a vector of hashes of the parameter's number: sees a permuted tensor, which a norm does not.
double projection(const std::vector<float>& values, std::size_t parameter);

/// <after - before, before> / <before, before>
double shrinking(const std::vector<float>& before, const std::vector<float>& after);

}  // namespace roof::engine
