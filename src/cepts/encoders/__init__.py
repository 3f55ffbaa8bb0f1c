"""Encoders and links from their vectors: tokens of sentences -> one vector for each word -> association matrices."""

from cepts.encoders.encoder import Encoder
from cepts.encoders.prior import LinkCounts, count_links
from cepts.encoders.scorer import EncoderScorer, Similarity

__all__ = ["Encoder", "EncoderScorer", "LinkCounts", "Similarity", "count_links"]
