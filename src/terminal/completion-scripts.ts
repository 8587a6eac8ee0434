/**
 * The completions' shell side: each script hands the words typed so far to `ecm __complete` and shows its answer, one
 * candidate a line, a tab before its description.
 */

/** @param shell bash, zsh, fish or powershell */
export function completionScript(shell: string): string {
  return { bash, zsh, fish, powershell }[shell] ?? "";
}

const bash = `# bash completion for ecm
_ecm() {
  local IFS=$'\\n' cur="\${COMP_WORDS[COMP_CWORD]}"
  local words=("\${COMP_WORDS[@]:1:COMP_CWORD}")
  local candidates
  candidates=$(ecm __complete -- "\${words[@]}" 2>/dev/null | cut -f1)
  COMPREPLY=()
  local candidate
  for candidate in $candidates; do
    [[ "$candidate" == "$cur"* ]] && COMPREPLY+=("$(printf '%q' "$candidate")")
  done
  [[ \${#COMPREPLY[@]} -eq 0 ]] && compopt -o default 2>/dev/null
}
complete -F _ecm ecm
`;

const zsh = `#compdef ecm
_ecm() {
  local -a candidates
  local line
  for line in "\${(@f)$(ecm __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -n "$line" ]] && candidates+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  if (( \${#candidates} )); then _describe 'ecm' candidates; else _files; fi
}
if [[ "\${funcstack[1]}" == "_ecm" ]]; then _ecm "$@"; else compdef _ecm ecm; fi
`;

const fish = `# fish completion for ecm
function __ecm_complete
    set -l words (commandline -opc) (commandline -ct)
    ecm __complete -- $words[2..-1] 2>/dev/null
end
complete -c ecm -f -a '(__ecm_complete)'
complete -c ecm -n 'test -z (__ecm_complete | head -n 1)' -F
`;

const powershell = `# PowerShell completion for ecm
Register-ArgumentCompleter -Native -CommandName ecm -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
    if ($wordToComplete -eq '') { $words += '""' }
    ecm __complete -- @words 2>$null | ForEach-Object {
        $name, $description = $_ -split "\`t", 2
        if (-not $description) { $description = $name }
        $quoted = if ($name -match '[\\s,;''"]') { "'" + $name.Replace("'", "''") + "'" } else { $name }
        [System.Management.Automation.CompletionResult]::new($quoted, $name, 'ParameterValue', $description)
    }
}
`;
