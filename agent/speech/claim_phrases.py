"""Phrases that claim something was done or is settled; data for `claims`.

One phrase a line, in lower case, as a regular expression in which `{name}` stands for a part below.
They are searched for in one clause; what excuses a match is decided elsewhere.
"""

from __future__ import annotations

from agent.speech.phrases import any_of, phrases

_ADVERBS = any_of(
    "now already just all fully officially also been being successfully currently indeed then "
    "definitely automatically duly safely gladly happily quickly immediately certainly still"
)
PEOPLE = r"(?:front desk|reception|staff|colleagues?|team|manager|they|someone)"
PARTS = {
    "people": rf"\b{PEOPLE}",
    "so": rf"(?:{_ADVERBS} )*",
    "be": r"(?:(?:has been|have been|is|are|was|were|am|be|been|got|gets)|\b\w+'(?:s|re|ve))",
    "booking": r"\b(?:bookings?|reservations?|rooms?|stay|visit|suite)",
    "stay": r"\b(?:booking|reservation|stay)",
    "room": r"\b(?:rooms?|suites?|singles?|doubles?|twins?|one|it|that|this|dates?|nights?)",
    "done": any_of(
        "book(?:ed)? reserved confirmed secured guaranteed held finali[sz]ed completed? processed "
        "cancell?ed rescheduled approved accepted upgraded refunded charged waived locked_in "
        "set_aside blocked_off placed authori[sz]ed allocated assigned arranged scheduled settled "
        "successful"
    ),
    "act": any_of(
        r"book(?:ed|ing)?\b reserv\w+ secur\w+ guarante\w+ hold(?:ing)?\b held\b finali[sz]\w+ "
        r"cancel\w* reschedul\w+ process\w* upgrad\w+ refund\w* waiv\w+ block\w* lock\w* "
        r"put(?:ting)?_you\b put(?:ting)?_a_hold set(?:ting)?_aside approv\w+ arrang\w+ "
        r"schedul\w+ complet\w+ plac\w+ submit\w*"
    ),
    "altered": any_of(r"chang\w* updat\w* modif\w* mov\w+ adjust\w* amend\w* extend\w* shorten\w*"),
    # "I", "we have already", "I'd be happy to", "let me go ahead and"
    "we": r"(?:\b(?:i|we)(?:'\w+)?|\blet me) "
    + r"(?:"
    + any_of(
        "have has had will shall am are can did do could would be going_to gone_ahead_and "
        "go_ahead_and went_ahead_and happy_to glad_to pleased_to delighted_to able_to here_to"
    )
    + rf" |{_ADVERBS} )*",
    "all": r"\b(?:you|we|it|this|that|all|everything|things)",
    "hotel_has": r"\b(?:we|i|hotel)(?:'ve| have| has| do have)(?: got)?",
    "those_dates": r"\b(?:those|these|that|your|the) (?:dates?|nights?|days?)",
    "opening": "(?:and |so |okay |great |done |all )*",
    "few": r"(?:\w+ ){0,4}",
    "free": any_of("available vacant free open bookable possible doable yours"),
}

