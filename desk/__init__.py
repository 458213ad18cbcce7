"""The front desk: where requests are kept, and how they reach the hotel.

It knows a request as the JSON that the call wrote, and nothing of how a call is held. The agent
writes through it, the page reads through it, and `python -m desk run` hands finished requests over
and forgets old ones.
"""
