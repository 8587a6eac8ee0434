# fish completion for ecm
function __ecm_complete
    set -l -- before (commandline -opc)
    set -l -- answer (ecm __complete fish -- $before[2..-1] (commandline -ct) 2>/dev/null)
    if test $status -eq 0
        printf '%s\n' $answer
    else
        set -l prefix (string match -r -- '^--[^=]+=' (commandline -ct))
        for path in (__fish_complete_path (string replace -r -- '^--[^=]+=' '' (commandline -ct)))
            printf '%s\n' "$prefix$path"
        end
    end
end
complete -c ecm -f -a '(__ecm_complete)'
