#!/bin/sh
# Loads the items, or everything of the warehouses FIRST to LAST; the parts of each in a process of their own.
# usage: load_warehouses CLIENT_FILE DATABASE WAREHOUSES items
#        load_warehouses CLIENT_FILE DATABASE WAREHOUSES FIRST LAST
client_file=$1 database=$2 warehouses=$3 first=$4 last=$5

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

setting() { sed -n "s/^$1=//p" "$client_file"; }
port=$(setting port) user=$(setting user) password=$(setting password)

# tpcc_load prints the password, and repeats for ever what fails for good, such as on a full disk. It is ended by its
# pid, since the client library has SIGPIPE ignored.
without_password='
  /^option p with value|\[pass\]:/ { next }
  { print }
  /^Retrying/ && ++retries > 100 { exit 1 }'

# Parts: 1 items, 2 warehouse, stock and district, 3 customer and history, 4 orders and their lines.
load_part() {
  name="$scratch/warehouse-$2-part-$1"
  sh -c 'echo $$ >"$0" && exec "$@"' "$name.pid" "$(dirname "$0")/tpcc_load" -h127.0.0.1 -P"$port" -d"$database" \
    -u"$user" -p"$password" -w"$warehouses" -l"$1" -m"$2" -n"$2" 2>&1 | {
    awk "$without_password" >"$name.log" || kill "$(cat "$name.pid")"
  } &
}

if [ "$first" = items ]; then
  load_part 1 1
else
  for warehouse in $(seq "$first" "$last"); do
    for part in 2 3 4; do
      load_part "$part" "$warehouse"
    done
  done
fi
wait

cd "$scratch" || exit 1
for incomplete in $(grep -L 'DATA LOADING COMPLETED SUCCESSFULLY' ./*.log); do
  echo "tpcc_load ended before it was complete (${incomplete#./}): $(grep -v '^[. 0-9]*$' "$incomplete" | tail -n 3)" >&2
  failed=1
done
[ -z "$failed" ]
