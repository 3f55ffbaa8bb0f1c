"""Attributes that are computed when they are first read."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self, TypeVar, overload

Value = TypeVar("Value")


class lazy_property(cached_property[Value]):
    """A `functools.cached_property` of objects that one thread uses at a time.

    Before Python 3.12, `cached_property` holds one lock for all objects of a class while it computes, so that threads
    that compute the same property of different objects wait for one another.
    """

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type | None = None) -> Value: ...

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Compute the value and keep it in the object, where it is found first from then on."""
        if instance is None:
            return self
        assert self.attrname is not None
        value = vars(instance)[self.attrname] = self.func(instance)
        return value
