#!/bin/sh
# Runs tpcc_start and fails where it does not: it ends with status 0 also when connections were refused, and when
# the server is lost it repeats its transactions without end.
# Both outputs pass through unchanged.

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

# A connection is a file, and a login has 1024 of them.
ulimit -n "$(ulimit -Hn)" 2>/dev/null

count_refused='
  { print; fflush() }
  /^error at thread_main/ { refused++ }
  END {
    if (refused) {
      print refused " of the connections could not be made or prepared" > "/dev/stderr"
      exit 1
    }
  }'

# 2006 and 2013 are the client library`s: the server has gone away, the connection is lost.
end_when_lost='
  { print; fflush() }
  /^(2006|2013), / { lost = 1; exit }
  END {
    if (lost) {
      print "tpcc_start was ended, since it lost the server"
      exit 1
    }
  }'

# By its pid, since the client library has SIGPIPE ignored.
{
  {
    {
      sh -c 'echo $$ >"$0" && exec "$@"' "$scratch/pid" "$(dirname "$0")/tpcc_start" "$@"
      echo $? >"$scratch/status"
    } | {
      awk "$count_refused" >&3 || : >"$scratch/refused"
    }
  } 2>&1 | {
    awk "$end_when_lost" >&2 || {
      : >"$scratch/lost"
      kill "$(cat "$scratch/pid")"
    }
  }
} 3>&1

if [ -e "$scratch/refused" ] || [ -e "$scratch/lost" ]; then
  exit 1
fi
exit "$(cat "$scratch/status")"
