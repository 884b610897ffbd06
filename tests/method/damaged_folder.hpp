// A results folder to be damaged.
#pragma once

#include "ert/base/files.hpp"
#include "ert/method/results/results.hpp"
#include "tests/fakes/temporary_folder.hpp"
#include "tests/method/measured_rows.hpp"

#include <functional>
#include <string>
#include <vector>

namespace roof::tests {

/// A folder with two rows of a run that has ended, to be damaged.
struct Damaged {
    fakes::TemporaryFolder folder;
    std::filesystem::path run = folder / "run";

    Damaged()
    {
        RunDirectory directory(run, plan_text, fakes::fake_machine());
        for (const Measurement& row : measured()) directory.append(row);
    }
    void change(const std::string& file, const std::function<void(std::string&)>& edit) const
    {
        std::string text = read_file(run / file);
        edit(text);
        write_file(run / file, text);
    }
    void replace(const std::string& file, const std::string& from, const std::string& to) const
    {
        change(file, [&](std::string& text) { text.replace(text.find(from), from.size(), to); });
    }
};

inline std::string line_of(const std::string& text, std::size_t number)
{
    std::size_t begin = 0;
    for (std::size_t i = 1; i < number; ++i) begin = text.find('\n', begin) + 1;
    return text.substr(begin, text.find('\n', begin) + 1 - begin);
}

inline std::vector<Status> statuses(const Results& results)
{
    std::vector<Status> all;
    for (const Measurement& row : results.rows) all.push_back(row.status);
    return all;
}

}  // namespace roof::tests
