# -*- coding: utf-8 -*-
# Copyright: (c) 2026, The perflab authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Secrets: put in where a command needs them, taken out of everything that is kept.

A placeholder ``{secret:NAME}`` stands for the value in argv and environment as they are written down,
and in logs in place of the value. Runs on Python 2.7 and 3.6 upwards.
"""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import re

from ansible_collections.perflab.bench.plugins.module_utils.text import to_bytes, to_native

_PLACEHOLDER = re.compile(r"\{secret:([^}]*)\}")


class UnknownSecretError(ValueError):
    """A placeholder names a secret that was not given."""


def fill(text, secrets):
    """Return *text* with the secrets' values in place of their placeholders.

    >>> fill("-a{secret:redis}", {"redis": "s3same"})
    '-as3same'
    """

    def value(match):
        name = match.group(1)
        if name not in secrets:
            raise UnknownSecretError("%s is not in secrets, which has %s" % (match.group(0), sorted(secrets)))
        return "%s" % secrets[name]

    return _PLACEHOLDER.sub(value, "%s" % text)


class Redactor:
    """Replaces the values of *secrets* (name -> value) by their placeholders."""

    def __init__(self, secrets):
        self._placeholder = {
            to_bytes(value): to_bytes("{secret:%s}" % name) for name, value in secrets.items() if value
        }
        # The longest first: a secret may begin with another.
        values = sorted(self._placeholder, key=len, reverse=True)
        self.longest = len(values[0]) if values else 0
        self._pattern = re.compile(b"|".join(re.escape(value) for value in values)) if values else None

    def text(self, text):
        """Return the text without secrets, a str that JSON can hold: what is not UTF-8 becomes U+FFFD."""
        redacted, _rest = self.split(to_bytes(text), last=True)
        return to_native(redacted.decode("utf-8", "replace"))

    def split(self, data, last):
        """Return (redacted, rest): *rest* may hold the beginning of a secret and waits for more.

        A secret that begins before *rest* lies in *data* as a whole, so it is seen even if it came in pieces.
        """
        if self._pattern is None:
            return data, b""
        undecided = len(data) if last else max(0, len(data) - self.longest + 1)
        out, position = [], 0
        for match in self._pattern.finditer(data):
            if match.start() >= undecided:
                break
            out += [data[position : match.start()], self._placeholder[match.group(0)]]
            position = match.end()
        end = max(undecided, position)
        out.append(data[position:end])
        return b"".join(out), data[end:]


class RedactedStream:
    """Redacts bytes that come in chunks, wherever the chunks are cut."""

    def __init__(self, redactor):
        self._redactor = redactor
        self._rest = b""

    def feed(self, chunk):
        redacted, self._rest = self._redactor.split(self._rest + chunk, last=False)
        return redacted

    def flush(self):
        redacted, self._rest = self._redactor.split(self._rest, last=True)
        return redacted
