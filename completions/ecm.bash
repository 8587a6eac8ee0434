# bash completion for ecm
_ecm() {
  local IFS=$'\n' cur="${COMP_WORDS[COMP_CWORD]}"
  local words=("${COMP_WORDS[@]:1:COMP_CWORD}")
  local candidates
  candidates=$(ecm __complete -- "${words[@]}" 2>/dev/null | cut -f1)
  COMPREPLY=()
  local candidate
  for candidate in $candidates; do
    [[ "$candidate" == "$cur"* ]] && COMPREPLY+=("$(printf '%q' "$candidate")")
  done
  [[ ${#COMPREPLY[@]} -eq 0 ]] && compopt -o default 2>/dev/null
}
complete -F _ecm ecm
