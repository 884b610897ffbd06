#compdef roof
# zsh completion for roof, written by `roof completion zsh`
_roof()
{
    local -a found=("${(@f)$("$words[1]" completion words -- "${(@)words[2,CURRENT]}" 2> /dev/null)}")
    if [[ -z $found[1] ]]; then _files; return; fi
    found=("${(@)found//:/\\:}")
    found=("${(@)found/$'\t'/:}")
    _describe word found
}
# Runs when zsh loads this file as the function; a file that is sourced registers it.
if [[ $funcstack[1] == _roof ]]; then _roof "$@"; else compdef _roof roof; fi
