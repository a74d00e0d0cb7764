"""Files from the web: with time limits, a few tries, and certificates always checked."""

import ssl
import time
from dataclasses import dataclass
from typing import Any

import httpx
from tenacity import (
    Retrying,
    retry_if_exception,
    stop_after_attempt,
    stop_after_delay,
    wait_exponential,
)
from tqdm import tqdm

from nmt.corpus.settings import FileSettings
from nmt.download.payload import AbsentError, SourceError, check_archive


@dataclass(frozen=True)
class Limits:
    """How long a host may keep us waiting: three dead ones take less than a minute in all.

    Args:
        tries: how often a file is asked for.
        pause: seconds before the second try; doubled before each further one.
        last_try: seconds after which no new try begins.
        connect: seconds until a connection must stand.
        silence: seconds that may pass without a byte.
        file: seconds that one file may take.
        size: most bytes of one file.
    """

    tries: int = 3
    pause: float = 1.0
    last_try: float = 12.0
    connect: float = 4.0
    silence: float = 8.0
    file: float = 120.0
    size: int = 1 << 26


USUAL_LIMITS = Limits()


class Web:
    """A folder on the web with NAME.gz.

    A host that gave no answer for one file is not asked for the next.

    Args:
        address: address of the folder.
        client: checks certificates (httpx does unless told otherwise) and follows redirects.
        limits: how long to wait.
        bar: shows bytes; its total grows as sizes become known.
    """

    def __init__(
        self, address: str, client: httpx.Client, limits: Limits, bar: "tqdm[Any]"
    ) -> None:
        self._address = address.rstrip("/")
        self._client = client
        self._limits = limits
        self._bar = bar
        self._dead = False

    def text(self, name: str, expected: FileSettings) -> bytes:
        """Return the text in NAME.gz."""
        url = f"{self._address}/{name}.gz"
        return check_archive(self._fetch(url), expected, f"{url} (fetched just now)")

    def _fetch(self, url: str) -> bytes:
        if self._dead:
            raise AbsentError(f"{url}: not tried, the host gave no answer before")
        limits = self._limits
        tries = Retrying(
            stop=stop_after_attempt(limits.tries) | stop_after_delay(limits.last_try),
            wait=wait_exponential(multiplier=limits.pause),
            retry=retry_if_exception(_may_pass),
            reraise=True,
        )
        try:
            return tries(self._get, url)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            self._dead = _may_pass(error)
            count = tries.statistics["attempt_number"]
            raise SourceError(f"{url}: {_reason(error, count)}") from None

    def _get(self, url: str) -> bytes:
        limits = self._limits
        end = time.monotonic() + limits.file
        timeout = httpx.Timeout(limits.silence, connect=limits.connect)
        # The bytes as they lie on the host: one that compresses on the way would change the hash.
        headers = {"Accept-Encoding": "identity"}
        data = bytearray()
        with self._client.stream("GET", url, timeout=timeout, headers=headers) as response:
            response.raise_for_status()
            length = response.headers.get("Content-Length", "0")
            self._bar.total = (self._bar.total or 0) + (int(length) if length.isdigit() else 0)
            for chunk in response.iter_raw():
                data += chunk
                self._bar.update(len(chunk))
                if time.monotonic() > end:
                    raise httpx.ReadTimeout(f"not done after {limits.file:g} s")
                if len(data) > limits.size:
                    raise SourceError(f"{url}: more than {limits.size} bytes; not the file")
        return bytes(data)


def _may_pass(error: BaseException) -> bool:
    """Say whether the same request may go well a little later."""
    if isinstance(error, httpx.HTTPStatusError):
        return error.response.status_code in (408, 425, 429) or error.response.is_server_error
    wrong = isinstance(error, httpx.UnsupportedProtocol) or _refused_certificate(error)
    return isinstance(error, httpx.TransportError) and not wrong


def _refused_certificate(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return True
        error = error.__cause__ or error.__context__
    return False


def _reason(error: Exception, tries: int) -> str:
    if isinstance(error, httpx.HTTPStatusError):
        return f"HTTP status {error.response.status_code} after {_times(tries)}"
    if _refused_certificate(error):
        return f"the host's certificate is refused, and is never passed over ({error})"
    if isinstance(error, httpx.TransportError) and _may_pass(error):
        return f"no answer after {_times(tries)} ({type(error).__name__}: {error})"
    return f"{type(error).__name__}: {error}"


def _times(tries: int) -> str:
    return "1 try" if tries == 1 else f"{tries} tries"
