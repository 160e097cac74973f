"""Words by which programs name the loss in languages other than English, for regexes that ignore case."""

LOSS_WORDS = (
    r"perdas?|p[ée]rdidas?|pertes?|perdit[ae]|verluste?|verlies|förlust|kay[ıi]p|потер[яи]|손실|损失|損失"
)
"""Alternatives of a regex: Portuguese, Spanish, French, Italian, German, Dutch, Swedish, Turkish, Russian,
Korean, Chinese and Japanese."""
