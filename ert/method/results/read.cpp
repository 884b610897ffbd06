// Reads a results folder. A line that is damaged, or contradicts another, is named; its row alone becomes `damaged`.
#include "ert/base/error.hpp"
#include "ert/base/fields.hpp"
#include "ert/base/files.hpp"
#include "ert/base/names.hpp"
#include "ert/base/text.hpp"
#include "ert/method/results/results.hpp"
#include "ert/method/results/seal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace roof {
namespace {

namespace fs = std::filesystem;

/// More layers and phases of a row are not read.
constexpr std::size_t most_parts = 100'000;

/// The columns of the file, which must be known and appear once, in any order, because the order of the axes changed.
template <class Row>
Places<Row> places_in(const CsvLines& lines, const std::vector<Field<Row>>& fields)
{
    Places<Row> places;
    if (lines.cells().front() != "id") throw InputError(lines.where() + ": the first column is not 'id'");
    for (std::size_t i = 1; i < lines.cells().size(); ++i) {
        const std::string_view word = lines.cells()[i];
        const auto found = std::ranges::find(fields, word, &Field<Row>::name);
        if (found == fields.end())
            throw InputError(lines.where() + ": " + unknown_word("column", word, names_in(fields)));
        if (std::ranges::find(places, &*found, &Places<Row>::value_type::first) != places.end())
            throw InputError(fmt::format("{}: the column '{}' appears twice", lines.where(), word));
        places.emplace_back(&*found, i);
    }
    return places;
}

/// A sentence without the "file:line: " at its beginning.
std::string without_place(const std::string& sentence, const CsvLines& lines)
{
    return sentence.empty() ? sentence : sentence.substr(lines.where().size() + 2);
}

template <class Unit>
bool is_ordered(const Estimate<Unit>& e)
{
    return e.low <= e.median && e.median <= e.high;
}

/// The axes that the analysis reads as whole numbers, and the largest that is read.
constexpr std::array<Named<long long>, 4> whole_numbers{
    {{1'000'000'000, "batch"}, {65'536, "threads"}, {1'000'000'000'000'000, "working_set"}, {65'536, "ranks"}}};

bool is_wrong(const Point& point, const Named<long long>& limit)
{
    if (!point.has(limit.name)) return false;
    const auto value = parse_number<long long>(point.text(limit.name));
    return value < 0 || value > limit.value;  // what is no number is less than any
}

std::string wrong_number_in(const Point& point)
{
    const auto limit = std::ranges::find_if(whole_numbers, [&](const auto& one) { return is_wrong(point, one); });
    if (limit == whole_numbers.end()) return {};
    return fmt::format("{} '{}' is no whole number up to {}", limit->name, printable(point.text(limit->name)),
                       limit->value);
}

std::string contradiction_in(const Measurement& row, const std::string& id)
{
    if (row.id() != id) return "its id is not that of its cells";
    if (row.status != Status::ok) return {};
    const bool ordered = is_ordered(row.seconds) && is_ordered(row.data) && is_ordered(row.forward) &&
                         is_ordered(row.backward) && is_ordered(row.update) && is_ordered(row.exposed) &&
                         is_ordered(row.hidden) && is_ordered(row.clock);
    if (!ordered) return "a median lies outside its interval";
    return wrong_number_in(row.point);
}

/// Whether no row has lines in files_of_rows.
bool has_rows_alone(const fs::path& folder)
{
    return std::ranges::none_of(files_of_rows, [&](const char* file) { return fs::exists(folder / file); });
}

/// Reads the files of one folder.
class RunReader {
  public:
    /// `is_alone`: no row has lines in files_of_rows: each is proven at once; else by prove().
    RunReader(Results& results, bool is_alone) : results_(results), run_(run_of(results.folder)), is_alone_(is_alone) {}

