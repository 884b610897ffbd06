#!/bin/sh
# A Slurm prolog: drains a node that `roof health` finds slow, before a job runs on it. In slurm.conf:
#   Prolog=/etc/slurm/roof-prolog
#   PrologFlags=Alloc
#   PrologEpilogTimeout=@prolog_limit@
# A node that could not be judged (exit status 2) gets its job; the line says why.
said=$(timeout -k 2 @limit@ @command@ --node "$SLURMD_NODENAME" 2>&1)
status=$?
command -v logger > /dev/null && logger -t roof-health -- "$said"
[ "$status" -eq 1 ] || exit 0
# Slurm drains the node by the prolog's exit status, too; this gives the reason.
scontrol update "nodename=$SLURMD_NODENAME" state=drain "reason=roof health: $said"
exit 1
