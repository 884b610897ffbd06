#!/usr/bin/env bash
# Runs one task per node by ssh, at most @at_once@ at once. Run it again to continue: nodes with a digest are left out. Its exit status is the
# number of nodes that could not be measured.
set -euo pipefail
results=@results@
mkdir -p "$results"
parallel --jobs @at_once@ --timeout @seconds@ 'if ! { @has_digests@; }; then ssh -o BatchMode=yes {} "@commands@"; fi' \
  ::: @nodes@