    void measurements()
    {
        bytes_of_rows_ = bytes_of_rows();
        read<Measurement>(measurements_file, measurement_fields(),
                          [&](const CsvLines& lines, const std::string& id, Measurement row, std::string what) {
                              if (!says_time_known_ && row.description.starts_with("Emulated"))
                                  row.time_known = Known::emulated;
                              if (what.empty()) what = contradiction_in(row, id);
                              Place* place = find(id);
                              if (what.empty() && place != nullptr && place->is_whole) what = "the row appears twice";
                              Proof proof{Block(before_), lines.checksum()};
                              proof.lines.add(lines.crc(), file_, lines.number());
                              before_ = crc32_of(lines.checksum());
                              if (!what.empty() && damage_.is_full()) return damage_.add(where_ + ": " + what);
                              const std::size_t here = results_.rows.size();
                              if (place == nullptr)
                                  place = &index_.emplace(std::hash<std::string>{}(id), Place{here})->second;
                              if (what.empty()) *place = {here, row.status != Status::skipped};
                              row.point = Point(row.point);  // without the room in which it grew
                              results_.rows.push_back(std::move(row));
                              if (!what.empty()) {
                                  other_ids_[here] = id;
                                  mark(results_.rows.back(), where_ + ": " + what);
                              }
                              if (has_checksums_ && is_alone_) prove(results_.rows.back(), proof);
                              if (has_checksums_ && !is_alone_) proofs_.push_back(std::move(proof));
                          });
    }

    void samples()
    {
        read<Sample>(files_of_rows[0], sample_fields(),
                     [&](const CsvLines& lines, const std::string& id, Sample sample, const std::string& what) {
                         if (Measurement* row = row_of(lines, id, what)) row->samples.push_back(std::move(sample));
                     });
    }

    void layers()
    {
        std::set<std::tuple<std::string, std::string, std::string, Phase>> seen;
        read<PartMeasurement>(
            files_of_rows[1], part_fields(),
            [&](const CsvLines& lines, const std::string& id, PartMeasurement part, std::string what) {
                if (what.empty() && !is_ordered(part.seconds)) what = "a median lies outside its interval";
                if (what.empty() && !seen.emplace(id, part.part.layer, part.part.kind, part.part.phase).second)
                    what = "the layer and phase stand twice in their row";
                Measurement* const row = row_of(lines, id, what);
                if (row == nullptr) return;
                if (row->parts.size() < most_parts)
                    row->parts.push_back(std::move(part));
                else
                    mark(*row, fmt::format("{}: more than {} layers and phases in a row", where_, most_parts));
            });
    }

    /// Compares each row with its checksum.
    void prove()
    {
        for (std::size_t i = 0; i < proofs_.size(); ++i) prove(results_.rows[i], proofs_[i]);
    }

    /// Drops the rows that were skipped and measured later.
    void drop_skipped()
    {
        std::set<std::size_t> old;
        for (std::size_t i = 0; i < results_.rows.size(); ++i) {
            if (results_.rows[i].status != Status::skipped) continue;
            if (find(results_.rows[i].id())->row != i) old.insert(i);
        }
        std::erase_if(results_.rows,
                      [&, place = std::size_t{0}](const Measurement&) mutable { return old.contains(place++); });
    }

    void compare_counts()
    {
        for (Measurement& row : results_.rows) {
            const auto used = std::ranges::count_if(row.samples, &Sample::used);
            if (row.status == Status::ok && !row.samples.empty() && used != row.seconds.n)
                mark(row, fmt::format("samples.csv: {} used samples, the row has {}", used, row.seconds.n));
        }
        for (Measurement& row : results_.rows) {
            if (row.status != Status::damaged) continue;
            row.samples.clear();
            row.parts.clear();
        }
        results_.damage = damage_.take();
    }

  private:
    /// Where a row is, and whether its line was whole and not that of a skipped one.
    struct Place {
        std::size_t row{};
        bool is_whole = false;
    };
    /// A row's lines, and the checksum that they should have.
    struct Proof {
        Block lines;
        std::string stated;
    };

