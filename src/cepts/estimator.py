"""The base class of all models: parameters are stored as given, and learnt attributes end in an underscore."""

from __future__ import annotations

import inspect
from typing import Any, Self

from cepts.errors import UsageError


class Estimator:
    """A model whose constructor stores its parameters and whose `fit` learns attributes that end in an underscore.

    The parameters are the arguments of the constructor, which checks them and stores each one under its own name, as it
    was given. `get_params` and `set_params` work as in scikit-learn.
    """

    @classmethod
    def parameters(cls) -> dict[str, inspect.Parameter]:
        """The parameters of the constructor, by name."""
        found = inspect.signature(cls.__init__).parameters.values()
        return {parameter.name: parameter for parameter in found if parameter.name != "self"}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name, as they were given; `deep` has no effect, but scikit-learn expects it."""
        return {name: getattr(self, name) for name in self.parameters()}

    def set_params(self, **params: Any) -> Self:
        """Change parameters, with the same checks as in the constructor; learnt attributes stay as they are."""
        unknown = sorted(set(params) - set(self.parameters()))
        if unknown:
            raise UsageError(
                f"{type(self).__name__} has no parameter {unknown[0]!r}; it has {', '.join(self.parameters())}."
            )
        checked = type(self)(**{**self.get_params(), **params})
        for name in params:
            setattr(self, name, getattr(checked, name))
        return self

    def is_fitted(self) -> bool:
        """Whether the model has been trained or loaded."""
        return any(name.endswith("_") and not name.startswith("_") for name in vars(self))

    def check_fitted(self) -> None:
        """Raise `UsageError` if the model has not been trained."""
        if not self.is_fitted():
            raise UsageError(f"this {type(self).__name__} is not trained; call fit, or load a trained model.")

    def __repr__(self) -> str:
        given = {name: getattr(self, name) for name in self.parameters()}
        defaults = {name: parameter.default for name, parameter in self.parameters().items()}
        changed = [f"{name}={value!r}" for name, value in given.items() if not _same(value, defaults[name])]
        return f"{type(self).__name__}({', '.join(changed)})"


def _same(value: Any, default: Any) -> bool:
    """Whether a parameter has its default value; a list and a tuple of the same items are equal."""
    if isinstance(value, list | tuple) and isinstance(default, list | tuple):
        return list(value) == list(default)
    return type(value) is type(default) and bool(value == default)
