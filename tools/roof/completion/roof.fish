# fish completion for roof, written by `roof completion fish`
complete -c roof -n __fish_use_subcommand -f
complete -c roof -a '(set -l line (commandline -opc) (commandline -ct); roof completion words -- $line[2..-1] 2> /dev/null)'
