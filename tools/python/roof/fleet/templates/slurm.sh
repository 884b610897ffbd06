#!/usr/bin/env bash
# Run on a login node: submits an array of exclusive jobs, one for each node, at most @at_once@ at once. Run it again to continue: nodes with a
# digest, and those whose job waits or runs, are left out. sbatch takes partition and account from SBATCH_PARTITION and SBATCH_ACCOUNT.
set -euo pipefail
results=@results@
mkdir -p "$results"
results=$(cd "$results" && pwd)
name="roof-$(printf %s "$results" | cksum | cut -d ' ' -f 1)"
declare -A state=() submitted=()
states=$(sinfo --noheader --Node --format='%N %T')
while read -r node word; do [ -z "$node" ] || state[$node]=$word; done <<< "$states"
jobs=$(squeue --noheader --array --user="$(id -un)" --name="$name" --format=%n)
while read -r node; do [ -z "$node" ] || submitted[$node]=1; done <<< "$jobs"
todo=()
for node in @nodes@; do
  if @has_digests@ || [ -n "${submitted[$node]:-}" ]; then continue; fi
  case ${state[$node]:-} in
    '') echo "$node: left out, Slurm does not know it" >&2 ;;
    *down* | *drain* | *fail* | *maint* | *unknown* | *'*') echo "$node: left out, it is ${state[$node]}" >&2 ;;
    *) todo+=("$node") ;;
  esac
done
if [ "${#todo[@]}" -eq 0 ]; then exit 0; fi
most=$(scontrol show config | awk '$1 == "MaxArraySize" {print $3 - 1}')
if [ "${#todo[@]}" -gt "$most" ]; then
  echo "$most of ${#todo[@]} nodes, as many as an array may have: run this again for the others" >&2
  todo=("${todo[@]:0:$most}")
fi
job=$(sbatch --parsable --hold --array="1-${#todo[@]}%@at_once@" --job-name="$name" --nodes=1 --ntasks=1 --exclusive --mem=0 \
  --time=@minutes@ --output="$results/%N.log" <<END
#!/bin/sh
@commands@
END
)
job=${job%%;*}
trap 'scancel "$job"' EXIT
for i in "${!todo[@]}"; do
  task="${job}_$((i + 1))"
  scontrol update JobId="$task" ReqNodeList="${todo[$i]}" || { echo "${todo[$i]}: left out" >&2; scancel "$task"; }
done
scontrol release "$job"
trap - EXIT
echo "job $job: ${#todo[@]} nodes"
