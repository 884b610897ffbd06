#include "tools/roof/reading/predictions.hpp"

#include "analysis/table/fitted_text.hpp"
#include "ert/base/checksum.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "tools/roof/reading/machines.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace roof {
namespace fs = std::filesystem;

std::vector<analysis::Prediction> predict(const std::vector<Item>& items, const Context& context)
{
    std::vector<analysis::Target> targets;
    try {
        targets = find_targets("here", context);
    } catch (const InputError&) {
        throw InputError(
            "--predict: this machine has no calibration yet, and an estimate rests on its ceilings; "
            "`roof calibrate` makes one");
    }
    std::vector<analysis::Prediction> predictions;
    for (const Item& item : items) {
        const auto target = std::ranges::find_if(targets, [&](const analysis::Target& one) {
            return one.known == Known::measured && one.device == item.device;
        });
        if (target == targets.end()) continue;
        if (auto prediction = analysis::predict(item.id(), item.point, *target)) predictions.push_back(*prediction);
    }
    return predictions;
}

void keep_predictions(const std::vector<analysis::Prediction>& predictions, const fs::path& folder, bool has_rows,
                      const Context& context)
{
    const fs::path file = folder / analysis::predictions_file;
    if (fs::exists(file)) {
        context.err << fmt::format("predicted before: {}, fingerprint {}\n", file.string(),
                                   analysis::fingerprint(read_file(file)));
        return;
    }
    if (has_rows)
        throw InputError(folder.string() +
                         ": --predict: some rows are measured already, so nothing can be predicted; "
                         "take another folder with --out");
    const std::string text = with_checksums(analysis::to_csv(predictions), run_of(folder));
    write_file(file, text);
    context.err << fmt::format("predicted {} rows before the first is measured: {}, fingerprint {}\n",
                               predictions.size(), file.string(), analysis::fingerprint(text));
}

std::string predictions_text(const analysis::Study& study, int columns)
{
    if (study.predictions.rows.empty()) return {};
    const std::string title = fmt::format("Predicted before the first row was measured (fingerprint {}) and measured",
                                          study.predictions_fingerprint);
    return analysis::fitted_lines(title, columns) + '\n' + analysis::to_text(study.predictions, columns) + '\n';
}

}  // namespace roof
