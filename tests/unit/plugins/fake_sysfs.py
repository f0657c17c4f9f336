# -*- coding: utf-8 -*-
"""A sysfs tree of each cpufreq driver, and a fake of the kernel's rules on top of it.

A fake, since the machines that run unit tests have no cpufreq; tests/lab runs real kernels' drivers. The tree
is on disk, so that the modules themselves can be run against it (``build``); FakeKernel adds what a plain
file cannot do: refuse, clamp, and move limits with turbo. Runs on Python 2.7 and 3.6 upwards.
"""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import errno
import os

from ansible_collections.perflab.bench.plugins.module_utils.sysfs import Sysfs

CPU = "devices/system/cpu"
GENERIC = "conservative ondemand userspace powersave performance schedutil"
SELF_GOVERNED = "performance powersave"


class Driver:
    """What a driver shows; frequencies in MHz, ``cpus`` has those of each policy."""

    governors = GENERIC
    governor = "schedutil"
    lowest = 800
    nominal = 2600
    turbo = 3000
    steps = ()
    turbo_steps = ()
    switch = None  # or "common", "policy", "both", "no_turbo"
    round_to_khz = 1
    cpus = ("0", "1")
    preference = None

    def __init__(self, name, **shows):
        self.name = name
        self.__dict__.update(shows)


DRIVERS = {
    "acpi-cpufreq": Driver(
        "acpi-cpufreq",
        governor="ondemand",
        steps=(2600, 2400, 2000, 1600, 1200, 800),
        turbo_steps=(3000,),
        switch="common",
    ),
    "cppc_cpufreq": Driver("cppc_cpufreq", lowest=200, switch="common"),
    "intel_pstate": Driver(
        "intel_pstate",
        governors=SELF_GOVERNED,
        governor="powersave",
        switch="no_turbo",
        preference="balance_performance",
    ),
    "intel_cpufreq": Driver("intel_cpufreq", switch="no_turbo", round_to_khz=100000),
    "amd-pstate-epp": Driver(
        "amd-pstate-epp",
        governors=SELF_GOVERNED,
        governor="powersave",
        switch="both",
        preference="balance_performance",
    ),
    # Guided and passive mode look the same.
    "amd-pstate": Driver("amd-pstate", lowest=400, switch="both"),
    "amd-pstate-policy": Driver("amd-pstate", lowest=400, switch="policy"),
    "cpufreq-dt": Driver(
        "cpufreq-dt", lowest=408, nominal=1800, steps=(408, 1008, 1416, 1800), cpus=("0 1 2 3", "4 5")
    ),
}


def build(root, driver):
    """Write the tree of the driver named *driver* below *root*, turbo off; return *root*."""
    driver = DRIVERS[driver]
    for cpus in driver.cpus:
        policy = _policy(cpus)
        files = {
            "affected_cpus": cpus,
            "related_cpus": cpus,
            "cpuinfo_min_freq": driver.lowest * 1000,
            "cpuinfo_max_freq": driver.nominal * 1000,
            "scaling_available_governors": driver.governors,
            "scaling_driver": driver.name,
            "scaling_governor": driver.governor,
            "scaling_min_freq": driver.lowest * 1000,
            "scaling_max_freq": driver.nominal * 1000,
            "scaling_cur_freq": driver.nominal * 1000,
            "scaling_setspeed": "<unsupported>",
        }
        if driver.steps:
            files["scaling_available_frequencies"] = _khz(driver.steps)
        if driver.turbo_steps:
            files["scaling_boost_frequencies"] = _khz(driver.turbo_steps)
        if driver.switch in ("policy", "both"):
            files["boost"] = 0
        if driver.preference:
            files["energy_performance_preference"] = driver.preference
        if driver.name == "cppc_cpufreq":
            files["cpuinfo_cur_freq"] = 4294967295  # an idle CPU's stopped counters
            for cpu in cpus.split():
                _put_cppc(root, cpu, driver)
        for name, value in files.items():
            put(root, "%s/%s" % (policy, name), value)
    if driver.switch in ("common", "both"):
        put(root, CPU + "/cpufreq/boost", 0)
    if driver.switch == "no_turbo":
        put(root, CPU + "/intel_pstate/no_turbo", 1)
    last = max(int(cpu) for cpus in driver.cpus for cpu in cpus.split())
    put(root, CPU + "/present", "0-%d" % last)
    put(root, CPU + "/online", "0-%d" % last)
    return root


