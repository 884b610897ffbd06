// CSV read line by line, for files too long to hold: cells as RFC 4180 has them, but that no cell holds a line end. What reads
// a whole table by column name is csv.hpp.
#pragma once

#include <cstddef>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

namespace roof {

class CsvLines {
  public:
    /// `name` stands in messages. `csv` is borrowed.
    CsvLines(std::istream& csv, std::string name, char separator = ',');

    /// Reads a line; false at the end of the file, and at a last line without a line end, which is left out.
    /// Throws InputError for a quote that its line does not close, and for a line of more than 16 MiB.
    bool next();

    /// Of the line read last, quotes taken off; valid until the next.
    const std::vector<std::string_view>& cells() const { return cells_; }
    /// Of the line read last, as a person counts lines.
    std::size_t number() const { return number_; }
    /// "name:number", for messages.
    std::string where() const;
    const std::string& name() const { return name_; }
    /// Whether the file ended in the middle of a line; known once next() has returned false.
    bool cut_off() const { return cut_off_; }

  private:
    void split();

    std::istream& csv_;
    std::string name_;
    char separator_;
    std::string line_;
    std::vector<std::string_view> cells_;
    std::size_t number_ = 0;
    bool cut_off_ = false;
};

}  // namespace roof
