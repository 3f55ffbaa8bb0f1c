"""Model directories: JSON and safetensors under a checksum; nothing is ever unpickled."""

from cepts.store.directory import Model, check_destination, load_model, save_model

__all__ = ["Model", "check_destination", "load_model", "save_model"]
