# -*- coding: utf-8 -*-
"""Run unittest files of this folder under a Python that is too old for pytest.

    python2.7 tests/unit/plugins/old_python.py test_frequency test_cpu_frequency

Python 2.7 has no namespace packages: the packages above the collection are made here.
"""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import os
import sys
import types
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
PLUGINS = os.path.join(HERE, "..", "..", "..", "plugins")


def make_packages():
    """Make ansible_collections.perflab.bench.plugins and its module_utils importable."""
    name = "ansible_collections"
    for part in ("", ".perflab", ".bench", ".plugins", ".module_utils"):
        name += part
        package = types.ModuleType(name)
        package.__path__ = [PLUGINS + "/module_utils"] if part == ".module_utils" else []
        sys.modules[name] = package
        parent, _dot, child = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], child, package)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.path.insert(0, HERE)
    make_packages()
    unittest.main(module=None, argv=[sys.argv[0]] + sys.argv[1:])
