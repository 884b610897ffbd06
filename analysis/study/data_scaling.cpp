// What training on several ranks gained: a line per row of several ranks.
#include "analysis/study/scaling.hpp"

#include "analysis/study/data_tables.hpp"
#include "analysis/table/rows.hpp"

namespace roof::analysis {

DataTable scaling_table_of(const Study& study)
{
    static const std::vector<DataColumn<Scaling>> columns{
        {"row", [](const Scaling& s) { return text(s.row->id()); }},
        {"model", [](const Scaling& s) { return text(model_of(*s.row)); }},
        {"batch", [](const Scaling& s) { return Value(batch_of(*s.row)); }},
        {"ranks", [](const Scaling& s) { return Value(s.row->ranks()); }},
        {"images_per_s", [](const Scaling& s) { return number(s.row->images_per_second()); }},
        {"speedup", [](const Scaling& s) { return number_if(s.alone != nullptr, s.speedup); }},
        {"efficiency", [](const Scaling& s) { return number_if(s.alone != nullptr, s.efficiency); }},
        {"exposed_s", [](const Scaling& s) { return number(s.row->exposed.median.value); }},
        {"hidden_s", [](const Scaling& s) { return number(s.row->hidden.median.value); }},
        {"messages_bytes", [](const Scaling& s) { return number(s.row->messages.value); }},
        {"bus_bytes_per_s", [](const Scaling& s) { return number(bus_bandwidth(*s.row).value); }},
        {"link_bytes_per_s",
         [](const Scaling& s) { return s.link == nullptr ? Value{} : number(s.link->rate.median.value); }},
        {"known", [](const Scaling&) { return text(name(Known::measured)); }},
    };
    return table_of(columns, scalings(study));
}

}  // namespace roof::analysis
