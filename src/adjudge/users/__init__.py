"""Users: what effectiveness means for the people who use a system.

>>> from adjudge.users import find_agreement, find_satisfaction, noticeable_difference
>>> sat = find_satisfaction("CG@5", "fine").mapping
>>> print(f"{sat(0.42):.2f} of users are satisfied with lists of CG@5 = 0.42")
0.46 of users are satisfied with lists of CG@5 = 0.42
>>> margin = noticeable_difference(find_agreement("CG@5", "fine").mapping)
>>> print(f"most users notice differences in CG@5 from {margin:.2f} on")
most users notice differences in CG@5 from 0.29 on
"""

from adjudge.lazy import attach

__getattr__, __dir__ = attach(__name__)
