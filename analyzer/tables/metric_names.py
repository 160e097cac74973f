"""Words by which programs name the loss in languages other than English, for regexes that ignore case."""

_LATIN = r"(?:perda|p[ée]rdida|perte|perdita)(?:[ _](?:locale?|globale?|totale?|m[eé]di[ao]|moyenne))?"
LOSS_WORDS = rf"{_LATIN}|verlust|verlies|kay[ıi]p|потери|损失|損失"
"""Alternatives of a regex: Portuguese, Spanish, French, Italian, German, Dutch, Turkish, Russian, Chinese
and Japanese."""
