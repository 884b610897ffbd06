# bash completion for roof, written by `roof completion bash`
_roof()
{
    mapfile -t COMPREPLY < <("${COMP_WORDS[0]}" completion words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null | cut -f 1)
}
complete -o bashdefault -o default -F _roof roof
