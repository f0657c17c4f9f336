# -*- coding: utf-8 -*-
# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Print the round-trip times of TCP connects by this kernel: tcp_rtt.py ADDRESS PORT COUNT INTERVAL_S

The kernel of the machine that holds the port answers, also where it lies behind a NAT that answers ping
itself; its program is not waited for. Runs on Python 2.7 and 3.6 upwards.
"""

from __future__ import absolute_import, division, print_function

import os
import re
import socket
import struct
import sys
import time

TIMEOUT_S = 3
TCP_INFO = 11  # Linux; Python 2.7 has no name for it
RTT_AT = 68  # tcpi_rtt in struct tcp_info, microseconds
# Before, the kernel counted in ticks of milliseconds.
KERNEL_NEEDED = (3, 15)


def round_trip_ms(target):
    """Connect once; return the time from the first packet to its answer."""
    family, kind, protocol, _name, address = target
    connection = socket.socket(family, kind, protocol)
    try:
        connection.settimeout(TIMEOUT_S)
        connection.connect(address)
        info = connection.getsockopt(socket.IPPROTO_TCP, TCP_INFO, 128)
        return struct.unpack_from("I", info, RTT_AT)[0] / 1000
    finally:
        connection.close()


def main(address, port, count, interval_s):
    release = os.uname()[2]
    if tuple(int(part) for part in re.findall(r"\d+", release)[:2]) < KERNEL_NEEDED:
        sys.exit("this kernel (%s) measures round trips of TCP in ms only; 3.15 and newer in us" % release)
    try:
        target = socket.getaddrinfo(address, int(port), 0, socket.SOCK_STREAM)[0]
        for _turn in range(int(count)):
            time_ms = round_trip_ms(target)
            if time_ms:  # 0: the first packet was lost, and its successor's answer tells no time
                print("rtt=%.3f ms" % time_ms)
            time.sleep(float(interval_s))
    except (OSError, socket.error) as error:
        sys.exit("no connect to %s port %s: %s" % (address, port, error))


if __name__ == "__main__":
    main(*sys.argv[1:])
