"""What a client calls a kind of entity, and what a pipeline trained on OntoNotes calls it.

The pipeline's labels are those of OntoNotes 5 (Weischedel et al., LDC2013T19).
"""

from __future__ import annotations

from collections.abc import Sequence

_ONTONOTES = {
    "person": ("PERSON",),
    "date": ("DATE",),
    "time": ("TIME",),
    "place": ("GPE", "LOC", "FAC"),
    "city": ("GPE",),
    "country": ("GPE",),
    "building": ("FAC",),
    "organization": ("ORG",),
    "number": ("CARDINAL",),
    "ordinal": ("ORDINAL",),
    "quantity": ("QUANTITY",),
    "money": ("MONEY",),
    "percent": ("PERCENT",),
    "nationality": ("NORP",),
    "language": ("LANGUAGE",),
    "event": ("EVENT",),
    "product": ("PRODUCT",),
    "law": ("LAW",),
    "work of art": ("WORK_OF_ART",),
}
_ALSO = {
    "name": "person",
    "people": "person",
    "guest": "person",
    "location": "place",
    "organisation": "organization",
    "company": "organization",
    "price": "money",
    "amount": "money",
    "percentage": "percent",
}

KNOWN = tuple(_ONTONOTES)


def ontonotes(label: str) -> tuple[str, ...]:
    """The pipeline's labels for a client's; () if it has none.

    Case, underscores and hyphens make no difference, and neither does a plural. The pipeline's own
    labels are taken too.
    """
    plain = " ".join(label.replace("_", " ").replace("-", " ").lower().split())
    for name in (plain, plain.removesuffix("s")):
        if (found := _ONTONOTES.get(_ALSO.get(name, name))) is not None:
            return found
    own = plain.upper().replace(" ", "_")
    return (own,) if any(own in names for names in _ONTONOTES.values()) else ()


def asked_for(labels: Sequence[str]) -> dict[str, str]:
    """The client's label for each label of the pipeline's; the first that covers it."""
    wanted: dict[str, str] = {}
    for label in labels:
        for name in ontonotes(label):
            wanted.setdefault(name, label)
    return wanted
