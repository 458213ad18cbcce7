"""`python -m selfhost`: the models and the machines that a call needs.

Each command lives in the room that it is about and is imported only when it runs, so that asking
for help or for a status never loads a model library.
"""

from __future__ import annotations

import importlib
import sys

COMMANDS = {
    "up": ("selfhost.up", "start the whole stack in order and keep it up"),
    "status": ("selfhost.status", "what each part of a running stack is doing"),
    "models": ("selfhost.models_command", "fetch and check the model files and the room server"),
    "server": ("selfhost.server.command", "the model server: speech to text and speech"),
    "engines": ("selfhost.engines.installing", "the generation engines that are here"),
    "generate": ("selfhost.engines.command", "the generation engine alone"),
    "plan": ("selfhost.plan.command", "what models take on a card, before anything is started"),
    "call": ("selfhost.load.command", "a simulated caller plays a spoken call"),
    "bench": (
        "selfhost.load.latency_bench.command",
        "this worker and the stock pipeline on the same calls",
    ),
    "bench-models": (
        "selfhost.load.model_bench.command",
        "the models served, beside the same models run directly",
    ),
}


def usage() -> str:
    lines = ["usage: python -m selfhost COMMAND [OPTIONS]", ""]
    lines += [f"  {name:<14}{what}" for name, (_, what) in COMMANDS.items()]
    return "\n".join([*lines, "", "`python -m selfhost COMMAND --help` tells each one's options."])


def main(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(usage())
        return 0
    name, *rest = arguments
    if name not in COMMANDS:
        print(f"selfhost: no command {name!r}; expected one of: {', '.join(COMMANDS)}")
        return 2
    module = importlib.import_module(COMMANDS[name][0])
    sys.argv = [sys.argv[0], *rest]
    result: int | None = module.main()
    return result or 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
