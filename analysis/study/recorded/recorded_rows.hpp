// Shared by the tables of recordings: records and the rows of the study to which they belong.
#pragma once

#include "analysis/study/study.hpp"
#include "analysis/table/rows.hpp"
#include "analysis/table/table.hpp"

#include <map>
#include <string>
#include <vector>

namespace roof::analysis {

/// The rows of a study by id. Their ids are made at the first question: most studies have no recordings.
class RowsById {
  public:
    explicit RowsById(const Study& study) : study_(study) {}

    /// The row with this id; null if it is not in the study.
    const Measurement* find(const std::string& id) const
    {
        if (rows_.empty())
            for (const Measurement& row : study_.results.rows) rows_.emplace(row.id(), &row);
        const auto row = rows_.find(id);
        return row == rows_.end() ? nullptr : row->second;
    }

  private:
    const Study& study_;
    mutable std::map<std::string, const Measurement*> rows_;
};

/// Limits what people see to rows of the study, and to the first `most` records of each row.
template <class Record>
DataTable recorded_table(const std::vector<ColumnOf<Record>>& columns, const std::vector<Record>& records,
                         const RowsById& rows, DataTable about, std::size_t most = std::string::npos)
{
    DataTable table = table_of(columns, records, std::move(about));
    std::map<std::string, std::size_t> shown;
    for (std::size_t i = 0; i < records.size(); ++i) {
        const std::string& row = records[i].row;
        table.rows[i].is_for_programs_only = rows.find(row) == nullptr || shown[row]++ >= most;
    }
    return table;
}

inline Cell step_cell(const Measurement* row)
{
    if (row == nullptr) return absent();
    const long long batch = batch_of(*row);
    return word(model_of(*row) + (batch > 0 ? " b" + std::to_string(batch) : ""));
}

inline Cell device_cell(const std::string& device, const Measurement* row)
{
    return word(device.empty() && row != nullptr ? row->device : device, device);
}

inline Cell measured()
{
    return word(name(Known::measured));
}

}  // namespace roof::analysis
