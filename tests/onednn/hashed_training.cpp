#include "tests/onednn/hashed_training.hpp"

#include "ert/base/csv.hpp"
#include "workloads/model/hashed.hpp"

#include <cmath>

namespace roof::onednn {
namespace {

constexpr int batch = 2;

}  // namespace

Reference::Reference(const std::string& model)
{
    const CsvTable table = read_csv(std::string(ROOF_TEST_DATA) + "/data/parity_" + model + ".csv");
    for (const std::vector<std::string>& row : table.rows) values_[row.at(0)][row.at(1)] = std::stod(row.at(2));
}

Reference Reference::of_family(const std::string& model)
{
    Reference reference;
    const CsvTable table = read_csv(std::string(ROOF_TEST_DATA) + "/data/parity_family.csv");
    for (const std::vector<std::string>& row : table.rows) {
        if (row.at(0) == model) reference.values_[row.at(1)][row.at(2)] = std::stod(row.at(3));
    }
    return reference;
}

bool Reference::has(const std::string& quantity, const std::string& name) const
{
    const auto found = values_.find(quantity);
    return found != values_.end() && found->second.contains(name);
}

double Reference::at(const std::string& quantity, const std::string& name) const
{
    return values_.at(quantity).at(name);
}

std::size_t Reference::count(const std::string& quantity) const
{
    const auto found = values_.find(quantity);
    return found == values_.end() ? 0 : found->second.size();
}

HashedTraining::HashedTraining(const std::string& model, const Arithmetic& arithmetic)
    : graph_(model::build_model(model)),
      network_(graph_, {.batch = batch,
                        .threads = 2,
                        .parameters = Parameters::hashed,
                        .learning_rate = 0.01F,
                        .precision = arithmetic.precision,
                        .algorithm = arithmetic.algorithm}),
      images_(static_cast<std::size_t>(batch * graph_.layer(0).output.elements())),
      trace_(clock_, network_.parts().size())
{
    model::hashed_input().fill(images_);
    for (int n = 0; n < batch; ++n) labels_.push_back(model::hashed_label(n, graph_.classes()));
}

double HashedTraining::differentiate()
{
    const double loss = network_.forward(images_.data(), labels_.data(), trace_);
    network_.backward(trace_);
    return loss;
}

void HashedTraining::update()
{
    network_.update(trace_);
}

double norm(const std::vector<float>& values)
{
    double sum = 0;
    for (const double value : values) sum += value * value;
    return std::sqrt(sum);
}

}  // namespace roof::onednn
