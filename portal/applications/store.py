"""The store of documents: a folder that all nodes share, or a bucket of an S3 service."""

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from secrets import token_hex

from portal.backend import backend
from portal.core.private_files import owner_only
from portal.core.settings import Bucket

CONNECT, READ = 3, 10  # seconds
GONE = {"NoSuchKey", "404"}


class StoreFailed(OSError):
    """The store did not answer, or refused the call."""


class Folder:
    """Contents under keys such as `7/<digest>`, outside of anything that a web server shows.

    Calls raise OSError.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def put(self, key: str, content: bytes) -> None:
        """Store a content in whole or not at all; storing it again changes nothing."""
        path = self.root / key
        self.root.parent.mkdir(parents=True, exist_ok=True)
        for folder in (self.root, path.parent):  # `mkdir` makes missing parents open to all
            folder.mkdir(mode=0o700, exist_ok=True)
        begun = path.with_name(f"{path.name}.{token_hex(4)}")
        try:
            with open(begun, "xb", opener=owner_only) as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            begun.replace(path)
        finally:
            begun.unlink(missing_ok=True)

    def read(self, key: str) -> bytes:
        return (self.root / key).read_bytes()

    def delete(self, key: str) -> None:
        """Delete a content, if it is there."""
        (self.root / key).unlink(missing_ok=True)

    def older_than(self, age: timedelta) -> Iterator[str]:
        """Yield the keys of old files, also of those that were not stored in whole."""
        before = time.time() - age.total_seconds()
        for path in self.root.glob("*/*"):
            with suppress(FileNotFoundError):  # deleted meanwhile
                if path.stat().st_mtime < before:
                    yield str(path.relative_to(self.root))

    @contextmanager
    def file(self, key: str) -> Iterator[Path]:
        """Yield the file itself."""
        yield self.root / key


class S3:
    """A bucket; the credentials come from where boto3 looks, such as the environment."""

    def __init__(self, bucket: Bucket) -> None:
        # They take 20 MB, and few portals need them.
        import boto3  # noqa: PLC0415
        from botocore.config import Config  # noqa: PLC0415

        self.bucket, self.prefix = bucket.name, bucket.prefix
        times = Config(
            connect_timeout=CONNECT, read_timeout=READ, retries={"total_max_attempts": 2}
        )
        self.client = boto3.client("s3", endpoint_url=bucket.url or None, config=times)

    def put(self, key: str, content: bytes) -> None:
        with _failures():
            self.client.put_object(Body=content, Bucket=self.bucket, Key=self.prefix + key)

    def read(self, key: str) -> bytes:
        with _failures():
            found = self.client.get_object(Bucket=self.bucket, Key=self.prefix + key)
            content: bytes = found["Body"].read()
        return content

    def delete(self, key: str) -> None:
        with _failures():
            self.client.delete_object(Bucket=self.bucket, Key=self.prefix + key)

    def older_than(self, age: timedelta) -> Iterator[str]:
        """Yield the keys of old objects."""
        before = datetime.now(UTC) - age
        with _failures():
            pages = self.client.get_paginator("list_objects_v2")
            for page in pages.paginate(Bucket=self.bucket, Prefix=self.prefix):
                for each in page.get("Contents", ()):
                    if each["LastModified"] < before:
                        yield each["Key"].removeprefix(self.prefix)

    @contextmanager
    def file(self, key: str) -> Iterator[Path]:
        """Yield a copy that only this user may read, and that is deleted afterwards."""
        with tempfile.NamedTemporaryFile(prefix="fairseat-") as copy:
            copy.write(self.read(key))
            copy.flush()
            yield Path(copy.name)


@contextmanager
def _failures() -> Iterator[None]:
    """Raise StoreFailed, or FileNotFoundError, for what boto3 raises."""
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415

    try:
        yield
    except ClientError as error:
        if error.response.get("Error", {}).get("Code") in GONE:
            raise FileNotFoundError(str(error)) from error
        raise StoreFailed(str(error)) from error
    except BotoCoreError as error:
        raise StoreFailed(str(error)) from error


def store() -> "Folder | S3":
    settings = backend().settings
    return _bucket(settings.bucket) if settings.bucket else Folder(settings.documents)


@cache
def _bucket(bucket: Bucket) -> S3:
    return S3(bucket)
