"""A client of a2a-sdk as a program that is told what to do: a line of JSON in, a line of JSON out.

Answers `{"value": ...}`, or `{"error": {"code", "name", "message"}}` of what the client raised. Tasks, messages and events are told in
the words of 0.3, whichever the wire, so that both majors can be asked the same.
"""
import asyncio
import json
import sys


steps = {}


async def do(message):
    return await steps[message["step"]](message)


async def read(events, message):
    """All events, or those until one says the text `until`; what is to be done `after` the first is done then."""
    found = []
    async for event in events:
        found.append(event)
        if "after" in message and len(found) == 1:
            await do(message["after"])
        if "until" in message and any(part.get("text") == message["until"] for part in event["parts"]):
            break
    await events.aclose()
    return found


async def serve(functions, explain):
    """`functions` are the steps that can be asked; `explain` gives the code of an error."""
    steps.update(functions)

    async def answer(message):
        try:
            return {"value": await do(message)}
        except Exception as error:
            return {"error": {"code": explain(error), "name": type(error).__name__, "message": str(error)}}

    while line := await asyncio.to_thread(sys.stdin.readline):
        print(json.dumps(await answer(json.loads(line))), flush=True)
