# -*- coding: utf-8 -*-
"""Frequencies and quotas as people write them. Runs on Python 2.7 and 3.6 upwards."""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import unittest

from ansible_collections.perflab.bench.plugins.module_utils import frequency


class ParseTest(unittest.TestCase):
    def test_every_form_is_the_same_frequency(self):
        for text in ("2.5GHz", "2.5 ghz", "2500 MHz", "2500mhz", "2500000 kHz", " 2500000KHZ ", "2.50 GHz"):
            self.assertEqual(frequency.parse_khz(text), 2500000, text)

    def test_decimals_are_exact(self):
        self.assertEqual(frequency.parse_khz("2.3GHz"), 2300000)
        self.assertEqual(frequency.parse_khz("1.1GHz"), 1100000)

    def test_a_bad_frequency_is_refused_with_the_forms_that_are_accepted(self):
        for text in (
            "2500000",
            2500000,
            "2.5",
            "fast",
            "",
            None,
            "-1GHz",
            "0GHz",
            "2,5GHz",
            "2.5 THz",
            "2.5GHzz",
        ):
            with self.assertRaises(frequency.FrequencyError) as caught:
                frequency.parse_khz(text)
            self.assertIn("2.5GHz, 2500 MHz or 2500000 kHz", str(caught.exception))

    def test_canonical(self):
        expected = {
            "2500 MHz": "2.5GHz",
            "800MHz": "0.8GHz",
            "2 GHz": "2GHz",
            "2601000 kHz": "2.601GHz",
            "10GHz": "10GHz",
            "MAX": "max",
            "As_Found": "as_found",
            " min ": "min",
        }
        for text, canonical in expected.items():
            self.assertEqual(frequency.canonical(text), canonical)

    def test_canonical_names_the_keywords_too(self):
        with self.assertRaises(frequency.FrequencyError) as caught:
            frequency.canonical("as found")
        self.assertIn("as_found, max, min", str(caught.exception))

    def test_canonical_is_stable(self):
        for khz in range(100000, 6000000, 12345):
            text = frequency.format_khz(khz)
            self.assertEqual(frequency.parse_khz(text), khz)
            self.assertEqual(frequency.canonical(text), text)


class QuotaTest(unittest.TestCase):
    def test_parse(self):
        self.assertEqual(frequency.parse_quota("77%"), 77.0)
        self.assertEqual(frequency.parse_quota("38.5 %"), 38.5)
        self.assertEqual(frequency.canonical_quota(" 77.0% "), "77%")
        self.assertEqual(frequency.canonical_quota("as_found"), "as_found")

    def test_a_bad_quota_is_refused(self):
        for text in ("77", 77, "0%", "101%", "-5%", "half", "2.5GHz", ""):
            with self.assertRaises(frequency.FrequencyError):
                frequency.canonical_quota(text)


if __name__ == "__main__":
    unittest.main()
