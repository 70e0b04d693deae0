"""Values as NIT sees them: kinds, sizes, previews, their JSON form. The other layers ask here."""

from nit_kernel.language.json_form import clean_text, json_text, to_json
from nit_kernel.language.previews import describe, preview, shortened
from nit_kernel.language.shapes import Kind, Survey, kind_of, size_of, survey

__all__ = [
    "Kind",
    "Survey",
    "clean_text",
    "describe",
    "json_text",
    "kind_of",
    "preview",
    "shortened",
    "size_of",
    "survey",
    "to_json",
]
