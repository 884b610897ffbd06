#include "analysis/fleet/fleet_scripts.hpp"

#include "ert/base/names.hpp"
#include "ert/base/number.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace roof::analysis {
namespace {

constexpr std::size_t most_nodes = 100'000;

/// Whether a shell and YAML take the text as one plain word.
void require_plain(const std::string& what, const std::string& text)
{
    const auto plain = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
               std::string_view("/._:@-+").find(c) != std::string_view::npos;
    };
    if (text.empty() || text.front() == '-' || !std::ranges::all_of(text, plain))
        throw InputError(fmt::format("{}: '{}' is no word of letters, digits and /._:@-+", what, text));
}

std::string slurm(const FleetScript& s)
{
    const std::string nodes = s.nodes.empty() ? "$(sinfo --noheader --Node --format=%N | sort -u)" : join(s.nodes, " ");
    return fmt::format(R"sh(#!/usr/bin/env bash
# Run on a login node: submits one exclusive job per node, at most {at_once} at once. Run it again to continue: nodes with a digest are left out.
set -euo pipefail
results={results}
mkdir -p "$results"
i=0
for node in {nodes}; do
  if [ -e "$results/$node/digest.csv" ]; then continue; fi
  # Jobs of one name run one after the other.
  sbatch --parsable --nodes=1 --ntasks=1 --exclusive --nodelist="$node" --job-name="roof-$((i % {at_once}))" --dependency=singleton \
    --output="$results/%x-%N.log" --wrap="roof sweep {plan} --node $node --out $results/$node"
  i=$((i + 1))
done
)sh",
                       fmt::arg("at_once", s.at_once), fmt::arg("results", s.results), fmt::arg("nodes", nodes),
                       fmt::arg("plan", s.plan));
}

std::string parallel(const FleetScript& s)
{
    return fmt::format(R"sh(#!/usr/bin/env bash
# Runs one task per node by ssh, at most {at_once} at once. Run it again to continue: nodes with a digest are left out.
set -euo pipefail
results={results}
mkdir -p "$results"
parallel --jobs {at_once} 'if [ ! -e {results}/{{}}/digest.csv ]; then ssh -o BatchMode=yes {{}} roof sweep {plan} --node {{}} --out {results}/{{}}; fi' \
  ::: {nodes}
)sh",
                       fmt::arg("at_once", s.at_once), fmt::arg("results", s.results),
                       fmt::arg("nodes", join(s.nodes, " ")), fmt::arg("plan", s.plan));
}

/// A name of a Kubernetes object: lower case, at most 63 characters.
std::string object_name(const std::string& node, std::size_t number)
{
    std::string name = "roof-" + std::to_string(number) + "-";
    for (const char c : node)
        name += c == '_' || c == '.' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    constexpr std::size_t longest = 63;
    name.resize(std::min(name.size(), longest));
    while (name.ends_with('-')) name.pop_back();
    return name;
}

std::string kubernetes(const FleetScript& s)
{
    std::string text = fmt::format(
        R"yaml(# kubectl apply -f FILE: one Job per node, at most {0} Pods at once. Apply it again to continue: nodes with a digest end at once.
# No two of these Pods share a node. Keep other Pods away from the nodes while they are measured.
apiVersion: v1
kind: Namespace
metadata:
  name: roof-fleet
---
apiVersion: v1
kind: ResourceQuota
metadata:
  name: at-once
  namespace: roof-fleet
spec:
  hard:
    pods: "{0}"
)yaml",
        s.at_once);
    for (std::size_t i = 0; i < s.nodes.size(); ++i)
        text += fmt::format(R"yaml(---
apiVersion: batch/v1
kind: Job
metadata:
  name: {name}
  namespace: roof-fleet
  labels: {{app: roof-fleet}}
spec:
  backoffLimit: 2
  template:
    metadata:
      labels: {{app: roof-fleet}}
    spec:
      restartPolicy: Never
      nodeSelector: {{kubernetes.io/hostname: "{node}"}}
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            - labelSelector: {{matchLabels: {{app: roof-fleet}}}}
              topologyKey: kubernetes.io/hostname
      containers:
        - name: roof
          image: {image}
          command: ["sh", "-c", "test -e {results}/{node}/digest.csv || exec roof sweep {plan} --node {node} --out {results}/{node}"]
          volumeMounts:
            - {{name: results, mountPath: {mount}}}
      volumes:
        - name: results
          persistentVolumeClaim: {{claimName: {claim}}}
)yaml",
                            fmt::arg("name", object_name(s.nodes[i], i)), fmt::arg("node", s.nodes[i]),
                            fmt::arg("image", s.image), fmt::arg("results", s.results), fmt::arg("plan", s.plan),
                            fmt::arg("mount", s.results), fmt::arg("claim", s.claim));
    return text;
}

