// What kernels a step's time goes to, by category; what no rule knows comes first. And of the other recordings that this run
// lacks, which command would bring them.
#include "analysis/kernels.hpp"
#include "analysis/html.hpp"
#include "analysis/panels/panels.hpp"
#include "analysis/rows.hpp"
#include "analysis/words.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace roof::analysis {

namespace {

constexpr double most_unclassified = 0.02;

struct Sum {
    double seconds = 0;
    std::size_t launches = 0;
};

std::vector<std::pair<std::string, Sum>> categories_of(const KernelDigest& digest, const std::string& row)
{
    std::map<std::string, Sum> sums;
    for (const KernelTotal& total : digest.totals) {
        if (total.row != row) continue;
        const std::string what = total.algorithm.empty() ? total.category : total.category + ", " + total.algorithm;
        sums[what].seconds += total.seconds;
        sums[what].launches += total.launches;
    }
    std::vector<std::pair<std::string, Sum>> list(sums.begin(), sums.end());
    std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
        const bool a_first = a.first == unclassified, b_first = b.first == unclassified;
        return a_first != b_first ? a_first : a.second.seconds > b.second.seconds;
    });
    return list;
}

void add_rows(std::vector<std::vector<Cell>>& rows, const KernelDigest& digest, const Measurement& row)
{
    double all = 0;
    for (const auto& [category, sum] : categories_of(digest, row.id())) all += sum.seconds;
    for (const auto& [category, sum] : categories_of(digest, row.id())) {
        const double share = all > 0 ? sum.seconds / all : 0;
        const bool warn = category == unclassified && share > most_unclassified;
        rows.push_back({Cell::text(model_of(row)), Cell::value(std::to_string(batch_of(row))), Cell::text(row.device),
                        warn ? Cell{"<span class=\"warn\">" + category + "</span>", false, 1} : Cell::text(category),
                        Cell::value(std::to_string(sum.launches)), Cell::value(format_duration(sum.seconds)),
                        Cell::value(percent(share))});
    }
}

}  // namespace

std::string kernels_panel(const Study& study, const std::string&)
{
    if (step_rows(study.results.rows).empty()) return {};
    const KernelDigest digest =
        digest_kernels(study.results.folder, study.kernel_rules, layer_kinds(study.results.rows));
    if (digest.launches == 0)
        return paragraph(
            "No kernels were recorded with this run: it holds no kernels.csv. Training steps on the CPU launch none, "
            "and their layers are in the breakdown above.");
    std::vector<std::vector<Cell>> rows;
    for (const Measurement* row : step_rows(study.results.rows)) add_rows(rows, digest, *row);
    return paragraph(fmt::format("{} launches, added up by name to {} kernels and by category below.", digest.launches,
                                 digest.totals.size())) +
           html_table({"model", "batch", "device", "category", "launches", "time", "share"}, rows);
}

}  // namespace roof::analysis
