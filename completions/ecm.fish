# fish completion for ecm
function __ecm_complete
    set -l words (commandline -opc) (commandline -ct)
    ecm __complete -- $words[2..-1] 2>/dev/null
end
complete -c ecm -f -a '(__ecm_complete)'
complete -c ecm -n 'test -z (__ecm_complete | head -n 1)' -F
