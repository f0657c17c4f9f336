# -*- coding: utf-8 -*-
# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How people write frequencies and quotas, and the one form that perflab stores.

Runs on Python 2.7 and 3.6 upwards.
"""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import re
from decimal import Decimal

KEYWORDS = ("as_found", "max", "min")
FORMS = "2.5GHz, 2500 MHz or 2500000 kHz"

_KHZ_PER_UNIT = {"ghz": 1000000, "mhz": 1000, "khz": 1}
_FREQUENCY = re.compile(r"^([0-9]+(?:\.[0-9]+)?)\s*([gmk]hz)$")
_QUOTA = re.compile(r"^([0-9]+(?:\.[0-9]+)?)\s*%$")


class FrequencyError(ValueError):
    """The text is not a frequency (or not a quota); the message names the accepted forms."""


def parse_khz(text):
    """Return the frequency in kHz, an int above 0.

    >>> parse_khz("2.5GHz"), parse_khz("2500 mhz"), parse_khz("2500000 kHz")
    (2500000, 2500000, 2500000)
    """
    match = _FREQUENCY.match(("%s" % text).strip().lower())
    # Decimal, since 2.3 * 1000000 is not a whole number in binary floating point.
    khz = int(Decimal(match.group(1)) * _KHZ_PER_UNIT[match.group(2)]) if match else 0
    if khz <= 0:
        raise FrequencyError("'%s' is not a frequency: write it with its unit, as %s" % (text, FORMS))
    return khz


def format_khz(khz):
    """Return the canonical form: GHz without trailing zeros.

    >>> format_khz(2500000), format_khz(800000), format_khz(2000000)
    ('2.5GHz', '0.8GHz', '2GHz')
    """
    digits = "%d.%06d" % divmod(int(khz), 1000000)
    return digits.rstrip("0").rstrip(".") + "GHz"


def canonical(text):
    """Return the one form of a frequency level: a keyword as it is, else GHz without trailing zeros.

    >>> canonical("MAX"), canonical("2600 MHz")
    ('max', '2.6GHz')
    """
    keyword = ("%s" % text).strip().lower()
    if keyword in KEYWORDS:
        return keyword
    try:
        return format_khz(parse_khz(text))
    except FrequencyError as error:
        raise FrequencyError("%s; or %s" % (error, ", ".join(KEYWORDS)))


def parse_quota(text):
    """Return the per cent of a CPU bandwidth limit, above 0 and at most 100.

    >>> parse_quota("77%")
    77.0
    """
    match = _QUOTA.match(("%s" % text).strip())
    percent = float(match.group(1)) if match else 0.0
    if not 0 < percent <= 100:
        raise FrequencyError("'%s' is not a quota: write per cent above 0 and at most 100, as 77%%" % text)
    return percent


def canonical_quota(text):
    """Return the one form of a quota level.

    >>> canonical_quota("as_found"), canonical_quota("77.0 %"), canonical_quota("38.5%")
    ('as_found', '77%', '38.5%')
    """
    keyword = ("%s" % text).strip().lower()
    if keyword == "as_found":
        return keyword
    return "%g%%" % parse_quota(text)
