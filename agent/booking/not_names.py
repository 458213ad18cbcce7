"""Words that are not a guest's name, however they are transcribed.

A recogniser's casing cannot be relied on, so a name is what is said where a name belongs and is not
one of these: the small words of the language, and the words of a booking.
"""

from __future__ import annotations

from agent.booking.calendar_words import MONTHS, WEEKDAYS

_SMALL_WORDS = """
a an the this that these those here there and or but so if then than as at by for from in into
of off on onto out over to too under until till up with without about after again all also
always any anything are am is was were be been being can can't could couldn't did didn't do does
doesn't done don't each every everything few get gets getting give given go goes going gonna got
had has have haven't having he he's her here's him his how how's i i'd i'll i'm i've it it'd
it'll it's its just let let's like made make makes making many may maybe me mean meant might
mine more most much must my myself need needs neither never no nope nah nor not nothing now oh
okay ok once one only other our ours ourselves own perhaps please put quite rather really said
same say saying says see shall she she's should since some someone something soon sorry still
such sure take thank thanks that's them their there's they they're thing think though through
time um uh umm uhh er erm hmm hm mm very wait want wants wanted way we we'd we'll we're we've
well what what's when when's where where's which while who who's whose why will would wouldn't
yeah yep yes yet yup you you'd you'll you're you've your yours hello hi hey bye goodbye good
morning afternoon evening great perfect fine right correct exactly alright lovely wonderful
wrong actually instead called calling call speaking speak talk name names named surname first
last middle full spelled spelling spell spells spelt letter letters double triple treble dash
hyphen space capital looking trying hoping wondering planning thinking coming arriving leaving
travelling traveling staying asking interested alone both two three four five six seven eight
nine ten zero happy afraid glad back new old nice little lot probably certainly definitely
absolutely course kind sort able used excuse pardon repeat people another else already next
yesterday later early late problem matter hold hang moment second minute cool excellent awesome
ahead everyone everybody everything's told tell tells heard hear know knew forgot forget
remember asked ask answer understand understood believe believed guess guessed repeated listen
listening find found bring brought use using help helped pay paid work works ready different
better best worse

pronounced written before nobody anybody ever anyway business pleasure holiday vacation work
conference wedding none whatever whichever however therefore important urgent ridiculous
"""
_BOOKING_WORDS = """
hotel room rooms bed beds single twin suite sweet family king queen studio penthouse booking
book booked reservation reserve reserved reference number confirmation code check checking
checkin checkout arrival departure date dates night nights day days week weeks weekend month
year today tomorrow tonight guest guests adult adults child children kid kids toddler baby
infant person persons party group wife husband partner son daughter breakfast parking wifi price
cost rate pets dog address phone email front desk reception receptionist confirmed confirm
request type types date's stay stays staying available availability change cancel correction
corrected everything details
"""

NOT_NAMES = frozenset(
    {*_SMALL_WORDS.split(), *_BOOKING_WORDS.split(), *MONTHS, *WEEKDAYS, "one", "two", "to"}
)
