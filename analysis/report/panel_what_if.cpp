// The steps with memory twice as fast, and with arithmetic twice as fast. The page's sliders and `roof whatif` accept
// any change.
#include "analysis/report/panels.hpp"
#include "analysis/study/whatif.hpp"
#include "analysis/table/html.hpp"
#include "analysis/table/rows.hpp"

namespace roof::analysis {

namespace {

Cell predicted(const Predicted& answer)
{
    return only_if(answer.reason.empty(), seconds(answer.seconds));
}

}  // namespace

std::string what_if_panel(const Study& study, const std::string&)
{
    if (study.ceilings.all.empty()) return {};
    const std::vector<Predicted> memory = what_if(study, all_doubled(study, Role::bandwidth));
    const std::vector<Predicted> compute = what_if(study, all_doubled(study, Role::compute));
    DataTable table{.columns = {{"model"},
                                {"batch"},
                                {"precision"},
                                {"device"},
                                {"measured"},
                                {"all memory twice as fast"},
                                {"arithmetic twice as fast"}}};
    for (std::size_t i = 0; i < memory.size(); ++i) {
        const Measurement& row = *memory[i].row;
        table.rows.push_back({{word(model_of(row)), count(batch_of(row)), word(precision_of(row)), word(row.device),
                               seconds(row.seconds.median), predicted(memory[i]), predicted(compute[i])}});
    }
    if (table.empty()) return {};
    return html_table(table) +
           paragraph(
               "Each layer keeps the share of its roof that it reached. `roof whatif DIR --set DRAM=1.5x,batch=512` "
               "answers for any other change.",
               "legend");
}

}  // namespace roof::analysis
