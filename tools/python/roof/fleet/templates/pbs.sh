#!/usr/bin/env bash
# Run on a login node of PBS: submits one exclusive job for each node, so that at most @at_once@ wait or run. Run it again to continue, until it
# says that nothing is left: nodes with a digest, and those whose job waits or runs, are left out.
set -euo pipefail
results=@results@
mkdir -p "$results"
results=$(cd "$results" && pwd)
declare -A state=()
states=$(pbsnodes -a | awk '/^[^ \t]/ {node = $1} $1 == "state" {print node, $3}')
while read -r node word; do [ -z "$node" ] || state[$node]=$word; done <<< "$states"
waiting=0
todo=()
for node in @nodes@; do
  if @has_digests@; then continue; fi
  if [ -e "$results/$node.job" ] && qstat "$(cat "$results/$node.job")" > /dev/null 2>&1; then
    waiting=$((waiting + 1))
    continue
  fi
  case ${state[$node]:-} in
    '') echo "$node: left out, PBS does not know it" >&2 ;;
    *down* | *offline* | *unknown* | *stale* | *unresolvable*) echo "$node: left out, it is ${state[$node]}" >&2 ;;
    *) todo+=("$node") ;;
  esac
done
left=${#todo[@]}
for node in ${todo[@]+"${todo[@]}"}; do
  if [ "$waiting" -ge @at_once@ ]; then break; fi
  if job=$(qsub -N "roof-$node" -l select=1:host="$node" -l place=excl -l walltime=@walltime@ -j oe -o "$results/$node.log" <<END
@commands@
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
