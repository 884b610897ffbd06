#include "analysis/fleet/fleet_files.hpp"

#include "analysis/estimate/prediction.hpp"
#include "ert/base/checksum.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/node.hpp"
#include "ert/method/results/seal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <set>
#include <system_error>
#include <thread>
#include <tuple>

namespace roof::analysis {
namespace {

namespace fs = std::filesystem;

constexpr int most_levels = 6;
constexpr std::size_t most_entries = 1'000'000;
constexpr std::uintmax_t most_bytes = 64 << 20;  ///< of a folder without a digest; a calibration has 3 MB

bool is_regular(const fs::path& file)
{
    std::error_code none;
    return fs::is_regular_file(fs::symlink_status(file, none));
}

/// A digest with the fingerprint of its text, or why a folder cannot be used.
struct Found {
    std::string fingerprint{};
    Digest digest{};
    std::string refusal{};
    fs::path place{};
};

Found parsed(const std::string& text, SharedWords& words)
{
    return {fingerprint(text), parse_digest(text, digest_file, words), {}};
}

Found read_digest(const fs::path& folder, SharedWords& words)
{
    try {
        const fs::path file = folder / digest_file;
        if (!is_regular(file)) throw InputError(std::string(digest_file) + " is no regular file");
        Found found = parsed(read_file(file, largest_digest), words);
        if (const std::string run = run_of(folder); !run.empty() && run != found.digest.run)
            throw InputError(std::string(digest_file) + " is of another run than machine.yaml");
        return found;
    } catch (const Error& refusal) {
        return {.refusal = refusal.what()};
    }
}

/// Calls each(i, words) for every i below `count`, on all processors, each with words of its own. Throws what a call throws.
template <class Each>
void for_each_at_once(std::size_t count, const Each& each)
{
    constexpr std::size_t fewest_of_thread = 64;
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
        SharedWords words;
        for (std::size_t i = next++; i < count; i = next++) each(i, words);
    };
    const std::size_t threads =
        std::min<std::size_t>(std::thread::hardware_concurrency(), 1 + count / fewest_of_thread);
    std::vector<std::future<void>> others;
    try {
        for (std::size_t i = 1; i < threads; ++i) others.push_back(std::async(std::launch::async, work));
    } catch (const std::system_error&) {
    }  // no more threads: this one does the rest
    work();
    for (std::future<void>& other : others) other.get();
}

class Search {
  public:
    explicit Search(std::vector<RefusedFolder>& refused) : refused_(refused) {}

    void folder(const fs::path& place, int level = 0)
    {
        std::vector<fs::path> folders;
        std::set<std::string> files;
        std::error_code error;
        for (const fs::directory_entry& entry : fs::directory_iterator(place, error)) {
            if (++entries_ > most_entries) throw InputError("a fleet has at most 1,000,000 files and folders");
            std::error_code none;
            if (!entry.is_symlink(none) && entry.is_directory(none))
                folders.push_back(entry.path());
            else
                files.insert(entry.path().filename().string());
        }
        if (error) refused_.push_back({place.string(), "it cannot be read: " + error.message()});
        if (files.contains(digest_file))
            with_digest_.push_back(place);
        else if (files.contains("measurements.csv"))
            add(place, make(place, files));
        if (level < most_levels)
            for (const fs::path& inner : folders) folder(inner, level + 1);
    }

    /// The digests in their order. A copy in another folder counts once, and is named: it may stand in the place of another node's.
    std::vector<Digest> digests()
    {
        std::vector<Found> read(with_digest_.size());
        for_each_at_once(read.size(),
                         [&](std::size_t i, SharedWords& words) { read[i] = read_digest(with_digest_[i], words); });
        for (std::size_t i = 0; i < read.size(); ++i) add(with_digest_[i], std::move(read[i]));
        std::ranges::sort(found_, {}, [](const Found& found) {
            const Digest& d = found.digest;
            return std::tie(d.node, d.kind, d.plan, d.revision, d.time, found.fingerprint, found.place);
        });
        std::vector<Digest> digests;
        digests.reserve(found_.size());
        const Found* before = nullptr;
        for (Found& found : found_) {
            if (before == nullptr || before->fingerprint != found.fingerprint) {
                digests.push_back(std::move(found.digest));
                before = &found;
            } else if (std::error_code none; !fs::equivalent(before->place, found.place, none)) {
                refused_.push_back(
                    {found.place.string(), "its digest is that of " + before->place.string() + " and counts once"});
            }
        }
        return digests;
    }

  private:
    void add(const fs::path& place, Found found)
    {
        if (!found.refusal.empty()) {
            refused_.push_back({place.string(), std::move(found.refusal)});
        } else if (!found.fingerprint.empty()) {
            found.place = place;
            found_.push_back(std::move(found));
        }
    }

