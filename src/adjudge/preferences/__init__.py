"""Preferences: ask people which of two ranked lists they like better, and learn what effectiveness means to them.

Questions are made from judgments, answers come from a campaign on the web or from a file, and what is learnt goes into
a mapping file that the rest of Adjudge takes in place of the published curves.

Urbano et al., How significant is statistically significant? The case of audio music similarity and retrieval,
ISMIR 2012; Urbano, J., Evaluation in Audio Music Similarity, PhD thesis, Universidad Carlos III de Madrid, 2013, ch. 3.
"""

from adjudge.lazy import attach

__getattr__, __dir__ = attach(__name__)
