"""Model directories and tables: JSON and safetensors files with checksums; nothing is ever unpickled."""

from cepts.store.directory import Model, check_destination, kind_of, load_model, load_table, save_model, save_table

__all__ = ["Model", "check_destination", "kind_of", "load_model", "load_table", "save_model", "save_table"]
