"""Words by which programs name the loss in languages other than English, for regexes that ignore case."""

LOSS_WORDS = r"perda|p[ée]rdida|perte|perdita|verlust|verlies|kay[ıi]p|потери|损失|損失"
"""Alternatives of a regex: Portuguese, Spanish, French, Italian, German, Dutch, Turkish, Russian, Chinese
and Japanese."""
