"""Words by which programs name the loss in languages other than English, for regexes that ignore case."""

_ROMANCE = (
    r"(?:perdas?|p[ée]rdidas?|pertes?|perdit[ae])(?:[ _](?:locale?|globale?|totale?|m[eé]di[ao]|moyenne))?"
)
LOSS_WORDS = rf"{_ROMANCE}|verluste?|verlies|förlust|kay[ıi]p|потер[яи]|손실|损失|損失"
"""Alternatives of a regex: Portuguese, Spanish, French, Italian, German, Dutch, Swedish, Turkish, Russian,
Korean, Chinese and Japanese."""
