# SPDX-License-Identifier: MIT
"""The rules of the REST API, a module for each subject; rest_rules.py runs them all."""
