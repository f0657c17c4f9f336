// SPDX-License-Identifier: GPL-2.0
/*
 * Make acpi-cpufreq believe that the CPU has a turbo (Core Performance Boost), which no CPU model of QEMU 7.2 has.
 * Without it the kernel has no /sys/devices/system/cpu/cpufreq/boost, as perflab's hosts do. Its modprobe
 * configuration loads it before acpi-cpufreq (see guest_images.py).
 */
#include <linux/module.h>
#include <asm/cpufeature.h>

static int __init cpb_init(void)
{
	set_cpu_cap(&boot_cpu_data, X86_FEATURE_CPB);
	return 0;
}

module_init(cpb_init);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Claim Core Performance Boost for a QEMU guest");
