#include "analysis/fleet/batch_scripts.hpp"

#include "ert/base/text.hpp"

#include <fmt/format.h>

namespace roof::analysis {
namespace {

std::string nodes_of(const FleetScript& script, const char* all)
{
    return script.nodes.empty() ? all : join(script.nodes, " ");
}

}  // namespace

std::string slurm_script(const FleetScript& s)
{
    return fmt::format(
        R"sh(#!/usr/bin/env bash
# Run on a login node: submits an array of exclusive jobs, one for each node, at most {at_once} at once. Run it again to continue: nodes with a
# digest, and those whose job waits or runs, are left out. sbatch takes partition and account from SBATCH_PARTITION and SBATCH_ACCOUNT.
set -euo pipefail
results={results}
mkdir -p "$results"
results=$(cd "$results" && pwd)
name="roof-$(printf %s "$results" | cksum | cut -d ' ' -f 1)"
declare -A state=() submitted=()
states=$(sinfo --noheader --Node --format='%N %T')
while read -r node word; do [ -z "$node" ] || state[$node]=$word; done <<< "$states"
jobs=$(squeue --noheader --array --user="$(id -un)" --name="$name" --format=%n)
while read -r node; do [ -z "$node" ] || submitted[$node]=1; done <<< "$jobs"
todo=()
for node in {nodes}; do
  if {has_digests} || [ -n "${{submitted[$node]:-}}" ]; then continue; fi
  case ${{state[$node]:-}} in
    '') echo "$node: left out, Slurm does not know it" >&2 ;;
    *down* | *drain* | *fail* | *maint* | *unknown* | *'*') echo "$node: left out, it is ${{state[$node]}}" >&2 ;;
    *) todo+=("$node") ;;
  esac
done
if [ "${{#todo[@]}}" -eq 0 ]; then exit 0; fi
most=$(scontrol show config | awk '$1 == "MaxArraySize" {{print $3 - 1}}')
if [ "${{#todo[@]}}" -gt "$most" ]; then
  echo "$most of ${{#todo[@]}} nodes, as many as an array may have: run this again for the others" >&2
  todo=("${{todo[@]:0:$most}}")
fi
job=$(sbatch --parsable --hold --array="1-${{#todo[@]}}%{at_once}" --job-name="$name" --nodes=1 --ntasks=1 --exclusive --mem=0 \
  --time={minutes} --output="$results/%N.log" <<END
#!/bin/sh
{commands}
END
)
job=${{job%%;*}}
trap 'scancel "$job"' EXIT
for i in "${{!todo[@]}}"; do
  task="${{job}}_$((i + 1))"
  scontrol update JobId="$task" ReqNodeList="${{todo[$i]}}" || {{ echo "${{todo[$i]}}: left out" >&2; scancel "$task"; }}
done
scontrol release "$job"
trap - EXIT
echo "job $job: ${{#todo[@]}} nodes"
)sh",
        fmt::arg("at_once", s.at_once), fmt::arg("results", s.results),
        fmt::arg("nodes", nodes_of(s, R"($(printf '%s\n' "${!state[@]}" | sort))")),
        fmt::arg("has_digests", has_digests(s, R"("$node")", R"("$results")")), fmt::arg("minutes", s.minutes),
        fmt::arg("commands", task_commands(s, R"(\$SLURMD_NODENAME)", R"("$results")")));
}

std::string pbs_script(const FleetScript& s)
{
    return fmt::format(
        R"sh(#!/usr/bin/env bash
# Run on a login node of PBS: submits one exclusive job for each node, so that at most {at_once} wait or run. Run it again to continue, until it
# says that nothing is left: nodes with a digest, and those whose job waits or runs, are left out.
set -euo pipefail
results={results}
mkdir -p "$results"
results=$(cd "$results" && pwd)
declare -A state=()
states=$(pbsnodes -a | awk '/^[^ \t]/ {{node = $1}} $1 == "state" {{print node, $3}}')
while read -r node word; do [ -z "$node" ] || state[$node]=$word; done <<< "$states"
waiting=0
todo=()
for node in {nodes}; do
  if {has_digests}; then continue; fi
  if [ -e "$results/$node.job" ] && qstat "$(cat "$results/$node.job")" > /dev/null 2>&1; then
    waiting=$((waiting + 1))
    continue
  fi
  case ${{state[$node]:-}} in
    '') echo "$node: left out, PBS does not know it" >&2 ;;
    *down* | *offline* | *unknown* | *stale* | *unresolvable*) echo "$node: left out, it is ${{state[$node]}}" >&2 ;;
    *) todo+=("$node") ;;
  esac
done
left=${{#todo[@]}}
for node in ${{todo[@]+"${{todo[@]}}"}}; do
  if [ "$waiting" -ge {at_once} ]; then break; fi
  if job=$(qsub -N "roof-$node" -l select=1:host="$node" -l place=excl -l walltime={hours:02}:{minutes:02}:00 -j oe -o "$results/$node.log" <<END
{commands}
END
  ); then
    echo "$job" > "$results/$node.job"
    waiting=$((waiting + 1))
  else
    echo "$node: left out" >&2
  fi
  left=$((left - 1))
done
echo "$waiting jobs wait or run, $left nodes are left"
)sh",
        fmt::arg("at_once", s.at_once), fmt::arg("results", s.results),
        fmt::arg("nodes", nodes_of(s, R"($(printf '%s\n' "${!state[@]}" | sort))")),
        fmt::arg("has_digests", has_digests(s, R"("$node")", R"("$results")")), fmt::arg("hours", s.minutes / 60),
        fmt::arg("minutes", s.minutes % 60), fmt::arg("commands", task_commands(s, "$node", R"("$results")")));
}

}  // namespace roof::analysis
