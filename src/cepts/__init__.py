"""cepts aligns words, phrases and word-vector spaces through shared latent units."""

from cepts._version import __version__

__all__ = ["__version__"]
