"""The reference's transfer helpers as a program that is told what to do: a line of JSON in, a line of JSON out.

Answers `{"value": ...}`, or `{"error": {"code", "status", "retryable"}}` of a `TransferError`, or `{"crash": text}`.
"""
import asyncio
import base64
import json
import sys
from contextlib import nullcontext
from pathlib import Path

from agentenv_protocol import client, transfers

uploaders = {}


def parsed(model, value):
    return model.model_validate_json(json.dumps(value))


def source(message):
    return Path(message["file"]) if "file" in message else base64.b64decode(message["bytes"])


async def download(message):
    await transfers.download(parsed(transfers.ReadObject, message["object"]), Path(message["target"]))


async def upload(message):
    done = await transfers.upload(parsed(transfers.WriteObject, message["object"]), source(message))
    return done.model_dump(mode="json")


def uploader(message):
    """One for each namespace, named by the caller, so that it counts."""
    name = message["uploader"]
    if name not in uploaders:
        uploaders[name] = transfers.NamespaceUploader(parsed(transfers.WriteNamespaceGrant, message["grant"]))
    return uploaders[name]


async def namespace(message):
    done = await uploader(message).upload(message["path"], source(message))
    return done.model_dump(mode="json")


async def namespace_many(message):
    """Uploads the same bytes under many paths: what a benchmark asks for."""
    content = source(message)
    for number in range(message["count"]):
        await uploader(message).upload(f"object-{number}", content)


async def export(message):
    """`data/get` with a grant: what each part is, and where its object lies."""
    import agentenv_protocol as ap
    grant = parsed(transfers.WriteNamespaceGrant, message["grant"])
    parts = (await client.get_data(message["url"], write_namespace=grant)).parts
    return [{"path": ap.uploaded_object_path(part), "name": part.file.name, "mimeType": part.file.mimeType}
            for part in parts]


steps = {step.__name__: step for step in (download, upload, namespace, namespace_many, export)}


async def answer(message):
    serving = message.get("serving")
    try:
        with nullcontext() if serving is None else transfers.serving_on(serving):
            return {"value": await steps[message["step"]](message)}
    except transfers.TransferError as error:
        return {"error": {"code": error.code, "status": error.status_code, "retryable": error.retryable}}
    except Exception as error:
        return {"crash": f"{type(error).__name__}: {error}"}


async def main():
    while line := await asyncio.to_thread(sys.stdin.readline):
        print(json.dumps(await answer(json.loads(line))), flush=True)


asyncio.run(main())
