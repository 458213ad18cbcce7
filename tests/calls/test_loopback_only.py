"""With the default settings, no part of the stack reaches for anything but this machine."""

from __future__ import annotations

import ipaddress
import json
import re
import shutil
import subprocess
from pathlib import Path

import psutil
import pytest

from tests.calls.playing import CALL_S, command
from tests.stack import PROJECT, running_stack

# strace -yy writes a descriptor as 12<UDP:[127.0.0.1:4000->127.0.0.1:53]>.
TRACE = ("strace", "-f", "--seccomp-bpf", "-yy", "-e", "trace=connect,sendto,sendmsg,sendmmsg")
CALL = re.compile(r"^\d+\s+(?P<name>\w+)\(\d+<(?P<kind>[A-Z]+v?6?)")
ADDRESS = re.compile(r'inet_addr\("(?P<v4>[^"]+)"\)|inet_pton\(AF_INET6, "(?P<v6>[^"]+)"')
PEER = re.compile(r"->\[?(?P<peer>[0-9a-f.:]+?)\]?:\d+\]>")


def own_addresses() -> frozenset[str]:
    """This machine's addresses: what is sent to one of them does not leave it.

    WebRTC offers each of them to the other end, which tries it, here as anywhere.
    """
    interfaces = psutil.net_if_addrs().values()
    return frozenset(address.address for addresses in interfaces for address in addresses)


def reached(line: str, own: frozenset[str] = frozenset()) -> str | None:
    """The address beyond this machine that a traced call talks to, or None.

    A UDP `connect` sends nothing: the native WebRTC layer asks the kernel in this way which of its
    addresses would be used. What is then sent on such a descriptor is seen by its peer.
    """
    call = CALL.match(line)
    if call is None or (call["name"] == "connect" and call["kind"].startswith("UDP")):
        return None
    found = ADDRESS.search(line) or PEER.search(line)
    if found is None:
        return None
    address = ipaddress.ip_address(next(group for group in found.groups() if group))
    mapped = getattr(address, "ipv4_mapped", None)
    address = mapped or address
    return None if address.is_loopback or str(address) in own else str(address)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "12 connect(5<TCP:[7]>, {sa_family=AF_INET, sin_port=htons(443), "
            'sin_addr=inet_addr("93.184.216.34")}, 16) = 0',
            "93.184.216.34",
        ),
        (
            '12 sendto(5<UDP:[9]>, "x", 1, 0, {sa_family=AF_INET, sin_port=htons(3478), '
            'sin_addr=inet_addr("74.125.250.129")}, 16) = 1',
            "74.125.250.129",
        ),
        ('12 sendto(5<UDP:[10.0.0.2:4000->1.1.1.1:53]>, "x", 1, 0, NULL, 0) = 1', "1.1.1.1"),
        (
            "12 sendmmsg(5<UDPv6:[[::1]:4000->[2606:4700::1111]:53]>, [{msg_hdr={}}], 1, 0) = 1",
            "2606:4700::1111",
        ),
        (
            "12 connect(5<UDP:[7]>, {sa_family=AF_INET, sin_port=htons(53), "
            'sin_addr=inet_addr("8.8.8.8")}, 16) = 0',
            None,
        ),
        (
            "12 connect(5<TCP:[7]>, {sa_family=AF_INET, sin_port=htons(7880), "
            'sin_addr=inet_addr("127.0.0.1")}, 16) = 0',
            None,
        ),
        ('12 sendto(5<UNIX-STREAM:[7->8]>, "x", 1, 0, NULL, 0) = 1', None),
    ],
)
def test_the_trace_is_read_right(line: str, expected: str | None) -> None:
    assert reached(line) == expected


def test_what_is_sent_to_an_address_of_this_machine_does_not_leave_it() -> None:
    line = (
        '12 sendto(5<UDP:[127.0.0.1:4000]>, "x", 1, 0, {sa_family=AF_INET, sin_port=htons(7882), '
        'sin_addr=inet_addr("10.0.0.2")}, 16) = 1'
    )
    assert reached(line) == "10.0.0.2"
    assert reached(line, frozenset({"10.0.0.2"})) is None


@pytest.mark.timeout(600)
def test_a_call_reaches_nothing_beyond_this_machine(tmp_path: Path) -> None:
    assert shutil.which("strace"), "install strace: `make test` does, on Debian as root"
    trace = tmp_path / "trace"
    report = tmp_path / "call.json"
    with running_stack(tmp_path, under=(*TRACE, "-o", str(trace))) as stack:
        # Traced, everything is slow and the talk may go wrong; that it took place is enough.
        subprocess.run(
            command("one-sentence", report),
            cwd=PROJECT,
            env=stack.environment,
            capture_output=True,
            timeout=CALL_S,
            check=False,
        )
    turns = json.loads(report.read_text())["turns"]
    assert [turn for turn in turns if turn["heard"] and turn["answered"]]
    lines = trace.read_text(errors="replace").splitlines()
    assert [line for line in lines if "connect(" in line and "127.0.0.1" in line]
    own = own_addresses()
    assert {address for line in lines if (address := reached(line, own))} == set()
