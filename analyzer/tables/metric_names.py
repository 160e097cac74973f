"""Words by which programs name the loss and its parts, for regexes that ignore case."""

_ROMANCE = (
    r"(?:perdas?|p[ée]rdidas?|pertes?|perdit[ae])(?:[ _](?:locale?|globale?|totale?|m[eé]di[ao]|moyenne))?"
)
LOSS_WORDS = rf"{_ROMANCE}|verluste?|verlies|förlust|kay[ıi]p|потер[яи]|손실|损失|損失"
"""Alternatives of a regex: Portuguese, Spanish, French, Italian, German, Dutch, Swedish, Turkish, Russian,
Korean, Chinese and Japanese."""
PART_OF_LOSS = (
    r"_(?:[a-z]|adv|aux|box|bbox|cls|critic|cycle|dis|disc|fake|gan|gen|kl|mask|obj|real|rec|recon|reg|rpn)"
)
"""Regex for what follows `loss` in the name of one of several: `loss_G`, `loss_disc`, `loss_bbox`.

Settings such as `loss_scale` and `loss_weight` have other words there.
"""
