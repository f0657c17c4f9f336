#!/bin/sh
# Rebuild the run trees in examples/ from the published logs.
#
#   tools/make_examples.sh LOGS [EXAMPLES]
#
# LOGS holds one folder a comparison and one log a condition, as named below. The run ids and times are fixed, so
# that the same logs give the same files. The README.md of each example is written by hand and stays.
set -eu

logs=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
examples=${2:-examples}
python=${PYTHON:-python3}

# example RUN_ID STUDY HOST: begin anew; its conditions follow.
example() {
    run_id=$1 study=$2 host=$3
    find "$examples/$run_id" -mindepth 1 ! -name README.md -delete 2>/dev/null || true
    echo "$run_id"
}

# condition LOG OPTION...
condition() {
    log=$1
    shift
    "$python" -m collector import --runs-dir "$examples" --run-id "$run_id" --started-at 2026-11-30T00:00:00Z \
        --study "$study" --host "$host" --workload redis_benchmark "$@" "$logs/$run_id/$log"
}

example kunpeng-frequency freq_sweep kunpeng1
kunpeng() {
    condition "$@" --param clients=50 --param requests=100000
}
kunpeng 2600MHz-as-found.log --factor frequency=as_found --observed-frequency 2.6GHz \
    --host-info "cpu.model=Kunpeng 920" --host-info cpu.cpus=128 --host-info cpufreq.driver=cppc_cpufreq
kunpeng 2500MHz.log --factor frequency=2.5GHz
kunpeng 2000MHz.log --factor frequency=2.0GHz
kunpeng 1000MHz.log --factor frequency=1.0GHz

example arm-kvm-redis virt_compare arm1
for platform in physical virtual; do
    condition $platform.log --factor platform=$platform --param clients=20 --param requests=200000
done

example workstation-network net_compare workstation1
condition vm-local.log --factor path=local
condition vm-bridged-remote.log --factor path=bridged_remote
condition windows-local-redis3.2.100.log --factor path=windows_local --tool-version 3.2.100
condition windows-remote.log --factor path=windows_remote