    /// Of a folder without a digest; none for a run of training steps.
    static Found make(const fs::path& place, const std::set<std::string>& files)
    {
        try {
            std::uintmax_t size = 0;
            for (const std::string& file : files) {
                std::error_code gone;  // another process's temporary file may be
                const bool is_there = fs::exists(fs::symlink_status(place / file, gone));
                if (is_there && !is_regular(place / file)) throw InputError(file + " is no regular file");
                const std::uintmax_t bytes = is_there ? fs::file_size(place / file, gone) : 0;
                if (!gone) size += bytes;
            }
            if (size > most_bytes) throw InputError("it has no digest, and more than 64 MiB to make one from");
            const Results results = read_results(place);
            if (!results.damage.empty()) throw InputError("it is damaged: " + results.damage.front());
            const Digest made = make_digest(results);
            if (made.ceilings.empty() && made.links.empty()) return {};
            if (results.machine.node.empty()) throw InputError("its machine.yaml names no node");
            SharedWords words;
            Found found = parsed(to_csv(made), words);
            try {
                keep_digest(results);
            } catch (const Error&) {
            }  // a folder that can only be read
            return found;
        } catch (const fs::filesystem_error& refusal) {
            return {.refusal = refusal.code().message()};
        } catch (const Error& refusal) {
            return {.refusal = refusal.what()};
        }
    }

    std::vector<RefusedFolder>& refused_;
    std::vector<fs::path> with_digest_;
    std::vector<Found> found_;
    std::size_t entries_ = 0;
};

/// New names for `names`, in an order that does not show that of the names.
std::map<std::string, std::string> hidden(const std::set<std::string>& names, const std::string& stem)
{
    std::vector<std::pair<std::string, std::string>> order;
    for (const std::string& name : names) order.emplace_back(fingerprint(name), name);
    std::ranges::sort(order);
    std::map<std::string, std::string> hidden;
    for (const auto& [hash, name] : order) hidden[name] = fmt::format("{}-{}", stem, hidden.size() + 1);
    return hidden;
}

}  // namespace

Fleet read_fleet(const std::vector<fs::path>& folders)
{
    Fleet fleet;
    Search search(fleet.refused);
    for (const fs::path& folder : folders) {
        if (!fs::is_directory(folder)) throw InputError("there is no folder " + folder.string());
        search.folder(folder);
    }
    fleet.digests = search.digests();
    std::ranges::sort(fleet.refused, {}, &RefusedFolder::folder);
    const auto cut = std::ranges::count_if(fleet.digests, [](const Digest& d) { return d.facts.contains("left out"); });
    if (cut > 0)
        fleet.notes.push_back(fmt::format(
            "{} of {} digests {} rates that did not fit, which are not judged: see `left out` there. The run "
            "makes a whole one where digest.csv is deleted.",
            cut, fleet.digests.size(), cut == 1 ? "lacks" : "lack"));
    return fleet;
}

std::vector<ExpectedNode> read_expected(const fs::path& file)
{
    std::vector<ExpectedNode> nodes;
    std::set<std::string> names;
    std::size_t number = 0;
    for (const std::string& line : split(read_file(file), '\n')) {
        ++number;
        const auto fail = [&](const std::string& why) {
            throw InputError(fmt::format("{}:{}: {}", file.string(), number, why));
        };
        std::vector<std::string> words;
        for (const std::string& word : split(std::string(trim(line)), ' '))
            if (!word.empty()) words.push_back(word);
        if (words.empty() || words.front().starts_with('#')) continue;
        ExpectedNode node{words.front()};
        if (!is_node_name(node.node)) fail("'" + node.node + "' is no node's name");
        if (!names.insert(node.node).second) fail("'" + node.node + "' stands twice");
        for (std::size_t i = 1; i < words.size(); ++i) {
            const std::size_t equals = words[i].find('=');
            if (equals == 0 || equals == std::string::npos) fail("'" + words[i] + "' is not of the form KEY=VALUE");
            node.facts[words[i].substr(0, equals)] = words[i].substr(equals + 1);
        }
        nodes.push_back(std::move(node));
    }
    return nodes;
}

void anonymise(const std::vector<Fleet*>& fleets)
{
    std::set<std::string> names;
    std::map<std::string, std::set<std::string>> values;
    for (const Fleet* fleet : fleets) {
        for (const Digest& digest : fleet->digests) {
            names.insert(digest.node);
            for (const DigestRate& link : digest.links)
                for (const std::string& end : split(link.name(), ' ')) names.insert(end);
        }
        for (const ExpectedNode& node : fleet->expected) {
            names.insert(node.node);
            for (const auto& [key, value] : node.facts) values[key].insert(value);
        }
    }
    const auto nodes = hidden(names, "node");
    std::map<std::string, std::map<std::string, std::string>> facts;
    for (const auto& [key, texts] : values) facts[key] = hidden(texts, key);
    for (Fleet* fleet : fleets) {
        for (Digest& digest : fleet->digests) {
            digest.node = nodes.at(digest.node);
            for (DigestRate& link : digest.links) {
                const std::vector<std::string> ends = split(link.name(), ' ');
                link.rename(nodes.at(ends.front()) + ' ' + nodes.at(ends.back()));
            }
        }
        for (ExpectedNode& node : fleet->expected) {
            node.node = nodes.at(node.node);
            for (auto& [key, value] : node.facts) value = facts.at(key).at(value);
        }
        for (RefusedFolder& folder : fleet->refused) folder = {"a folder", "left out: it may hold names"};
        std::ranges::sort(fleet->digests, {},
                          [](const Digest& d) { return std::tie(d.node, d.kind, d.plan, d.revision, d.time); });
    }
}

}  // namespace roof::analysis