    /// Calls `take(lines, id, row, what)` for each line; `what` is empty if nothing is wrong with it. A file whose
    /// header is damaged is read with the one of this version, if the rows have checksums, which prove it.
    template <class Row, class Take>
    void read(const std::string& name, const std::vector<Field<Row>>& fields, const Take& take)
    {
        const fs::path file = results_.folder / name;
        const bool is_first = name == measurements_file;
        if (!fs::exists(file) && !is_first) return;  // no row has samples or layers
        Places<Row> places;
        const auto check_header = [&](const CsvLines& lines) {
            if (lines.number() == 0) return;
            places = places_in(lines, fields);
            if (lines.has_checksums()) check_run(lines, run_);
        };
        bool is_mended = false;
        const auto read = [&](CsvLines& lines) {
            if (!is_mended || is_first || has_checksums_) read_lines(is_first, lines, places, take);
        };
        const std::string header = header_of(fields);
        read_lines_of(file, is_first ? with_column(header, row_column, run_) : header, check_header, read,
                      [&](const std::string& what, bool) {
                          is_mended = true;
                          damage_.add(what);
                      });
    }

    template <class Row, class Take>
    void read_lines(bool is_first, CsvLines& lines, const Places<Row>& places, const Take& take)
    {
        orphans_ = 0;
        file_ = *names_.insert(lines.name()).first;
        before_ = lines.crc();
        if (is_first) {
            has_checksums_ = lines.has_checksums();
            says_time_known_ = std::ranges::any_of(places, [](const auto& p) { return p.first->name == "time_known"; });
            run_header_ = lines.header();
            if (!has_checksums_)
                results_.remarks.emplace_back(
                    "measurements.csv has no checksums of this version: a changed figure is not noticed");
        }
        for (std::string what; lines.next(what);) {
            what = without_place(what, lines);
            Row row;
            std::string cell = read_row(row, lines, places);
            if (what.empty()) what = std::move(cell);
            where_ = lines.where();
            take(lines, lines.cells().empty() ? std::string{} : std::string(lines.cells().front()), std::move(row),
                 std::move(what));
        }
        // A killed run leaves lines of one row, a run that writes meanwhile may have written more.
        if (orphans_ > 0 && lost_rows_.size() > 1 && bytes_of_rows() == bytes_of_rows_)
            damage_.add(first_orphan_ + ": its row is not in measurements.csv");
        else if (orphans_ > 0)
            results_.remarks.push_back(
                fmt::format("{}: {} at its end, of a row that is not in measurements.csv: its run was killed or "
                            "still writes it",
                            fs::path(lines.name()).filename().string(),
                            orphans_ == 1 ? "1 line" : fmt::format("{} lines", orphans_)));
    }

    std::uintmax_t bytes_of_rows() const
    {
        std::error_code none;
        return fs::file_size(results_.folder / measurements_file, none);
    }

    void prove(Measurement& row, const Proof& proof)
    {
        if (row.status == Status::damaged) return;
        if (const std::string damage = proof.lines.damage(proof.stated, run_header_); !damage.empty())
            mark(row, damage);
    }

    /// Where the row with this id in its line is; null if there is none.
    Place* find(const std::string& id)
    {
        if (last_ != nullptr && id == last_id_) return last_;
        const auto [begin, end] = index_.equal_range(std::hash<std::string>{}(id));
        for (auto at = begin; at != end; ++at) {
            const auto other = other_ids_.find(at->second.row);
            if (id != (other == other_ids_.end() ? results_.rows[at->second.row].id() : other->second)) continue;
            last_id_ = id;
            return last_ = &at->second;
        }
        return nullptr;
    }

    void mark(Measurement& row, const std::string& damage)
    {
        row.status = Status::damaged;
        row.reason = damage;
        for (const auto& limit : whole_numbers) {
            if (!is_wrong(row.point, limit)) continue;
            other_ids_.try_emplace(static_cast<std::size_t>(&row - results_.rows.data()), row.id());
            row.point = row.point.without(limit.name);
        }
        damage_.add(row.reason);
    }

