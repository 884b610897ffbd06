#include "analysis/kernels.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <fstream>
#include <unordered_map>

namespace roof::analysis {

namespace {

struct Rule {
    std::string_view part;  ///< of the name, in small letters
    std::string_view category;
};

/// The first that fits decides, so what is narrow stands before what is wide: a convolution's layout change is layout.
constexpr std::array rules{
    Rule{"nccl", "collective"},
    Rule{"allreduce", "collective"},
    Rule{"nchwtonhwc", "layout"},
    Rule{"nhwctonchw", "layout"},
    Rule{"transpose", "layout"},
    Rule{"reorder", "layout"},
    Rule{"batchnorm", "normalisation"},
    Rule{"batch_norm", "normalisation"},
    Rule{"bn_", "normalisation"},
    Rule{"pool", "pooling"},
    Rule{"softmax", "loss"},
    Rule{"cross_entropy", "loss"},
    Rule{"momentum", "optimiser"},
    Rule{"sgd", "optimiser"},
    Rule{"update", "optimiser"},
    Rule{"relu", "activation"},
    Rule{"activation", "activation"},
    Rule{"dropout", "activation"},
    Rule{"winograd", "convolution"},
    Rule{"conv", "convolution"},
    Rule{"fprop", "convolution"},
    Rule{"dgrad", "convolution"},
    Rule{"wgrad", "convolution"},
    Rule{"gemm", "matrix product"},
    Rule{"gemv", "matrix product"},
    Rule{"matmul", "matrix product"},
    Rule{"memcpy", "copy"},
    Rule{"memset", "fill"},
    Rule{"fill", "fill"},
};

/// Cells of one line as RFC 4180 has them; quotes are taken off.
void split_cells(std::string_view line, std::vector<std::string>& cells)
{
    std::size_t count = 0;
    const auto next = [&]() -> std::string& {
        if (count == cells.size()) cells.emplace_back();
        cells[count].clear();
        return cells[count++];
    };
    std::string* cell = &next();
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char letter = line[i];
        const bool doubled = quoted && letter == '"' && i + 1 < line.size() && line[i + 1] == '"';
        if (doubled)
            *cell += line[i++];
        else if (letter == '"')
            quoted = !quoted;
        else if (letter == ',' && !quoted)
            cell = &next();
        else
            *cell += letter;
    }
    cells.resize(count);
}

/// A line as a person counts lines; false at the end, and for a last line without an end.
bool read_line(std::istream& csv, std::string& line)
{
    if (!std::getline(csv, line) || csv.eof()) return false;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    return true;
}

double seconds_of(const std::string& cell, const std::string& where)
{
    double seconds = 0;
    const auto [rest, error] = std::from_chars(cell.data(), cell.data() + cell.size(), seconds);
    if (error == std::errc{} && rest == cell.data() + cell.size() && seconds >= 0) return seconds;
    throw InputError(fmt::format("{}: duration_s '{}' is no time", where, printable(cell)));
}

struct Places {
    std::size_t id, name, duration;
};

Places places_of(const std::vector<std::string>& header, const std::string& file)
{
    const auto place = [&](std::string_view column) {
        const auto found = std::ranges::find(header, column);
        if (found == header.end()) throw InputError(fmt::format("{}: it has no column '{}'", file, column));
        return static_cast<std::size_t>(found - header.begin());
    };
    return {place("id"), place("name"), place("duration_s")};
}

}  // namespace

std::string_view category_of(std::string_view kernel)
{
    std::string small(kernel);
    std::ranges::transform(small, small.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const auto rule =
        std::ranges::find_if(rules, [&](const Rule& r) { return small.find(r.part) != std::string::npos; });
    return rule == rules.end() ? "unclassified" : rule->category;
}

KernelDigest digest_kernels(std::istream& csv, const std::string& name)
{
    KernelDigest digest;
    std::string line;
    std::vector<std::string> cells;
    if (!read_line(csv, line)) throw InputError(name + ": it is empty");
    split_cells(line, cells);
    const Places at = places_of(cells, name);
    const std::size_t width = cells.size();
    std::unordered_map<std::string, std::size_t> places;
    for (std::size_t number = 2; read_line(csv, line); ++number) {
        split_cells(line, cells);
        const auto where = [&] { return fmt::format("{}:{}", name, number); };
        if (cells.size() != width) throw InputError(fmt::format("{}: {} cells, not {}", where(), cells.size(), width));
        const auto [place, is_new] = places.try_emplace(cells[at.id] + '\n' + cells[at.name], digest.totals.size());
        if (is_new)
            digest.totals.push_back({cells[at.id], std::string(category_of(cells[at.name])), cells[at.name], 0, 0});
        KernelTotal& total = digest.totals[place->second];
        ++total.launches;
        total.seconds += seconds_of(cells[at.duration], where());
        ++digest.launches;
    }
    std::ranges::stable_sort(digest.totals, [](const KernelTotal& a, const KernelTotal& b) {
        return a.row != b.row ? a.row < b.row : a.seconds > b.seconds;
    });
    return digest;
}

KernelDigest digest_kernels(const std::filesystem::path& folder)
{
    const std::filesystem::path file = folder / "kernels.csv";
    std::ifstream csv(file);
    return csv ? digest_kernels(csv, file.string()) : KernelDigest{};
}

}  // namespace roof::analysis
