"""`python -m agent {dev,start,console,connect,doctor}`: the LiveKit worker."""

from __future__ import annotations

import sys

from agent.settings import BadSettings, Settings


def main() -> int:
    try:
        settings = Settings.load()
    except BadSettings as error:
        print(error, file=sys.stderr)
        return 2
    if sys.argv[1:2] == ["doctor"]:
        from agent import doctor

        return doctor.main(settings)

    from livekit.agents import cli

    from agent.worker import create_server

    cli.run_app(create_server(settings))
    return 0


if __name__ == "__main__":
    sys.exit(main())
