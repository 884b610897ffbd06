// The report: one HTML file that needs no network, has a light and a dark theme, and can be printed. Its sections are
// panels, in one table; the panels' pictures and tables are also written as files.
#pragma once

#include "analysis/estimate/machine_estimate.hpp"
#include "analysis/report/svg.hpp"
#include "analysis/study/study.hpp"
#include "analysis/table/table.hpp"

#include <nlohmann/json_fwd.hpp>

#include <array>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace roof::analysis {

struct Picture {
    std::string caption;  ///< may be empty
    Svg svg;
};

/// What a panel shows of one study, from top to bottom: HTML and pictures.
using Content = std::vector<std::variant<std::string, Picture>>;
std::string html_of(const Content& content);
/// Appends the figure, below its title and `whose` roofs it shows (machine_line()); empty: without heading.
void add_picture(Content& content, const std::string& key, Figure figure, const std::string& whose = {},
                 const std::string& caption = {});

/// A table of a panel. The files are <name>.csv and <name>.json; without a name it is for people only.
struct PanelTable {
    std::string_view name;
    DataTable (*make)(const Study& study) = nullptr;
};

struct Panel {
    std::string_view id;  ///< anchor in the page
    std::string_view heading;
    std::string_view sentence;           ///< what the panel shows and how to read it
    std::array<PanelTable, 4> tables{};  ///< at the front of the array; the rest is empty
    /// The content; empty if there is nothing to show. Ids start with `key`, which is unique to study and panel. Null:
    /// the tables as people see them.
    Content (*render)(const Study& study, const std::string& key) = nullptr;
    bool has_numbers = false;  ///< its pictures show what only its tables say: numbers_of() follows them
};

// Figures that the page's charts draw, too.

/// The times that the memory roof and the compute roof alone allow layers with levels. `steps`: their times, by row.
Figure time_figure(const std::string& title, std::span<const Placement* const> layers,
                   const std::map<std::string, Seconds>& steps);
/// Images per second and share of attainable over the batch; without those that have no mark.
std::vector<Figure> trajectory_figures(std::span<const Study> studies);

Content trajectories(std::span<const Study> studies, const std::string& key);

std::span<const Panel> panels();
Content content_of(const Panel& panel, const Study& study, const std::string& key);

/// The panel's tables as a program reads them, folded; for those who cannot see its pictures. Empty without rows.
std::string numbers_of(const Panel& panel, const Study& study);

/// Leaves 100 training steps of all studies, if there are more, with all their points; sets `left_out`.
void thin_steps(std::span<Study> studies);
/// Chooses the steps whose layers a page of about 1.2 MB shows: the largest batches first; sets `without_layers`.
void thin_layers(std::span<Study> studies);

/// The report of these studies. The same studies give the same bytes.
std::string report_html(const std::vector<Study>& studies);

/// A page without script of points of one's own under the roofs of their devices. A point without bytes is a horizontal
/// line: its rate is known, its intensity is not.
std::string points_page(const Study& study);

// Steps by estimate on machines. The estimates have one precision and phase; each is of the target that its `machine`
// names.

/// All machines in one picture, and where there are several one of each, all in the same frame. Roofs of a data sheet
/// are dashed, points hollow.
std::vector<Svg> estimates_pictures(std::span<const Target> targets, std::span<const MachineEstimate> estimates);
/// A page without script: the sentences, the pictures and the table.
std::string estimates_page(std::span<const Target> targets, const std::vector<MachineEstimate>& estimates,
                           const std::vector<std::string>& sentences);

/// Writes <folder>/<panel>-<n>.svg for each picture of each panel. Throws InputError if the folder cannot be made or
/// written.
std::vector<std::filesystem::path> write_pictures(std::span<const Study> studies, const std::filesystem::path& folder);

/// Writes each named table over all studies to <folder>/<name>.csv and .json, with `study` as its first column, and
/// winners_table(). A table without rows is only a header. Throws InputError as write_pictures().
void write_tables(std::span<const Study> studies, const std::filesystem::path& folder);

// The panels that show more than their tables, each in panel_<id>.cpp or panels.cpp.
Content roofline_panel(const Study& study, const std::string& key);
Content time_roofline_panel(const Study& study, const std::string& key);
Content breakdown_panel(const Study& study, const std::string& key);
Content counted_panel(const Study& study, const std::string& key);
Content memory_panel(const Study& study, const std::string& key);
Content bandwidth_curve_panel(const Study& study, const std::string& key);
Content ert_curve_panel(const Study& study, const std::string& key);
Content absent_panel(const Study& study, const std::string& key);
Content provenance_panel(const Study& study, const std::string& key);

// Pictures for a terminal.

/// The roofs of every level and precision at the most threads, one drawing per device, with a letter and a legend entry
/// for each measured step. `width` in columns, at least 40; `plain` means ASCII. Empty without ceilings; a sentence
/// where those of bandwidth or of compute are missing.
std::string terminal_roofline(const Study& study, int width, bool plain);

/// The rate over the batch, a letter for each series of steps. Empty where no series has two batches.
std::string terminal_batches(const Study& study, int width, bool plain);

/// For the largest batch of each model, device and precision: the seconds of each kind of layer by phase, with a bar
/// for its share of the step. Empty without layers.
std::string terminal_layers(const Study& study, int width, bool plain);

// The page's script, and its data as one JSON block in SI units, with points as columns.

/// {"studies": [{"name", "sentence" of all steps, "calibrated": the date,
///   "roofs": [{"device", "owner", "threads", "levels": [roof], "compute": [roof]}] of each device and thread count,
///   "figures": [{"roofline": {"x", "y", "roofs"}, "time": the same, "series": [[number of a point]]}] of each "roofs",
///   "rows": [{"id", "title", "model", "batch", "precision", "data", "threads", "seconds", "sentence", "roofs"}],
///   "scopes", "phases", "names", "kinds", "rates": values that the points index,
///   "points": {"row", "scope", …: a column each; "text" explains it, "cells" are its texts in the table, "at"
///       its places in the roofline, [level, x], "time" that in the times, "before" that of the baseline}}]}
/// A roof: {"name" or "precision", "median", "low", "high"}.
nlohmann::json page_json(std::span<const Study> studies);

/// The document as the text of a script element. No content can end the element early.
std::string script_text(const nlohmann::json& document);

/// The script, joined from the folder `page` at build time.
std::string_view page_script();
/// SHA-256 of the script in base64, for the page's content security policy.
std::string_view page_script_hash();

// The frame of all pages, and the style sheet (style.cpp).

/// The page's, with a light and a dark theme and rules for print.
std::string style_sheet();

/// The light theme without variables, for picture files: few programs except browsers support them.
std::string picture_style_sheet();

/// A page with the style sheet that fetches nothing. `policy`: what its content security policy allows besides styles.
std::string html_document(std::string_view title, std::string_view header, std::string_view main,
                          std::string_view scripts = "", std::string_view policy = "");

}  // namespace roof::analysis
