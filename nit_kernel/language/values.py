"""Values as NIT sees them: kinds, sizes, previews, their JSON form. The other layers ask here."""

from nit_kernel.language.json_form import clean_text, json_text, to_json
from nit_kernel.language.paths import AccessError, read_path
from nit_kernel.language.previews import describe, preview, shortened
from nit_kernel.language.shapes import Kind, Survey, kind_of, size_of, survey
from nit_kernel.language.texts import TextError, format_text, text_of

__all__ = [
    "AccessError",
    "Kind",
    "Survey",
    "TextError",
    "clean_text",
    "describe",
    "format_text",
    "json_text",
    "kind_of",
    "preview",
    "read_path",
    "shortened",
    "size_of",
    "survey",
    "text_of",
    "to_json",
]
