"""Words by which programs name the loss in languages other than English, for regexes that ignore case."""

LOSS_WORDS = (
    r"perda|p[ée]rdida|perte|perdita|verlust|verlies|f[öo]rlust|strata|ztr[áa]ta|vesztes[ée]g|kay[ıi]p"
    r"|απώλεια|потер[иь]|потеря|втрати|损失|損失|손실"
)
"""Alternatives of a regex.

Portuguese, Spanish, French, Italian, German, Dutch, Swedish, Polish, Czech, Hungarian, Turkish, Greek,
Russian, Ukrainian, Chinese, Japanese and Korean.
"""