    /// The row of a line of files_of_rows; null if the line is damaged or has no row.
    Measurement* row_of(const CsvLines& lines, const std::string& id, const std::string& what)
    {
        const Place* const place = find(id);
        if (place == nullptr) {
            if (!what.empty()) {
                damage_.add(where_ + ": " + what);
            } else {
                if (orphans_++ == 0) first_orphan_ = where_;
                lost_rows_.insert(id);
            }
            return nullptr;
        }
        if (orphans_ > 0) damage_.add(first_orphan_ + ": its row is not in measurements.csv");
        orphans_ = 0;
        if (has_checksums_) proofs_[place->row].lines.add(lines.crc(), file_, lines.number(), before_);
        Measurement& row = results_.rows[place->row];
        if (what.empty()) return &row;
        if (row.status != Status::damaged) mark(row, where_ + ": " + what);
        return nullptr;
    }

    Results& results_;
    std::string run_;
    DamageList damage_;
    std::unordered_multimap<std::size_t, Place>
        index_;                                     ///< by the hash of the id in the row's line; the row has the id
    std::map<std::size_t, std::string> other_ids_;  ///< of damaged rows, in their line
    std::string last_id_;                           ///< that find() found
    Place* last_ = nullptr;
    std::set<std::string> names_;  ///< of the files that were read
    std::string_view file_;        ///< the one that is read
    bool has_checksums_ = false;   ///< of the rows
    bool says_time_known_ = true;  ///< older files say it by the first word of the description
    std::optional<std::uint32_t> run_header_;
    bool is_alone_;              ///< as in RunReader()
    std::vector<Proof> proofs_;  ///< of the rows, if they have checksums and are proven later
    std::uint32_t before_ = 0;  ///< CRC-32 of the checksum of the row before, or of the header of the file that is read
    std::string where_;         ///< "file:line" of the line that is read
    std::size_t orphans_ = 0;   ///< lines just read whose row is missing
    std::string first_orphan_;  ///< the place of the first of them
    std::set<std::string> lost_rows_;   ///< the ids of all such rows
    std::uintmax_t bytes_of_rows_ = 0;  ///< of measurements.csv when it was read
};

/// With its own name as the last one, which "run/" and "." do not have.
fs::path with_name(const fs::path& folder)
{
    const fs::path path = folder.has_filename() ? folder : folder.parent_path();
    return path.filename() == "." || path.filename() == ".." ? fs::canonical(path) : path;
}

}  // namespace

Results read_results(const fs::path& folder)
{
    if (!fs::is_directory(folder)) throw InputError("there is no results folder " + folder.string());
    if (!fs::exists(folder / "machine.yaml") && !fs::exists(folder / "measurements.csv"))
        throw InputError(folder.string() + " is no results folder: it has no machine.yaml");
    Results results;
    results.folder = with_name(folder);
    results.machine = read_machine_of(folder);
    if (has_no_row(folder))
        throw InputError(folder.string() +
                         " has no rows: its run was stopped before the first one, or still measures it");
    if (fs::exists(folder / "plan.yaml")) results.plan = read_file(folder / "plan.yaml", largest_document);
    const bool is_alone = has_rows_alone(folder);
    RunReader reader(results, is_alone);
    reader.measurements();
    if (is_alone && !has_rows_alone(folder)) return read_results(folder);  // a run began meanwhile
    if (!is_alone) {
        reader.samples();
        reader.layers();
        reader.prove();
    }
    reader.drop_skipped();
    reader.compare_counts();
    const SealCheck check = check_seal(folder);
    const auto others = check.damage.begin() + std::ssize(check.lost);
    results.damage.insert(results.damage.begin(), check.damage.begin(), others);  // they damage all rows of the file
    results.damage.insert(results.damage.end(), others, check.damage.end());
    for (const auto& [file, edit] : check.edits) results.remarks.push_back(file + ": " + edit);
    if (!check.has_ended && results.remarks.empty()) {
        results.remarks.emplace_back("the run has not ended: it was killed or still measures");
        results.odd.push_back(results.folder.string() + ": " + results.remarks.back());
    }
    return results;
}

std::vector<Measurement> read_rows(const fs::path& folder)
{
    Results results;
    results.folder = folder;
    RunReader reader(results, false);
    reader.measurements();
    reader.drop_skipped();
    return std::move(results.rows);
}

}  // namespace roof
