"""A client of a2a-sdk as a program that is told what to do: a line of JSON in, a line of JSON out.

Answers `{"value": ...}`, or `{"error": {"code", "name", "message"}}` of what the client raised. Tasks, messages and events are told in
the words of 0.3, whichever the wire, so that both majors can be asked the same.
"""
import asyncio
import json
import sys


async def read(events, message, say):
    """All events, or those until one says the text `until`; `say` is sent after the first."""
    found = []
    async for event in events:
        found.append(event)
        if "say" in message and len(found) == 1:
            await say(message["say"])
        if "until" in message and any(part.get("text") == message["until"] for part in event["parts"]):
            break
    await events.aclose()
    return found


async def serve(steps, explain):
    """`steps` are what can be asked; `explain` gives the code of an error."""

    async def answer(message):
        try:
            return {"value": await steps[message["step"]](message)}
        except Exception as error:
            return {"error": {"code": explain(error), "name": type(error).__name__, "message": str(error)}}

    while line := await asyncio.to_thread(sys.stdin.readline):
        print(json.dumps(await answer(json.loads(line))), flush=True)
