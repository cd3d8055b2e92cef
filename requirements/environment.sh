# Make .venv, unless it is complete and can be used: `make` calls this before everything else.
#   sh requirements/environment.sh PYTHON ORIGIN GOAL
# ORIGIN is where make has PYTHON from: with "file" any .venv will do, and otherwise it must be of
# that Python. GOAL is for the message: what the user asked make for.
set -eu
python=$1 origin=$2 goal=$3

suits() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

has_venv() {
    "$1" -c 'import ensurepip, venv' 2>/dev/null
}

version() {
    "$1" -c 'import sys; print(sys.version)' 2>/dev/null
}

is_complete() {
    # The stamp holds the directory: scripts in .venv name it, and are broken when it was moved.
    [ "$(cat .venv/runtime 2>/dev/null)" = "$PWD" ] && suits .venv/bin/python || return 1
    [ "$origin" = file ] || [ "$(version .venv/bin/python)" = "$(version "$python")" ]
}

advice() {
    for name in python3.13 python3.12 python3.11 python3.14; do
        if suits "$name" && has_venv "$name"; then
            echo "try make $goal PYTHON=$name"
            return
        fi
    done
    echo "install one"
}

refuse() {
    echo "$1: $(advice)" >&2
    exit 1
}

if [ "$origin" = file ] && is_complete; then
    exit 0
fi
if ! number=$("$python" -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])' 2>/dev/null); then
    refuse "this needs Python 3.11 or newer, and $python does not run"
elif ! suits "$python"; then
    refuse "this needs Python 3.11 or newer, and $python is $number"
elif ! has_venv "$python"; then
    refuse "this needs a Python with venv and ensurepip (on Debian the package python3-venv), which $python lacks"
fi
if ! is_complete; then
    echo "making .venv with Python $number" >&2
    rm -rf .venv
    "$python" -m venv .venv || { rm -rf .venv; exit 1; }
fi
