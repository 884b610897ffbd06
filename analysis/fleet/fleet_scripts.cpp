#include "analysis/fleet/fleet_scripts.hpp"

#include "analysis/fleet/batch_scripts.hpp"
#include "ert/base/names.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace roof::analysis {
namespace {

constexpr int seconds_per_minute = 60;

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

void require_devices(const FleetScript& script)
{
    for (const std::string& device : script.devices)
        if (device != "cpu" && device != "gpu")
            throw InputError(fmt::format("--device: '{}' is neither cpu nor gpu (every GPU of a node)", device));
    if (script.devices.empty() ? script.plan.empty() : script.devices.size() > 1 && !script.plan.empty())
        throw InputError("--plan: one plan, with one device or as the plan says");
}

std::string parallel(const FleetScript& s)
{
    return fmt::format(R"sh(#!/usr/bin/env bash
# Runs one task per node by ssh, at most {at_once} at once. Run it again to continue: nodes with a digest are left out. Its exit status is the
# number of nodes that could not be measured.
set -euo pipefail
results={results}
mkdir -p "$results"
parallel --jobs {at_once} --timeout {seconds} 'if ! {{ {has_digests}; }}; then ssh -o BatchMode=yes {{}} "{commands}"; fi' \
  ::: {nodes}
)sh",
                       fmt::arg("at_once", s.at_once), fmt::arg("results", s.results),
                       fmt::arg("seconds", s.minutes * seconds_per_minute),
                       fmt::arg("has_digests", has_digests(s, "{}", s.results)),
                       fmt::arg("commands", task_commands(s, "{}", s.results)), fmt::arg("nodes", join(s.nodes, " ")));
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
    const bool has_gpus = std::ranges::find(s.devices, "gpu") != s.devices.end();
    const std::string resources =
        has_gpus ? fmt::format("          resources: {{limits: {{nvidia.com/gpu: {}}}}}\n", s.gpus) : "";
    std::string text = fmt::format(
        R"yaml(# kubectl apply -f FILE: one Job per node, at most {0} Pods at once.
# To continue: kubectl delete jobs -n roof-fleet -l app=roof-fleet && kubectl apply -f FILE. Applied alone, it starts no Job again that has
# ended or failed. Nodes with a digest end at once, and a run that was stopped goes on.
# The Pod of a node that is lost waits for it, and keeps one of the {0} places until its Job is deleted.
# No two of these Pods share a node. Keep other Pods away from the nodes while they are measured. Taints that keep Pods off are tolerated,
# also those of a node that was cordoned.
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
      activeDeadlineSeconds: {seconds}
      nodeSelector: {{kubernetes.io/hostname: "{node}"}}
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            - labelSelector: {{matchLabels: {{app: roof-fleet}}}}
              topologyKey: kubernetes.io/hostname
      tolerations:
        - {{operator: Exists, effect: NoSchedule}}
      containers:
        - name: roof
          image: {image}
          command: ["sh", "-c", "if ! {{ {has_digests}; }}; then {commands}; fi"]
{resources}          volumeMounts:
            - {{name: results, mountPath: {mount}}}
      volumes:
        - name: results
          persistentVolumeClaim: {{claimName: {claim}}}
)yaml",
                            fmt::arg("name", object_name(s.nodes[i], i)), fmt::arg("node", s.nodes[i]),
                            fmt::arg("seconds", s.minutes * seconds_per_minute), fmt::arg("image", s.image),
                            fmt::arg("has_digests", has_digests(s, s.nodes[i], s.results)),
                            fmt::arg("commands", task_commands(s, s.nodes[i], s.results)),
                            fmt::arg("resources", resources), fmt::arg("mount", s.results), fmt::arg("claim", s.claim));
    return text;
}

}  // namespace

std::string fleet_script(const FleetScript& script)
{
    using Engine = Named<std::string (*)(const FleetScript&)>;
    constexpr std::array<Engine, 4> engines{
        {{slurm_script, "slurm"}, {pbs_script, "pbs"}, {kubernetes, "kubernetes"}, {parallel, "parallel"}}};
    const auto engine = row_in(engines, "engine", script.engine).value;
    require_devices(script);
    if (!script.plan.empty()) require_plain("--plan", script.plan);
    require_plain("--out", script.results);
    if (script.nodes.empty() && script.engine != "slurm" && script.engine != "pbs")
        throw InputError("--nodes: " + script.engine + " needs a list of nodes");
    if (script.engine == "kubernetes") {
        require_plain("--image", script.image);
        require_plain("--claim", script.claim);
        if (!script.results.starts_with('/')) throw InputError("--out: where the volume is mounted, such as /results");
    }
    return engine(script);
}

std::string task_commands(const FleetScript& script, const std::string& node, const std::string& results)
{
    if (script.devices.empty())
        return fmt::format("roof sweep {} --node {} --out {}/{}", script.plan, node, results, node);
    std::vector<std::string> commands;
    for (const std::string& device : script.devices)
        commands.push_back(fmt::format(
            "roof calibrate --device {}{}{} --node {} --out {}/{}/{}", device, device == "gpu" ? " --side-by-side" : "",
            script.plan.empty() ? "" : " --plan " + script.plan, node, results, node, device));
    return join(commands, "; ");
}

std::string has_digests(const FleetScript& script, const std::string& node, const std::string& results)
{
    if (script.devices.empty()) return fmt::format("[ -e {}/{}/digest.csv ]", results, node);
    std::vector<std::string> tests;
    for (const std::string& device : script.devices)
        tests.push_back(fmt::format("[ -e {}/{}/{}/digest.csv ]", results, node, device));
    return join(tests, " && ");
}

}  // namespace roof::analysis
