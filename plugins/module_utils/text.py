# -*- coding: utf-8 -*-
# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Bytes and text on Python 2.7 and 3.6 upwards, always UTF-8, whatever the host's locale.

What ansible.module_utils has for this cannot be imported where only the logic is tested, without Ansible.
"""

from __future__ import absolute_import, division, print_function

__metaclass__ = type


def to_bytes(value):
    return value if isinstance(value, bytes) else ("%s" % value).encode("utf-8")


def to_native(value):
    """Return bytes or text as the str of this Python; what is not UTF-8 becomes U+FFFD where str is text."""
    if isinstance(value, str):
        return value
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value.encode("utf-8")
