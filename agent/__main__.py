"""`python -m agent {dev,start,console,connect,doctor,budget}`: the LiveKit worker."""

from __future__ import annotations

import os
import sys

from livekit.agents import cli

from agent import budget, console, doctor
from agent.booking.hotel import HotelFileError, load_hotel
from agent.booking.store import StoreError, open_store
from agent.settings import BadSettings, Settings
from agent.worker import create_server


def main() -> int:
    if sys.argv[1:2] == ["budget"]:  # reads files: no setting of a call can stand in its way
        budget.main(sys.argv[2:])
    # The turn's end is told from the words; without this each worker loads a model for it anyway.
    os.environ.setdefault("LIVEKIT_AGENTS_PRELOAD_LOCAL_INFERENCE", "0")
    try:
        settings = Settings.load()
        if sys.argv[1:2] == ["doctor"]:
            return doctor.main(settings)
        # A job process that cannot be prepared takes no call, and says so only in its own log.
        load_hotel(settings.hotel, name_override=settings.hotel_name)
        open_store(settings.database_url).close()
        if sys.argv[1:2] == ["console"]:
            console.prepare(sys.argv[2:])
    except (BadSettings, HotelFileError, StoreError, console.SoundUnavailable) as error:
        print(error, file=sys.stderr)
        return 2
    cli.run_app(create_server(settings))
    return 0


if __name__ == "__main__":
    sys.exit(main())