CLAIMS = phrases(
    r"""
    # It is done.
    {be} {so}{done}\b
    {booking} {so}{done}(?:[.!]|$)
    {booking} {few}{be} {so}made\b
    (?<!\bi )(?<!\bwe )\b(?:went|gone|going|goes|came|comes) through\b
    ^{opening}{so}{done}$
    ^{opening}{so}{done} (?:for|from|on|at|under|in|as|the|your|it|that|a)\b
    \bconsider (?:it|that|this|your \w+) \w+
    {stay} {be} {so}{altered}
    {people} (?:has |have |had |already |just |now )*{done}\b
    {people} (?:says?|said|tells?|told)\b

    # I did it, I do it, I will do it.
    {we}{act}
    {we}\w+ .*\band {so}{act}
    {we}ma(?:ke|de|king) (?:\w+ ){0,3}{booking}
    {we}confirm\w* (?:that )?(?:it\b|you\b|{few}availability)
    {we}confirm\w* (?:that )?{few}{booking}\b(?! (?:type|reference|request))
    {we}{altered} {few}{stay}
    {we}(?:checked|looked into|verified)\b
    {we}(?:be )?proceed\w* with (?:the|your|that|this)\b
    {we}(?:have|see|found|find|pulled up|located|got) (?:\w+ )?{stay}\b(?! (?:ref|num|req|code))
    {we}(?:have|got|put|have got) you (?:down|in|booked|reserved|confirmed)\b
    ^(?:booking|reserving|confirming|cancell?ing|processing) (?:your|that|the|it|a)\b

    # All is settled.
    {all} (?:is|are|should be|will be) {so}(?:set|sorted|done|good to go)\b(?! (?:in|by|the))
    {all}'\w+ {so}(?:set|sorted|done|good to go)\b(?! (?:in|by|the))
    \b(?:taken care of|squared away|good to go)\b
    ^all (?:set|done|booked|confirmed|sorted)\b
    \b(?:in|on) (?:the|our) (?:system|books|calendar)\b
    \b(?:is|are|be) (?:\w+ )?(?:ready|waiting|prepared) (?:for you|when|on|upon)\b
    \bhave (?:it|that|your \w+) (?:\w+ )?(?:ready|waiting|prepared)\b
    \b(?:welcome|welcoming|host|hosting) you (?:soon|then|on|in|here|at|with us|to the)\b
    \b(?:see|seeing) you\b(?! (?:want|would|have|said|asked|need|are calling))
    \bcongratulations\b|\bwelcome back\b|\bbooks? you\b
    \blook(?:ing)? forward to (?:your|welcom|see|host|hav|serv|meet)
    \bcan't wait to\b
    \benjoy your (?:stay|visit|room|time)\b
    \bthank(?:s| you) for (?:\w+ )?(?:booking|reserving|staying|your (?:booking|reservation))\b
    \byour {booking} (?:begins|starts|runs|ends)\b
    \byou(?: have| now have|'ve got) (?:a|the|your|one) (?:\w+ ){0,3}{booking}\b
    \b(?:room|suite|booking) (?:is|'s) {so}yours\b

    # Papers that nobody sends.
    \bconfirmation (?:e-?mail|number|code|message|text|letter|has|was|is)\b
    \be-?mail(?:ed)? (?:you|has been|is on|will be)\b
    \b(?:sent|send|sending) (?:you|it|the|a|an|your)\b
    \b(?:sent|forwarded|passed|submitted|transmitted|handed)\b.*\bto (?:the|our)\b
    \byou(?: will| should|'ll) (?:\w+ )?receive\b
    \b(?:check|watch|look in) your (?:inbox|e-?mail|phone|messages)\b

    # There is room.
    {hotel_has} (?:\w+ ){0,5}(?:available|availability|vacan\w+|openings?|left)\b
    {hotel_has} (?:\w+ ){0,5}(?:for (?:you|your|those|that|these)|free)\b
    {room} (?:is|are|'s|will be|should be) {so}{free}\b
    \b(?:is|are|be|it's|that's|they're) (?:\w+ ){0,3}(?:available|vacant|possible|doable)\b
    \b(?:is|are|be|it's|that's|they're) (?:\w+ ){0,3}free for you\b
    \b(?:rooms?|suites?|dates?) (?:\w+ ){0,2}(?:available|free|open) (?:on|for|from|then)\b
    \b(?:rooms?|suites?) (?:\w+ ){0,2}(?:available|free|open) (?:that|those)\b
    \bthere(?:'s| is| are) {few}(?:availability|vacanc\w+)
    \bthere(?:'s| is| are) {few}(?:rooms?|suites?) (?:left|open|free|for|available)\b
    {those_dates} (?:\w+ )?(?:works?|fits?)\b
    {those_dates} (?:is|are) (?:fine|good|ok|okay|perfect)\b
    {we}(?:found|got you) (?:you )?(?:a|an|the|one|that|two|your)\b
    {we}got (?:a|an|the|one|that) (?:\w+ )?{booking}\b
    \blet's get you\b
    {we}(?:accommodate|fit you|offer you|give you|get you)\b
    """,
    PARTS,
)

# Claims although they deny something: that there is no room is as unknown as that there is.
CLAIMS_OF_NONE = phrases(
    r"""
    \bfully booked\b
    \bsold out\b
    \bno (?:\w+ )?(?:rooms?|suites?|vacanc\w+|availability)\b
    ^no,? (?:\w+ )?available\b
    \b(?:is|are) (?:un|not )available\b
    {we}(?:can't|cannot) (?:give|offer|get|make) you\b
    \b(?:isn't|aren't) available\b
    {we}(?:don't|do not) have (?:\w+ ){0,4}(?:available|availability|left|for (?:those|that))
    """,
    PARTS,
)

# Of a booking that exists already, "I've changed your dates" is such a claim too.
CHANGES = phrases(
    r"""
    {we}{altered} \w+
    {be} {so}(?:changed|updated|modified|moved|adjusted|amended|extended|shortened)\b
    {we}ma(?:ke|de|king) (?:\w+ )?change
    """,
    PARTS,
)
