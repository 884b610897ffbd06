#include "tests/engine/reference.hpp"

#include "tests/fakes/read_csv.hpp"
#include "workloads/model/hashed.hpp"

#include <cmath>
#include <cstdlib>

namespace roof::engine {
namespace {

/// Returns the path in the source tree of this build, unless ROOF_TREE overrides it.
std::string path_of(const std::string& file)
{
    const char* const elsewhere = std::getenv("ROOF_TREE");
    return (elsewhere != nullptr ? elsewhere + std::string("/tests/engine/data") : ROOF_REFERENCE_DATA) + "/" + file;
}

}  // namespace

Reference::Reference(const std::string& model)
{
    const CsvTable table = read_csv(path_of("parity_" + model + ".csv"));
    for (const std::vector<std::string>& row : table.rows) values_[row.at(0)][row.at(1)] = std::stod(row.at(2));
}

Reference Reference::of_family(const std::string& model)
{
    Reference reference;
    const CsvTable table = read_csv(path_of("parity_family.csv"));
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

double norm(const std::vector<float>& values)
{
    double sum = 0;
    for (const double value : values) sum += value * value;
    return std::sqrt(sum);
}

double projection(const std::vector<float>& values, std::size_t parameter)
{
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto seed = static_cast<std::uint32_t>(9000 + parameter);
        sum += values[i] * 2.0 * model::hashed_unit(seed, static_cast<std::uint32_t>(i));
    }
    return sum;
}

double shrinking(const std::vector<float>& before, const std::vector<float>& after)
{
    double moved = 0;
    double square = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
        const double start = before[i];
        moved += (after[i] - start) * start;
        square += start * start;
    }
    return moved / square;
}

}  // namespace roof::engine
