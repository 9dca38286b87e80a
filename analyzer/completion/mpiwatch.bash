# SPDX-License-Identifier: BSD-3-Clause
# Completion of mpiwatch's command line for bash. What is possible mpiwatch itself says.

_mpiwatch() {
    local current=${COMP_WORDS[COMP_CWORD]} word
    local -a words=()
    # bash makes three words of --format=json
    for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
        [[ $word == '=' ]] || words+=("$word")
    done
    if [[ $current == '=' ]]; then
        current=
        words+=('')
    fi
    COMPREPLY=()
    while IFS=$'\t' read -r word _; do
        case $word in
        :paths) compopt -o default 2>/dev/null ;;
        :commands) mapfile -t COMPREPLY < <(compgen -c -- "$current") ;;
        "$current"*) COMPREPLY+=("$word") ;;
        esac
    done < <("$1" --complete "${words[@]}" 2>/dev/null)
}

complete -F _mpiwatch mpiwatch
