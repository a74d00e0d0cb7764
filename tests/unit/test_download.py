"""The corpus arrives whole and checked, or not at all, and the message says why."""

import gzip
import hashlib
import json
import logging
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from nmt.corpus.settings import DataSettings
from nmt.download.corpus import download_corpus
from nmt.download.web import USUAL_LIMITS, Limits
from nmt.errors import DataError

PROJECT = Path(__file__).parents[2]
QUICK = Limits(pause=0.001, connect=1.0, silence=0.3)
TEXTS = {
    "train.de": "ein hund\nein mann\nzwei mädchen\n",
    "train.en": "a dog\na man\ntwo girls\n",
    "val.de": "eine katze\n",
    "val.en": "a cat\n",
    "test.de": "ein haus\n",
    "test.en": "a house\n",
}


def pack(text: bytes) -> bytes:
    return gzip.compress(text, mtime=0)


ARCHIVES = {f"/{name}.gz": pack(text.encode()) for name, text in TEXTS.items()}


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def pins() -> dict[str, dict[str, Any]]:
    return {
        name: {
            "rows": text.count("\n"),
            "archive": digest(pack(text.encode())),
            "text": digest(text.encode()),
        }
        for name, text in TEXTS.items()
    }


def settings(*sources: str, files: dict[str, dict[str, Any]] | None = None) -> DataSettings:
    return DataSettings.model_validate(
        {
            "source_language": "de",
            "target_language": "en",
            "train": "train",
            "validation": "val",
            "tests": ("test",),
            "sources": sources,
            "files": files or pins(),
        }
    )


@dataclass
class Site:
    """A web server: `files` are served; a path in `failures` first fails so often."""

    address: str
    files: dict[str, bytes]
    failures: dict[str, list[int]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)


def serve(server: ThreadingHTTPServer) -> None:
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()


def handler(site: Site) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.asked.append(self.path)
            failures = site.failures.get(self.path, [])
            status = failures.pop(0) if failures else 200 if self.path in site.files else 404
            body = site.files.get(self.path, b"") if status == 200 else b"<html>no</html>"
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site("", dict(ARCHIVES))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(site))
    site.address = f"http://127.0.0.1:{server.server_port}"
    serve(server)
    yield site
    server.shutdown()
    server.server_close()


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    return tmp_path / "data" / "raw"


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    folder = tmp_path / "data" / "archive"
    folder.mkdir(parents=True)
    return folder


def place(folder: Path, names: dict[str, bytes]) -> None:
    folder.mkdir(exist_ok=True)
    for name, data in names.items():
        (folder / name.removeprefix("/")).write_bytes(data)


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_bytes().decode() for path in folder.iterdir()}


def left_nothing(raw: Path) -> bool:
    """Neither a result nor a half of one."""
    return [path.name for path in raw.parent.iterdir() if path.name != "archive"] == []


# Where files come from


def test_files_come_from_the_web(site: Site, raw: Path, archive: Path) -> None:
    download_corpus(settings(site.address + "/"), raw, archive, None, QUICK)
    assert contents(raw) == TEXTS
    assert len(site.asked) == 6


def test_a_mirror_folder_is_asked_before_anything_else(
    site: Site, raw: Path, archive: Path, tmp_path: Path
) -> None:
    place(tmp_path / "mirror", ARCHIVES)
    place(archive, {"train.de.gz": b"a bad copy that nobody looks at"})
    download_corpus(settings(site.address), raw, archive, str(tmp_path / "mirror"), QUICK)
    assert contents(raw) == TEXTS
    assert site.asked == []


def test_a_mirror_may_be_an_address(site: Site, raw: Path, archive: Path) -> None:
    download_corpus(settings(), raw, archive, site.address, QUICK)
    assert contents(raw) == TEXTS


def test_files_placed_by_hand_need_no_host(raw: Path, archive: Path) -> None:
    plain = {"train.de": TEXTS["train.de"].encode(), "test.en": TEXTS["test.en"].encode()}
    packed = {p: a for p, a in ARCHIVES.items() if p[1:-3] not in plain}
    place(archive, plain | packed)
    download_corpus(settings("http://127.0.0.1:9"), raw, archive, None, QUICK)
    assert contents(raw) == TEXTS


