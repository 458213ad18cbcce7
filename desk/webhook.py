"""Tells the hotel's own system, signed as Standard Webhooks says (standardwebhooks.com)."""

from __future__ import annotations

import base64
import binascii
from datetime import datetime

import httpx
from standardwebhooks.webhooks import Webhook as Signer

from desk.outbox import Message

TIMEOUT_S = 10.0
SECRET_PREFIX = "whsec_"
MIN_SECRET_BYTES = 24  # as the specification asks


class NotAccepted(Exception):
    """The receiver has not taken a message; the text says why, and not what it said."""


def check_secret(secret: str) -> None:
    """Whether a secret can sign.

    Raises:
        ValueError: it is no base64 of 24 bytes or more, with or without `whsec_` before it.
    """
    try:
        key = base64.b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)
    except binascii.Error:
        key = b""
    if len(key) < MIN_SECRET_BYTES:
        raise ValueError(
            f"WEBHOOK_SECRET: expected base64 of at least {MIN_SECRET_BYTES} random bytes, such as "
            "`openssl rand -base64 32` makes"
        )


class Webhook:
    """One receiver.

    Args:
        url: where messages are posted.
        secret: base64, shared with the receiver.
        client: carries them; it decides about proxies and certificates.
    """

    def __init__(self, url: str, secret: str, client: httpx.Client) -> None:
        self._url = url
        self._signer = Signer(secret)
        self._client = client

    def deliver(self, message: Message, now: datetime) -> None:
        """Post one message.

        Args:
            message: sent as it is.
            now: UTC; the receiver refuses what was signed long ago.

        Raises:
            NotAccepted: no answer, or none that says it was taken (2xx).
        """
        headers = {
            "content-type": "application/json",
            "webhook-id": message.id,
            "webhook-timestamp": str(int(now.timestamp())),
            "webhook-signature": self._signer.sign(message.id, now, message.body),
        }
        try:
            # A redirected request could end up with somebody else.
            answer = self._client.post(
                self._url,
                content=message.body.encode(),
                headers=headers,
                timeout=TIMEOUT_S,
                follow_redirects=False,
            )
        except httpx.HTTPError as error:
            raise NotAccepted(type(error).__name__) from None
        if not answer.is_success:
            raise NotAccepted(f"HTTP {answer.status_code}")
