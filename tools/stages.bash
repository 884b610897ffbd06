# Named and timed stages, for the scripts in this folder.
#   stage "build" cmake --build build      runs the command; on failure prints the stage and exits
#   print_stages                           the wall time of each stage so far

stage_names=()
stage_seconds=()

stage() {
    local name=$1 begin=$EPOCHREALTIME status=0
    shift
    printf '\n== %s: %s\n' "$name" "$*" >&2
    "$@" || status=$?
    stage_names+=("$name")
    stage_seconds+=("$(seconds_since "$begin")")
    if [[ $status -ne 0 ]]; then
        printf '\n%s: stage "%s" failed with status %d after %s s; the command was\n    %s\n' \
            "${0##*/}" "$name" "$status" "${stage_seconds[-1]}" "$*" >&2
        exit "$status"
    fi
}

seconds_since() {
    local begin=${1/./} now=${EPOCHREALTIME/./}
    local tenths=$(((now - begin + 50000) / 100000))
    echo "$((tenths / 10)).$((tenths % 10))"
}

print_stages() {
    printf '\nwall time\n'
    local i
    for i in "${!stage_names[@]}"; do
        printf '  %-12s %7s s\n' "${stage_names[i]}" "${stage_seconds[i]}"
    done
}
