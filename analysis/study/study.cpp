#include "analysis/study/study.hpp"

#include "analysis/roofline/roofs.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/identity.hpp"
#include "ert/method/bench/machine.hpp"
#include "ert/method/results/look_file.hpp"

#include <algorithm>
#include <iterator>

namespace roof::analysis {
namespace {

void read_predictions(Study& study)
{
    const std::filesystem::path file = study.results.folder / predictions_file;
    if (!std::filesystem::exists(file)) return;
    try {
        const std::string text = read_file(file);
        study.predictions = errors_of(parse_predictions(text, file.string()), study.results.rows);
        study.predictions_fingerprint = fingerprint(text);
    } catch (const InputError& error) {
        study.results.damage.emplace_back(error.what());
    }
}

void check_recordings(Study& study)
{
    if (study.results.folder.empty()) return;
    study.record_damage = check_records(study.results.folder);
    const std::vector<std::string>& found = study.record_damage.sentences;
    study.results.damage.insert(study.results.damage.end(), found.begin(), found.end());
}

/// The value, which `make` computes at the first use.
template <class Value, class Make>
const Value& kept(std::optional<Value>& value, const Make& make)
{
    if (!value) value = make();
    return *value;
}

/// Each sentence once.
void add_new(std::vector<std::string>& sentences, const std::vector<std::string>& more)
{
    for (const std::string& sentence : more)
        if (std::ranges::find(sentences, sentence) == sentences.end()) sentences.push_back(sentence);
}

/// Empty for one node. Adds remarks on nodes without a calibration, and on a network that was not measured. Damage of
/// the calibrations is that of the study.
Ceilings ceilings_over_nodes(const std::filesystem::path& folder, Results& results)
{
    const std::vector<std::string> of_ranks = rank_nodes(results.machine);
    const std::set<std::string> names(of_ranks.begin(), of_ranks.end());
    if (names.size() < 2) return {};
    std::vector<NodeCeilings> nodes;
    std::vector<std::string> without;
    for (const std::string& name : names) {
        PassedOver over;
        const std::filesystem::path found = find_calibration(folder, name, &over);
        const Results calibration = found.empty() ? Results{} : read_results(found);
        note(over, results);
        add_new(results.damage, calibration.damage);
        if (calibration.machine.node == name)
            nodes.push_back({name, fit_ceilings(calibration.rows, calibration.machine,
                                                looks_at(calibration.folder, calibration.machine).seen)});
        else
            without.push_back(name);
    }
    if (!without.empty())
        results.remarks.push_back(
            "no calibration of " + join(without, ", ") +
            ": rows of several nodes have no roofs but the network's; `roof fleet script` calibrates all");
    Ceilings over = without.empty() ? analysis::over_nodes(nodes) : Ceilings{};
    PassedOver not_network;
    const std::filesystem::path network = find_network(folder, of_ranks, &not_network);
    note(not_network, results);
    if (network.empty()) {
        results.remarks.emplace_back(
            "the network between these nodes was not measured: `roof calibrate --ranks N` does");
        return over;
    }
    const Results messages = read_results(network);
    add_new(results.damage, messages.damage);
    const Ceilings paths = fit_ceilings(messages.rows, messages.machine);
    over.all.insert(over.all.end(), paths.all.begin(), paths.all.end());
    return over;
}

std::vector<Measurement> sustained_probes(const std::vector<Measurement>& rows)
{
    std::vector<Measurement> probes;
    std::ranges::copy_if(rows, std::back_inserter(probes), [](const Measurement& row) {
        return row.status == Status::ok && row.sustained.seconds.median.value > 0 &&
               (row.role == Role::compute || row.role == Role::bandwidth);
    });
    return probes;
}

std::string emulation_warning(const Study& study)
{
    std::set<std::string> emulated;
    for (const Measurement* row : all_rows(study))
        if (row->time_known == Known::emulated)
            for (const std::string& device : devices_in(row->device)) emulated.insert(device);
    const std::vector<std::string> devices(emulated.begin(), emulated.end());
    return devices.empty() ? "" : "Emulated: no number of " + join(devices, " and ") + " is a measurement.";
}

std::string about_the_ceilings(const Study& study)
{
    if (study.ceilings.all.empty())
        return "No ceilings: no calibration of the machine '" + study.results.machine.name +
               "' was found, so nothing can be placed on a roofline. `roof calibrate` measures them, and --calibration "
               "DIR of `roof report` and others takes those of another folder.";
    const std::string& here = study.results.machine.name;
    const std::string& there = study.calibration.machine.name;
    const std::string& node = study.results.machine.node;
    const std::string& other = study.calibration.machine.node;
    if (here == there && node != other && !node.empty() && !other.empty())
        return "The ceilings are those of another node of the same kind, '" + other + "'; the rows are of '" + node +
               "'.";
    if (here == there) {
        switch (calibration_kind(study.calibration.folder, calibration_rows(study))) {
            case CalibrationKind::unfinished:
                return "The ceilings are those of a calibration that was stopped early: `roof calibrate` measures the "
                       "rest.";
            case CalibrationKind::quick:
                return "The ceilings are those of a quick calibration, with wide intervals: `roof calibrate` measures "
                       "them in full.";
            case CalibrationKind::full:
                return "";
        }
    }
    return "The ceilings are those of another machine, '" + there + "'; the rows are of '" + here + "'.";
}

/// Whether something was repeated for seconds that is a roof of this row.
bool has_lasting_roofs(const Study& study, const Measurement& row)
{
    const Roofs roofs = roofs_of(study.lasting, row.device, threads_of(row));
    return has_lasting(roofs, roofs.precision(precision_of(row)));
}

}  // namespace

void note(const PassedOver& over, Results& results)
{
    add_new(results.damage, over.damage);
    add_new(results.remarks, over.remarks);
    add_new(results.remarks, over.odd);
    add_new(results.odd, over.odd);
}

Study make_study(Results results, Results calibration, Ceilings over_nodes, std::vector<Measurement> sustained)
{
    Study study;
    study.over_nodes = std::move(over_nodes);
    study.results = std::move(results);
    study.calibration = std::move(calibration);
    const bool has_none = study.calibration.folder.empty();
    const Looks looks = has_none ? looks_at(study.results.folder, study.results.machine)
                                 : looks_at(study.calibration.folder, study.calibration.machine);
    if (has_none && !looks.seen.empty()) study.calibration.machine = study.results.machine;
    add_new(study.results.remarks, looks.remarks);
    const Machine& machine = study.calibration.machine;
    study.sustained = sustained.empty() ? sustained_probes(study.results.rows) : std::move(sustained);
    const Ceilings bursts = fit_ceilings(calibration_rows(study), machine, looks.seen);
    study.ceilings = with_groups(bursts, study.results.rows, machine);
    if (!study.sustained.empty())
        study.lasting = with_groups(with_lasting(bursts, study.sustained), study.results.rows, machine);
    for (const Measurement& row : study.results.rows)
        for (Placement& placement : place(row, ceilings_over(study, row), machine))
            study.placements.push_back(std::move(placement));
    read_predictions(study);
    check_recordings(study);
    find_level_bytes(study.placements, study.results.rows, recorded_folder(study), study.ceilings, machine);
    return study;
}

Study open_study(const std::filesystem::path& folder, const std::filesystem::path& calibration, ReportInput input)
{
    Results results = read_results(folder);
    Ceilings over_nodes = ceilings_over_nodes(folder, results);
    PassedOver over;
    const std::filesystem::path found =
        calibration.empty() ? find_calibration(folder, {}, &over, &results) : calibration;
    const bool is_own = !found.empty() && std::filesystem::equivalent(found, folder);
    Results ceilings = found.empty() ? Results{}
                       : is_own      ? Results{results.folder, results.machine, results.plan, {}}
                                     : read_results(found);
    std::vector<Measurement> sustained = sustained_probes(results.rows);
    if (sustained.empty()) {
        std::filesystem::path lasting = find_sustained(folder, &over);
        if (lasting.empty() && !calibration.empty()) lasting = find_sustained(calibration);
        if (!lasting.empty()) {
            const Results probes = read_results(lasting);
            add_new(results.damage, probes.damage);
            sustained = sustained_probes(probes.rows);
        }
    }
    Study study = make_study(std::move(results), std::move(ceilings), std::move(over_nodes), std::move(sustained));
    static_cast<ReportInput&>(study) = std::move(input);
    note(over, study.results);
    return study;
}

const Ceilings& ceilings_over(const Study& study, const Measurement& row)
{
    if (row.ranks() > 1 && count_nodes(study.results.machine) > 1) return study.over_nodes;
    const bool is_lasting = lasts(row) && has_lasting_roofs(study, row);
    return is_lasting ? study.lasting : study.ceilings;
}

std::string_view kind_of_roofs(const Study& study, const Measurement& row)
{
    const Ceilings& over = ceilings_over(study, row);
    if (&over == &study.lasting) return "lasting ";
    const bool has_both = &over == &study.ceilings && has_lasting_roofs(study, row);
    return has_both ? "burst " : "";
}

std::span<const Measurement> calibration_rows(const Study& study)
{
    const bool is_own = !study.results.folder.empty() && study.calibration.folder == study.results.folder;
    return is_own ? study.results.rows : study.calibration.rows;
}

std::vector<const Measurement*> all_rows(const Study& study)
{
    std::vector<const Measurement*> rows;
    for (const Measurement& row : study.results.rows) rows.push_back(&row);
    if (study.calibration.folder != study.results.folder)
        for (const Measurement& row : study.calibration.rows) rows.push_back(&row);
    return rows;
}

std::vector<std::string> all_damage(const Study& study)
{
    std::vector<std::string> damage = study.results.damage;
    if (study.calibration.folder != study.results.folder) add_new(damage, study.calibration.damage);
    return damage;
}

std::string calibration_warning(const Study& study)
{
    const std::string about = about_the_ceilings(study);
    const std::string emulated = emulation_warning(study);
    return emulated.empty() || about.empty() ? emulated + about : emulated + " " + about;
}

RecordedFolder recorded_folder(const Study& study)
{
    return {study.results.folder, study.record_damage};
}

const RecordedKernels& kernels_of(const Study& study)
{
    return kept(study.recording.kernels,
                [&] { return read_kernels(recorded_folder(study), study.rules(), layer_kinds(study.results.rows)); });
}

const std::vector<CallTotal>& calls_of(const Study& study)
{
    return kept(study.recording.calls, [&] { return add_up_calls(recorded_folder(study)); });
}

const std::vector<CopyTotal>& copies_of(const Study& study)
{
    return kept(study.recording.copies, [&] { return add_up_copies(recorded_folder(study)); });
}

const std::vector<MemoryUse>& memory_of(const Study& study)
{
    return kept(study.recording.memory, [&] { return follow_memory(recorded_folder(study)); });
}

}  // namespace roof::analysis
