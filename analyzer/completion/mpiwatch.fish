# SPDX-License-Identifier: BSD-3-Clause
# Completion of mpiwatch's command line for fish. What is possible mpiwatch itself says.

function __mpiwatch_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program $words[1]
    set -e words[1]
    for line in ($program --complete $words "$current" 2>/dev/null)
        switch $line
            case :paths
                __fish_complete_path "$current"
            case :commands
                __fish_complete_command
            case '*'
                echo $line
        end
    end
end

complete -c mpiwatch -f -a '(__mpiwatch_complete)'