def _put_cppc(root, cpu, driver):
    """What the firmware says of the CPU, in its own units of 100 MHz; turbo goes 400 MHz higher."""
    for name, value in (
        ("lowest_perf", driver.lowest // 100),
        ("lowest_freq", driver.lowest),
        ("nominal_perf", driver.nominal // 100),
        ("nominal_freq", driver.nominal),
        ("highest_perf", driver.nominal // 100 + 4),
    ):
        put(root, "%s/cpu%s/acpi_cppc/%s" % (CPU, cpu, name), value)


def put(root, path, value):
    path = os.path.join(root, path)
    if not os.path.isdir(os.path.dirname(path)):
        os.makedirs(os.path.dirname(path))
    with open(path, "w") as handle:
        handle.write("%s\n" % value)


def take_offline(root, policy):
    """Take all CPUs of *policy* offline, as the kernel shows it: the folder stays, its values do not."""
    folder = "%s/cpufreq/%s" % (CPU, policy)
    cpus = Sysfs(root).words(folder + "/related_cpus")
    for name in os.listdir(os.path.join(root, folder)):
        put(root, "%s/%s" % (folder, name), "")
    online = set(Sysfs(root).read(CPU + "/present").split("-"))
    put(root, CPU + "/online", ",".join(sorted(online - set(cpus))))


class FakeKernel(Sysfs):
    """The tree of *driver* with the kernel's rules for writes; ``writes`` records the accepted ones.

    *locked* is firmware that keeps turbo as it is; *failures* maps (path's end, value) to an errno.
    *lag* makes it a newer kernel, which takes crossed limits and shows new ones only after so many reads.
    """

    def __init__(self, root, driver, locked=False, lag=0):
        Sysfs.__init__(self, build(root, driver))
        self.driver = DRIVERS[driver]
        self.folders = [_policy(cpus) for cpus in self.driver.cpus]
        self.locked = locked
        self.failures = {}
        self.lag = lag
        self.pending = []
        self.writes = []

    def read(self, path):
        if self.pending:
            self.pending[0][0] -= 1
            if self.pending[0][0] <= 0:
                self._set_limit(*self.pending.pop(0)[1:])
        return Sysfs.read(self, path)

    def write(self, path, value):
        text = str(value)
        for (end, refused), number in self.failures.items():
            if path.endswith(end) and text == refused:
                raise OSError(number, os.strerror(number))
        folder, attribute = path.rsplit("/", 1)
        if attribute in ("boost", "no_turbo"):
            self._switch_turbo(path, folder, text)
        else:
            getattr(self, "_" + attribute)(folder, text)
        self.writes.append((path[len(CPU) + 1 :], text))

    def _put(self, path, value):
        put(self.root, path, value)

    def _scaling_governor(self, folder, text):
        if text not in self.driver.governors.split():
            raise OSError(errno.EINVAL, "Invalid argument")
        self._put(folder + "/scaling_governor", text)
        speed = self.read(folder + "/scaling_cur_freq") if text == "userspace" else "<unsupported>"
        self._put(folder + "/scaling_setspeed", speed)
        if text == "performance" and self.exists(folder + "/energy_performance_preference"):
            self._put(folder + "/energy_performance_preference", "performance")

    def _energy_performance_preference(self, folder, text):
        if self.read(folder + "/scaling_governor") == "performance":
            raise OSError(errno.EBUSY, "Device or resource busy")
        self._put(folder + "/energy_performance_preference", text)

    def _scaling_min_freq(self, folder, text):
        if not self.lag and int(text) > self.number(folder + "/scaling_max_freq"):
            raise OSError(errno.EINVAL, "Invalid argument")
        self._limit(folder, "/scaling_min_freq", self._clamped(folder, int(text)))

    def _scaling_max_freq(self, folder, text):
        if not self.lag and int(text) < self.number(folder + "/scaling_min_freq"):
            raise OSError(errno.EINVAL, "Invalid argument")
        self._limit(folder, "/scaling_max_freq", self._clamped(folder, int(text)))

    def _scaling_setspeed(self, folder, text):
        if self.read(folder + "/scaling_governor") != "userspace":
            raise OSError(errno.EINVAL, "Invalid argument")
        low, high = (self.number(folder + "/scaling_%s_freq" % end) for end in ("min", "max"))
        speed = self._clamped(folder, min(max(int(text), low), high))
        self._put(folder + "/scaling_setspeed", speed)
        self._put(folder + "/scaling_cur_freq", speed)

    def _limit(self, folder, attribute, khz):
        if self.lag:
            self.pending.append([self.lag, folder, attribute, khz])
        else:
            self._set_limit(folder, attribute, khz)

    def _set_limit(self, folder, attribute, khz):
        """A limit moves the current frequency, at once under a governor that runs at the maximum."""
        self._put(folder + attribute, khz)
        if self.read(folder + "/scaling_governor") != "userspace":
            self._put(folder + "/scaling_cur_freq", self.read(folder + "/scaling_max_freq"))

    def _clamped(self, folder, khz):
        limits = [self.number(folder + "/cpuinfo_%s_freq" % end) for end in ("min", "max")]
        khz = min(max(khz, limits[0]), limits[1])
        if self.driver.steps:
            steps = self.driver.steps + self.driver.turbo_steps
            return max(step * 1000 for step in steps if step * 1000 <= khz)
        return khz - khz % self.driver.round_to_khz

    def _switch_turbo(self, path, folder, text):
        if self.locked:
            number = errno.EPERM if path.endswith("no_turbo") else errno.EINVAL
            raise OSError(number, os.strerror(number))
        common = not os.path.basename(folder).startswith("policy")
        if not common and self.read(CPU + "/cpufreq/boost") == "0":
            raise OSError(errno.EINVAL, "Invalid argument")
        self._put(path, text)
        on = (text == "1") != path.endswith("no_turbo")
        for policy in self.folders if common else [folder]:
            if common and self.exists(policy + "/boost"):
                self._put(policy + "/boost", text)
            highest = (self.driver.turbo if on else self.driver.nominal) * 1000
            self._put(policy + "/cpuinfo_max_freq", highest)
            self._put(policy + "/scaling_max_freq", highest)
            minimum = min(self.number(policy + "/scaling_min_freq"), highest)
            self._put(policy + "/scaling_min_freq", minimum)


def _khz(steps):
    return " ".join(str(step * 1000) for step in steps)


def _policy(cpus):
    return "%s/cpufreq/policy%s" % (CPU, cpus.split()[0])
