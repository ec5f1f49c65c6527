"""What a2a-sdk 0.3 makes of our agent's card: protolabs_card.py URL."""
import asyncio
import sys

import httpx
from a2a.client import A2ACardResolver

from check import check, done, equal

URL = sys.argv[1]


async def main():
    async with check("0.3: the SDK reads the schemes from the same card"):
        async with httpx.AsyncClient(trust_env=False, timeout=20) as http:
            card = await A2ACardResolver(http, URL).get_agent_card()
        schemes = {name: scheme.root for name, scheme in card.security_schemes.items()}
        equal(sorted((name, type(scheme).__name__) for name, scheme in schemes.items()), [
            ("apiKey", "APIKeySecurityScheme"),
            ("bearer", "HTTPAuthSecurityScheme"),
        ])
        equal((schemes["apiKey"].in_, schemes["apiKey"].name), ("header", "X-API-Key"))
        equal(card.security, [{"apiKey": []}, {"bearer": []}])
    done()


asyncio.run(main())
