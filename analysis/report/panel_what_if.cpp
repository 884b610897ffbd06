// The steps if memory were twice as fast, and if arithmetic were: the two answers that say what to buy. The page's sliders and
// `roof whatif` give all others.
#include "analysis/report/panels.hpp"
#include "analysis/study/whatif.hpp"
#include "analysis/table/html.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/text.hpp"

namespace roof::analysis {

namespace {

Cell predicted(const Predicted& answer)
{
    if (!answer.reason.empty()) return Cell::value("-");
    return Cell::value(format_duration(answer.seconds.value));
}

}  // namespace

std::string what_if_panel(const Study& study, const std::string&)
{
    if (study.ceilings.all.empty()) return {};
    const std::vector<Predicted> memory = what_if(study, all_doubled(study, Role::bandwidth));
    const std::vector<Predicted> compute = what_if(study, all_doubled(study, Role::compute));
    std::vector<std::vector<Cell>> rows;
    for (std::size_t i = 0; i < memory.size(); ++i) {
        const Measurement& row = *memory[i].row;
        rows.push_back({Cell::text(model_of(row)), Cell::value(std::to_string(batch_of(row))),
                        Cell::text(precision_of(row)), Cell::text(row.device),
                        Cell::value(format_duration(row.seconds.median.value)), predicted(memory[i]),
                        predicted(compute[i])});
    }
    if (rows.empty()) return {};
    return html_table({"model", "batch", "precision", "device", "measured", "all memory twice as fast",
                       "arithmetic twice as fast"},
                      rows) +
           paragraph(
               "Each layer keeps the share of its roof that it reached. `roof whatif DIR --set DRAM=1.5x,batch=512` "
               "answers for any other change.",
               "legend");
}

}  // namespace roof::analysis
