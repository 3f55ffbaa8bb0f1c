"""The version, in the one place that both the package and its signatures read."""

__version__ = "0.1.0"
