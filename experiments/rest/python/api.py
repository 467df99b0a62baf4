# SPDX-License-Identifier: Apache-2.0
"""The server's responses, as a Starlette application."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from anyio import to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

_BODY_MAX = 65_536
_NUMBER = re.compile(r"[0-9]{1,6}")
_NAME = re.compile(r"[A-Za-z0-9 .'\"-]{1,32}")

_GREETING = b'{"greeting":"Hello World!"}'


def api(files: str, threads: int) -> Starlette:
    """Creates the application, which also serves the files of a directory. Handlers run on the event loop; file
    operations run in at most `threads` threads."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        to_thread.current_default_thread_limiter().total_tokens = threads
        yield

    app = Starlette(lifespan=lifespan, routes=[
        Route("/api", greet),
        Route("/api/built", build),
        Route("/api/hello/{name}", hello),
        Route("/api/echo", echo, methods=["POST"], max_body_size=_BODY_MAX),
        Mount("/files", StaticFiles(directory=files)),
    ])
    app.router.redirect_slashes = False  # /api/ is not found, instead of a redirect to /api
    return app


async def greet(_: Request) -> Response:
    return Response(_GREETING, media_type="application/json")


async def build(request: Request) -> Response:
    number = request.query_params.get("number", "")
    if not _NUMBER.fullmatch(number):
        raise HTTPException(400)
    return JSONResponse({"greeting": "Hello World!", "number": int(number)})


async def hello(request: Request) -> Response:
    name = request.path_params["name"]
    if not _NAME.fullmatch(name):
        raise HTTPException(400)
    return JSONResponse({"greeting": f"Hello {name}!"})


async def echo(request: Request) -> Response:
    try:
        return JSONResponse(await request.json())
    except (ValueError, RecursionError):  # from parsing the document, or from writing a parsed NaN
        raise HTTPException(400) from None
