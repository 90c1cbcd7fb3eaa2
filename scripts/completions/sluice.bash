# Printed from the table of flags by sluice --completion bash
_sluice() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
  COMPREPLY=()
  if [[ $cur == = ]]; then
    cur=
  elif [[ $prev == = && $COMP_CWORD -ge 2 ]]; then
    prev=${COMP_WORDS[COMP_CWORD-2]}
  fi
  case $prev in
    -f|--file) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return ;;
    -c|--command) return ;;
    -i|--init) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return ;;
    -D|--define) compopt -o nospace; COMPREPLY=($(compgen -W "execution.checkpointing.interval= execution.runtime-mode= parallelism.default= pipeline.name= sluice.batch-rows= sluice.color= sluice.format= sluice.max-rows= sluice.memory= sluice.on-error= sluice.optimizer.enabled= sluice.output= sluice.pager= sluice.timing= table.catalog-store.file.path= table.catalog-store.kind= table.display.max-column-width= table.dml-sync= table.local-time-zone= table.rtas-ctas.atomicity-enabled= table.sql-dialect=" -- "$cur")); return ;;
    --format) COMPREPLY=($(compgen -W "tableau box csv tsv json markdown vertical" -- "$cur")); return ;;
    --output) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return ;;
    --on-error) COMPREPLY=($(compgen -W "stop continue" -- "$cur")); return ;;
    --history) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return ;;
    --completion) COMPREPLY=($(compgen -W "bash zsh fish" -- "$cur")); return ;;
  esac
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "-f --file -c --command -i --init --no-init -D --define --format --output --on-error --history --completion -h --help --version" -- "$cur"))
  else
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
  fi
}
complete -F _sluice sluice
