# bash completion for ecm
_ecm() {
  COMPREPLY=()
  local answer candidate
  if ! answer=$(ecm __complete bash -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null); then
    compopt -o default 2>/dev/null
    return
  fi
  while IFS= read -r candidate; do
    candidate=${candidate%%$'\t'*}
    [[ -n $candidate ]] && COMPREPLY+=("$candidate")
  done <<<"$answer"
  [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
  return 0
}
complete -F _ecm ecm
