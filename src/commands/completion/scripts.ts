/**
 * The completion scripts. Each passes the words typed so far to `ecm __complete` and offers its answer: a
 * candidate per line, with a tab before its description. Where that command fails, the shell completes file
 * names.
 */

/** @param shell bash, zsh, fish or powershell */
export function completionScript(shell: string): string {
  return { bash, zsh, fish, powershell }[shell] ?? "";
}

// bash 3.2, as macOS has it, knows neither compopt nor mapfile.
const bash = `# bash completion for ecm
_ecm() {
  COMPREPLY=()
  local answer candidate
  if ! answer=$(ecm __complete bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null); then
    compopt -o default 2>/dev/null
    return
  fi
  while IFS= read -r candidate; do
    candidate=\${candidate%%$'\\t'*}
    [[ -n $candidate ]] && COMPREPLY+=("$candidate")
  done <<<"$answer"
  [[ \${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
  return 0
}
complete -F _ecm ecm
`;

const zsh = `#compdef ecm
_ecm() {
  local answer line
  local -a described values shown
  answer=$(ecm __complete zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  local -i code=$?
  [[ $PREFIX == --*=* ]] && compset -P 1 '*='
  if (( code )); then
    _files
    return
  fi
  for line in "\${(@f)answer}"; do
    [[ -n $line ]] || continue
    values+=("\${line%%$'\\t'*}")
    shown+=("\${line/$'\\t'/  -- }")
    [[ $line == *$'\\t'* ]] && described=(-l)
  done
  (( \${#values} )) || return 1
  local -a ending
  [[ \${values[1]} == *= ]] && ending=(-S '')
  compadd "\${described[@]}" "\${ending[@]}" -M 'm:{[:lower:][:upper:]}={[:upper:][:lower:]}' -d shown -a values
}
if [[ "\${funcstack[1]}" == _ecm ]]; then _ecm "$@"; else compdef _ecm ecm; fi
`;

const fish = `# fish completion for ecm
function __ecm_complete
    set -l -- before (commandline -opc)
    set -l -- answer (ecm __complete fish -- $before[2..-1] (commandline -ct) 2>/dev/null)
    if test $status -eq 0
        printf '%s\\n' $answer
    else
        set -l prefix (string match -r -- '^--[^=]+=' (commandline -ct))
        for path in (__fish_complete_path (string replace -r -- '^--[^=]+=' '' (commandline -ct)))
            printf '%s\\n' "$prefix$path"
        end
    end
end
complete -c ecm -f -a '(__ecm_complete)'
`;

const powershell = `# PowerShell completion for ecm
Register-ArgumentCompleter -Native -CommandName ecm -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
        Where-Object { $_.Extent.StartOffset -lt $cursorPosition } |
        ForEach-Object { if ($_.PSObject.Properties['Value']) { [string]$_.Value } else { $_.Extent.Text } })
    if ($wordToComplete -eq '') { $words += if ($PSVersionTable.PSVersion -ge '7.3') { '' } else { '""' } }
    ecm __complete powershell -- @words 2>$null | ForEach-Object {
        $name, $description = $_ -split "\`t", 2
        if (-not $description) { $description = $name }
        $quoted = if ($name -match '[^\\w./:=+-]') { "'" + ($name -replace "['$([char]0x2018)$([char]0x2019)]", '$0$0') + "'" } else { $name }
        [System.Management.Automation.CompletionResult]::new($quoted, $name, 'ParameterValue', $description)
    }
}
`;