def test_a_source_may_be_a_folder(raw: Path, archive: Path, tmp_path: Path) -> None:
    place(tmp_path / "copy", ARCHIVES)
    download_corpus(settings(str(tmp_path / "copy")), raw, archive, None, QUICK)
    assert contents(raw) == TEXTS


def test_a_source_that_lacks_a_file_is_passed_over(
    site: Site, raw: Path, archive: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place(tmp_path / "mirror", {p: a for p, a in ARCHIVES.items() if "train.en" not in p})
    with caplog.at_level(logging.WARNING):
        download_corpus(settings(site.address), raw, archive, str(tmp_path / "mirror"), QUICK)
    assert contents(raw) == TEXTS
    assert site.asked == ["/train.en.gz"]
    assert [r.getMessage() for r in caplog.records] == [
        f"passed over {tmp_path}/mirror/train.en.gz: no such file"
    ]


def test_the_second_host_steps_in_for_another_file_under_the_name(
    site: Site, raw: Path, archive: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    stale = pack(b"ein hund\nein mann\nzwei frauen\n")
    place(tmp_path / "stale", ARCHIVES | {"train.de.gz": stale})
    download_corpus(settings(str(tmp_path / "stale"), site.address), raw, archive, None, QUICK)
    assert contents(raw) == TEXTS
    assert digest(stale) in caplog.text


# All or nothing


def test_what_was_there_is_replaced(site: Site, raw: Path, archive: Path) -> None:
    raw.mkdir()
    (raw / "train.fr").write_text("un chien\n")
    download_corpus(settings(site.address), raw, archive, None, QUICK)
    assert contents(raw) == TEXTS


def test_what_was_there_stays_after_an_error(site: Site, raw: Path, archive: Path) -> None:
    raw.mkdir()
    (raw / "train.de").write_text("alt\n")
    del site.files["/test.en.gz"]
    with pytest.raises(DataError, match="test.en.gz was not to be had"):
        download_corpus(settings(site.address), raw, archive, None, QUICK)
    assert contents(raw) == {"train.de": "alt\n"}


def test_the_next_run_asks_again(site: Site, raw: Path, archive: Path) -> None:
    good = site.files["/val.de.gz"]
    site.files["/val.de.gz"] = b""
    with pytest.raises(DataError, match="0 bytes"):
        download_corpus(settings(site.address), raw, archive, None, QUICK)
    assert left_nothing(raw)
    site.files["/val.de.gz"] = good
    download_corpus(settings(site.address), raw, archive, None, QUICK)
    assert contents(raw) == TEXTS


# Payloads that are not the data

GOOD = ARCHIVES["/train.de.gz"]
PAYLOADS = {
    "empty": (b"", "0 bytes"),
    "html": (b"\xef\xbb\xbf\n<!DOCTYPE html><html>Sign in</html>", "HTML, not gzip"),
    "plain": (TEXTS["train.de"].encode(), "plain text, not gzip"),
    "binary": (b"PK\x03\x04\xff\xfe", "not gzip"),
    "cut": (GOOD[:-12], "cut short"),
    "damaged": (GOOD[:20] + b"\0\0\0" + GOOD[23:], "a damaged gzip archive"),
    "double": (pack(GOOD), "doubly compressed"),
    "stale": (pack(b"ein hund\nein mann\nzwei frauen\n"), "not the pinned archive"),
}


@pytest.mark.parametrize("kind", PAYLOADS)
def test_a_wrong_payload_is_refused_by_its_kind(
    kind: str, site: Site, raw: Path, archive: Path
) -> None:
    payload, named = PAYLOADS[kind]
    site.files["/train.de.gz"] = payload
    with pytest.raises(DataError) as error:
        download_corpus(settings(site.address), raw, archive, None, QUICK)
    message = str(error.value)
    assert f"{site.address}/train.de.gz (fetched just now): {named}" in message
    assert f"expected {digest(GOOD)}, found {digest(payload)}" in message
    assert left_nothing(raw)
    assert site.asked == ["/train.de.gz"]  # another try would fetch the same


@pytest.mark.parametrize("kind", [k for k in PAYLOADS if k != "stale"])
def test_a_wrong_payload_is_refused_though_its_hash_be_pinned(
    kind: str, site: Site, raw: Path, archive: Path
) -> None:
    payload, named = PAYLOADS[kind]
    site.files["/train.de.gz"] = payload
    files = pins()
    files["train.de"]["archive"] = digest(payload)
    with pytest.raises(DataError, match=named):
        download_corpus(settings(site.address, files=files), raw, archive, None, QUICK)


def test_the_text_is_pinned_too(site: Site, raw: Path, archive: Path) -> None:
    files = pins()
    files["train.de"]["text"] = "0" * 64
    with pytest.raises(DataError, match=f"SHA-256 of the text: expected {'0' * 64}, found"):
        download_corpus(settings(site.address, files=files), raw, archive, None, QUICK)


def test_rows_are_counted(site: Site, raw: Path, archive: Path) -> None:
    files = pins()
    files["train.de"]["rows"] = 29000
    with pytest.raises(DataError, match="expected 29000 rows, found 3"):
        download_corpus(settings(site.address, files=files), raw, archive, None, QUICK)


def test_both_sides_must_be_equally_long(raw: Path, archive: Path) -> None:
    longer = b"ein hund\nein mann\nzwei frauen\nein kind"  # no last line end
    place(archive, ARCHIVES | {"train.de.gz": pack(longer)})
    files = pins()
    files["train.de"] = {"rows": 4, "archive": digest(pack(longer)), "text": digest(longer)}
    with pytest.raises(DataError, match=r"train: 4 de and 3 en rows \(4 v 3\)"):
        download_corpus(settings(files=files), raw, archive, None, QUICK)
    assert left_nothing(raw)


# Copies placed by hand


@pytest.mark.parametrize("name", ["train.de.gz", "train.de"])
def test_a_bad_placed_copy_is_an_error(name: str, site: Site, raw: Path, archive: Path) -> None:
    text = b"ein hund\nein mann\nzwei frauen\n"
    bad = pack(text) if name.endswith(".gz") else text
    place(archive, {name: bad})
    pin = pins()["train.de"]["archive" if name.endswith(".gz") else "text"]
    for _ in range(2):  # no copy is kept that would change a second run
        with pytest.raises(DataError) as error:
            download_corpus(settings(site.address), raw, archive, None, QUICK)
        message = str(error.value)
        assert f"{archive}/{name} (placed by hand): not the pinned" in message
        assert f"expected {pin}, found {digest(bad)}" in message
        assert "put the right file there, or remove it" in message
    assert site.asked == []
    assert (archive / name).read_bytes() == bad


def test_a_placed_folder_can_not_be_read(site: Site, raw: Path, archive: Path) -> None:
    (archive / "train.de.gz").mkdir()
    with pytest.raises(DataError, match=r"train.de.gz: can't be read \(Is a directory\); put"):
        download_corpus(settings(site.address), raw, archive, None, QUICK)


# Hosts that don't answer


def test_a_dead_host_ends_in_a_way_out(raw: Path, archive: Path) -> None:
    with pytest.raises(DataError) as error:
        download_corpus(settings("http://127.0.0.1:9/x"), raw, archive, None, QUICK)
    message = str(error.value)
    assert "train.de.gz was not to be had" in message
    assert "http://127.0.0.1:9/x/train.de.gz: no answer after 3 tries (ConnectError" in message
    assert f"Put train.de.gz (SHA-256 {digest(GOOD)})" in message
    assert f"into {archive}, or set MULTI30K_MIRROR" in message
    assert "Wanted: train.de, train.en, val.de, val.en, test.de, test.en" in message
    assert left_nothing(raw)


def test_a_dead_proxy_is_no_answer(
    raw: Path, archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    with pytest.raises(DataError, match="no answer after 3 tries"):
        download_corpus(settings("https://example.invalid"), raw, archive, None, QUICK)


def test_a_dead_host_is_asked_for_one_file_alone(
    site: Site, raw: Path, archive: Path, caplog: pytest.LogCaptureFixture
) -> None:
    download_corpus(settings("http://127.0.0.1:9", site.address), raw, archive, None, QUICK)
    assert contents(raw) == TEXTS
    assert [r.levelname for r in caplog.records if r.name == "nmt.download"] == ["WARNING"]


def test_a_host_that_takes_the_call_and_says_nothing(raw: Path, archive: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        start = time.monotonic()
        with pytest.raises(DataError, match=r"no answer after 3 tries \(ReadTimeout"):
            download_corpus(settings(address), raw, archive, None, QUICK)
        assert time.monotonic() - start < 3


def test_three_silent_hosts_take_less_than_a_minute() -> None:
    """Mirror, repository, second host, by the limits that hold where none are given."""
    limits = USUAL_LIMITS
    spent = 0.0
    for number in range(limits.tries):
        if number and spent >= limits.last_try:
            break
        spent += limits.pause * 2 ** (number - 1) if number else 0.0
        spent += max(limits.connect, limits.silence)
    assert 3 * spent < 60


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_passing_fault_is_tried_again(status: int, site: Site, raw: Path, archive: Path) -> None:
    site.failures["/train.de.gz"] = [status, status]
    download_corpus(settings(site.address), raw, archive, None, QUICK)
    assert contents(raw) == TEXTS
    assert site.asked.count("/train.de.gz") == 3


@pytest.mark.parametrize(
    ("status", "times", "said"),
    [(404, 1, "HTTP status 404 after 1 try"), (503, 3, "HTTP status 503 after 3 tries")],
)
def test_a_lasting_fault_is_named(
    status: int, times: int, said: str, site: Site, raw: Path, archive: Path
) -> None:
    site.failures["/train.de.gz"] = [status] * 9
    with pytest.raises(DataError, match=said):
        download_corpus(settings(site.address), raw, archive, None, QUICK)
    assert site.asked == ["/train.de.gz"] * times


def test_an_endless_file_is_given_up(site: Site, raw: Path, archive: Path) -> None:
    site.files["/train.de.gz"] = b"x" * 1000
    with pytest.raises(DataError, match="more than 100 bytes; not the file"):
        download_corpus(settings(site.address), raw, archive, None, Limits(size=100))


def test_an_address_that_is_none_is_named(raw: Path, archive: Path) -> None:
    with pytest.raises(DataError, match="http://127.0.0.1:port/train.de.gz: InvalidURL"):
        download_corpus(settings("http://127.0.0.1:port"), raw, archive, None, QUICK)


def self_signed(folder: Path) -> tuple[Path, Path]:
    x509 = pytest.importorskip("cryptography.x509")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "elsewhere.example")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), 1, now, now + timedelta(days=1))
    ).sign(key, hashes.SHA256())
    (folder / "cert.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return folder / "cert.pem", folder / "key.pem"


def test_a_wrong_certificate_is_refused(raw: Path, archive: Path, tmp_path: Path) -> None:
    site = Site("", dict(ARCHIVES))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(site))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*self_signed(tmp_path))
    server.socket = context.wrap_socket(server.socket, server_side=True)
    serve(server)
    address = f"https://127.0.0.1:{server.server_port}"
    with pytest.raises(DataError, match="certificate is refused, and is never passed over"):
        download_corpus(settings(address), raw, archive, None, QUICK)
    server.shutdown()
    server.server_close()
    assert site.asked == []
    assert left_nothing(raw)


# The stage script


def test_the_script_takes_the_mirror_from_the_environment(tmp_path: Path) -> None:
    place(tmp_path / "mirror", ARCHIVES)
    params = {"data": settings().model_dump()}
    (tmp_path / "params.yaml").write_text(json.dumps(params))  # JSON is YAML

    def run(mirror: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", "pipeline.download"],
            cwd=tmp_path,
            env={"PYTHONPATH": str(PROJECT), "MULTI30K_MIRROR": mirror},
            capture_output=True,
            text=True,
            check=False,
        )

    good = run("mirror")
    assert (good.returncode, good.stdout) == (0, "")
    assert contents(tmp_path / "data" / "raw") == TEXTS
    bad = run("")
    assert bad.returncode == 1
    assert bad.stderr.startswith("error: train.de.gz was not to be had:")
    assert "Traceback" not in bad.stderr
