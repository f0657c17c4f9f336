#!/bin/sh
# Usage: make_venv.sh PYTHON FOLDER REQUIREMENT
# Creates (or brings up to date) the virtual environment that perflab runs in.
set -eu
python=$1 folder=$2 requirement=$3

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "perflab needs Python 3.11 or newer; $python is $("$python" --version 2>&1)." \
        "Name another: make PYTHON=python3.12 ..." >&2
    exit 1
}

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

# Debian ships venv's bootstrap as a package of its own.
if ! "$python" -c 'import ensurepip' 2>/dev/null; then
    echo "installing python3-venv ..."
    as_root apt-get update -qq
    as_root apt-get install -qq -y "$(basename "$python")-venv" >/dev/null
fi

[ -x "$folder/bin/python" ] || "$python" -m venv "$folder"
echo "installing perflab's Python packages into $folder ..."
"$folder/bin/python" -m pip install --quiet --disable-pip-version-check --editable "$requirement"
