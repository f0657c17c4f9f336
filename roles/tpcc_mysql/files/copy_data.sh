#!/bin/sh
# Copies the data folder FROM to the folder TO, and returns when the disk has it.
# A clone that shares its blocks would have the first write to each measured as copy-on-write.
# usage: copy_data FROM TO
set -e
from=$1 to=$2

mkdir -p "$to"
needed_mb=$(du -sm "$from")
needed_mb=${needed_mb%%[!0-9]*}
# shellcheck disable=SC2046 # two words: free blocks and their size
set -- $(stat -f -c '%a %S' "$to")
free_mb=$(($1 * $2 / 1048576))
if [ "$free_mb" -le "$needed_mb" ]; then
  echo "$from needs $needed_mb MB, and where $to lies only $free_mb MB are free" >&2
  exit 1
fi

# Before coreutils 8.31 there is no such word, and no clone unless it is asked for.
case $(cp --help) in
*--reflink=never*) never=--reflink=never ;;
esac
# The owner's mark first, so that a copy that was broken off can be told from other people's data.
cp -a "$from/.perflab-mysql" "$to"
cp -a ${never:+"$never"} "$from/." "$to"
sync