/// Splits at commas outside brackets.
std::vector<std::string> list_words(const std::string& text)
{
    std::vector<std::string> words{""};
    int depth = 0;
    for (const char c : text) {
        if (c == '[') ++depth;
        if (c == ']') --depth;
        const bool divides = (c == ',' && depth == 0) || std::isspace(static_cast<unsigned char>(c)) != 0;
        if (divides)
            words.emplace_back();
        else
            words.back() += c;
    }
    std::erase(words, "");
    return words;
}

/// "01-03" -> {"01", "02", "03"}.
std::vector<std::string> numbers_in(const std::string& range, const std::string& word)
{
    const std::vector<std::string> ends = split(range, '-');
    const auto first = parse_number<unsigned>(ends.front());
    const auto last = parse_number<unsigned>(ends.back());
    if (ends.size() > 2 || !first || !last || *first > *last || *last - *first >= most_nodes)
        throw InputError("--nodes: '" + range + "' in '" + word + "' is no range such as 01-32");
    std::vector<std::string> numbers;
    for (unsigned i = *first; i <= *last; ++i) numbers.push_back(fmt::format("{:0{}}", i, ends.front().size()));
    return numbers;
}

}  // namespace

std::vector<std::string> node_list(const std::string& text)
{
    std::vector<std::string> nodes;
    for (const std::string& word : list_words(text)) {
        const std::size_t open = word.find('[');
        const std::size_t close = word.find(']');
        std::vector<std::string> names;
        if (open == std::string::npos || close == std::string::npos || close < open) {
            names.push_back(word);
        } else {
            for (const std::string& range : split(word.substr(open + 1, close - open - 1), ','))
                for (const std::string& number : numbers_in(range, word))
                    names.push_back(word.substr(0, open) + number + word.substr(close + 1));
        }
        for (std::string& name : names) {
            if (!is_node_name(name)) throw InputError("--nodes: '" + name + "' is no node's name");
            if (nodes.size() == most_nodes) throw InputError("--nodes: more than 100,000 nodes");
            nodes.push_back(std::move(name));
        }
    }
    return nodes;
}

std::string fleet_script(const FleetScript& script)
{
    using Engine = Named<std::string (*)(const FleetScript&)>;
    constexpr std::array<Engine, 3> engines{{{slurm, "slurm"}, {kubernetes, "kubernetes"}, {parallel, "parallel"}}};
    const auto engine = row_in(engines, "engine", script.engine).value;
    require_plain("--plan", script.plan);
    require_plain("--out", script.results);
    if (script.nodes.empty() && script.engine != "slurm")
        throw InputError("--nodes: " + script.engine + " needs a list of nodes");
    if (script.engine == "kubernetes") {
        require_plain("--image", script.image);
        require_plain("--claim", script.claim);
        if (!script.results.starts_with('/')) throw InputError("--out: where the volume is mounted, such as /results");
    }
    return engine(script);
}

}  // namespace roof::analysis
